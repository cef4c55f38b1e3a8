// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: IGMP and MLD snooping. Idle without the configuration. Workers. */
#include "fwd/lan/lan_steps.h"

#include "fwd/worker.h"
#include "wire/frame/mcast.h"

static void report_groups(struct worker *w, struct mcast_message *m, struct fwd_report *r)
{
	while (mcast_next(m, &r->multicast.query.group, &r->multicast.left))
		if (!mcast_is_link_local(&r->multicast.query.group))
			report_multicast(w, r);
}

/* Only the site of a host announces its groups. */
static void report(struct worker *w, const struct eth_view *v, struct mcast_message *m, bool on_lan)
{
	struct fwd_report r = { .type = FWD_MULTICAST,
				.multicast = { .vlan = v->vlan,
					       .src = v->src,
					       .family = m->family,
					       .kind = m->kind,
					       .query = { .source = m->source,
							  .group = m->group,
							  .keeps_timer = m->keeps_timer,
							  .on_lan = on_lan,
							  .response_ms = m->response_ms,
							  .lifetime_ms = m->lifetime_ms } } };

	if (m->kind == MCAST_REPORT && on_lan) {
		/* Reports of many hosts for a group are a single report. */
		r.multicast.query.source = (struct ip_addr){ 0 };
		report_groups(w, m, &r);
	} else if (m->kind != MCAST_REPORT) {
		report_multicast(w, &r);
	}
}

bool snoop(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
	   uint16_t slot)
{
	const struct listeners *l = w->snap->listeners;
	struct mcast_message m;
	bool withheld;

	if (!l || !mac_is_multicast(v->dst) || mcast_parse(data, len, v, &m) < 0)
		return false;
	/* Hosts of this LAN would not report their own interest (RFC 4541 section 2.1.1). */
	withheld = slot != SLOT_SELF && m.kind == MCAST_REPORT && m.suppresses &&
		   listeners_withholds(l, v->vlan, m.family);
	report(w, v, &m, slot == SLOT_SELF);
	if (withheld)
		drop(w, DROP_report_withheld);
	return withheld;
}

void snoop_closed(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		  uint16_t slot)
{
	struct mcast_message m;

	if (w->snap->listeners && vlan_set_has(&w->snap->lan->served, v->vlan) &&
	    mac_is_multicast(v->dst) && mcast_parse(data, len, v, &m) == 0)
		report(w, v, &m, slot == SLOT_SELF);
}
