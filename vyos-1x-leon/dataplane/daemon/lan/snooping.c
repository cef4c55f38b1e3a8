// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IGMP and MLD snooping, see local_lan.h. Workers report messages, state/tables/groups.h remembers
 * listeners, and the overlay announces them. The announcement is built at most once for each turn
 * of the loop. Control thread.
 */
#include "daemon/lan/local_lan.h"

#include "base/defs.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "wire/frame/eth.h"

struct snooping {
	struct groups *groups; /* NULL: off */
	struct timer *soon;
	uint64_t n_queries; /* sent */
	uint16_t turn;	    /* the VLAN that query() looks at first */
	uint64_t lost;	    /* reports of workers that found no place, at the last check */
	uint64_t entry[LISTENERS_MAX];
};

/* Routers need the reports of other sites. Without a querier, switches of the LAN need them: they
 * send a group here only after a report or a query from here. */
static bool takes_reports(enum groups_state state)
{
	return state == GROUPS_ROUTER || state == GROUPS_NO_QUERIER;
}

static void set_withholds(struct leond *d, bool off, mono_t now)
{
	const struct groups_domain *g;

	for (uint32_t i = 0; (g = groups_next(d->states->snooping->groups, &i));)
		listeners_set_withholds(d->listeners, g->vlan, g->family,
					!off && !takes_reports(groups_state(g, now)));
}

static void update(void *arg, mono_t now)
{
	struct leond *d = arg;
	struct snooping *s = d->states->snooping;
	unsigned n;

	if (!s->groups)
		return;
	set_withholds(d, false, now);
	n = groups_announced(s->groups, d->vlans->map, now, s->entry, LISTENERS_MAX);
	overlay_set_groups(d->overlay, s->entry, n);
}

static void update_soon(struct leond *d)
{
	timer_set(d->states->snooping->soon, loop_now(d->loop));
}

/* If another node forwards, the LAN also has messages of other sites. The FDB has the senders,
 * because this node receives these frames too. */
static bool is_on_lan(struct leond *d, const struct fwd_report *r)
{
	uint16_t vlan = r->multicast.vlan, slot = fdb_lookup(d->fdb, vlan, r->multicast.src);
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	return r->multicast.query.on_lan &&
	       (guard_vlan_state(d->guard, vlan) != GUARD_BLOCKED || slot == SLOT_SELF || !n ||
		guard_is_on_lan(d->guard, vlan, n->id));
}

void snooping_report(struct leond *d, const struct fwd_report *r)
{
	struct groups_query q = r->multicast.query;
	struct groups *g = d->states->snooping ? d->states->snooping->groups : NULL;
	uint16_t vlan = r->multicast.vlan;
	mono_t now = loop_now(d->loop);

	if (!g)
		return;
	q.on_lan = is_on_lan(d, r);
	if (r->multicast.kind == MCAST_REPORT && !q.on_lan)
		return;
	switch (r->multicast.kind) {
	case MCAST_QUERY:
		groups_query(g, vlan, r->multicast.family, &q, now);
		break;
	case MCAST_REPORT:
		/* A left group ends by the queries that follow, because other hosts may listen. */
		if (r->multicast.left)
			groups_left(g, vlan, &q.group, now);
		else
			groups_join(g, vlan, &q.group, now);
		break;
	case MCAST_ROUTER:
		groups_router(g, vlan, &q.source, q.on_lan, now);
		break;
	}
	update_soon(d);
}

/* The slot of a node is below SLOTS_MAX, which is also the number of sets. */
void snooping_announced(struct leond *d, uint16_t slot, const uint64_t *entry, unsigned n)
{
	struct listener_set *old;

	old = listeners_replace(d->listeners, slot, n ? listener_set_new(entry, n) : NULL);
	if (!old || !d->fwd) {
		listener_set_free(old);
		return;
	}
	fwd_retire(d->fwd, old, listener_set_free);
	/* A member may announce thousands of sets before the reclamation of the next second. */
	fwd_reclaim(d->fwd);
}

void snooping_relearn(struct leond *d, const struct vlan_set *vlans)
{
	if (!d->states->snooping || !d->states->snooping->groups)
		return;
	groups_relearn(d->states->snooping->groups, vlans);
	update_soon(d);
}

void snooping_host_moved(struct leond *d, uint16_t vlan)
{
	struct vlan_set vlans = { 0 };

	vlan_set_add(&vlans, vlan);
	snooping_relearn(d, &vlans);
}

void snooping_query_soon(struct leond *d)
{
	if (d->states->snooping && d->states->snooping->groups)
		groups_query_soon(d->states->snooping->groups);
}

/* --- querier --- */

static void send_query(struct leond *d, uint16_t vlan, uint8_t family, const struct ip_addr *group)
{
	uint8_t frame[MCAST_QUERY_MAX];
	size_t len = mcast_build_query(vlan, eth_source_of(d->self), family, group,
				       group ? MCAST_LAST_MEMBER_MS : MCAST_RESPONSE_MS, frame);

	vlans_send(d, frame, len, &d->states->snooping->n_queries);
}

static void ask_group(void *arg, uint16_t vlan, const struct ip_addr *group)
{
	send_query(arg, vlan, group->family, group);
}

/* One router of a LAN queries. */
static bool is_ours_to_query(const struct leond *d, uint16_t vlan)
{
	const struct vlan_set *served = vlans_served(d->vlans);
	enum guard_state state = guard_vlan_state(d->guard, vlan);

	if (state == GUARD_LISTENING || state == GUARD_BLOCKED)
		return false;
	if (served)
		return vlan_set_has(served, vlan);
	return vlan == 0 || d->guard->vlan[vlan] || fdb_count_in(d->fdb, vlan);
}

/* Queries of a second. All VLANs together take as long as hosts spread their answers over, because
 * thousands of frames at once would stop the control thread. */
#define QUERIES_A_RUN (2 * VLAN_IDS * 1000 / MCAST_RESPONSE_MS)

static void query(struct leond *d, mono_t now)
{
	static const uint8_t families[] = { 4, 6 };
	struct snooping *s = d->states->snooping;
	unsigned n = 0;

	for (unsigned k = 0; k < VLAN_IDS && n < QUERIES_A_RUN; k++) {
		uint16_t vlan = s->turn;

		s->turn = (uint16_t)((vlan + 1) % VLAN_IDS);
		for (size_t i = 0; i < array_size(families); i++) {
			if (!is_ours_to_query(d, vlan) ||
			    !groups_query_due(s->groups, vlan, families[i], now))
				continue;
			send_query(d, vlan, families[i], NULL);
			n++;
		}
	}
	groups_ask(s->groups, now, ask_group, d);
}

/* A lost report may be that of a listener. */
static void check_lost(struct leond *d)
{
	uint64_t counter[N_COUNTERS], drops[N_DROPS];

	fwd_stats(d->fwd, counter, drops);
	if (drops[DROP_event_ring_full] == d->states->snooping->lost)
		return;
	d->states->snooping->lost = drops[DROP_event_ring_full];
	groups_relearn(d->states->snooping->groups, NULL);
}

void snooping_second(struct leond *d, mono_t now)
{
	if (!d->states->snooping->groups)
		return;
	check_lost(d);
	groups_expire(d->states->snooping->groups, now);
	if (d->conf->multicast_querier)
		query(d, now);
	update(d, now);
}

void snooping_apply_conf(struct leond *d)
{
	struct snooping *s = d->states->snooping;

	if (!d->conf->multicast_snooping == !s->groups)
		return;
	if (!s->groups) {
		s->groups = groups_new();
		return;
	}
	set_withholds(d, true, loop_now(d->loop));
	groups_free(s->groups);
	s->groups = NULL;
	overlay_set_groups(d->overlay, NULL, 0);
}

void snooping_start(struct leond *d)
{
	d->states->snooping = x_new(struct snooping);
	d->states->snooping->soon = leond_timer(d, update, d);
	snooping_apply_conf(d);
}

void snooping_stop(struct leond *d)
{
	if (!d->states->snooping)
		return;
	groups_free(d->states->snooping->groups);
	x_free(d->states->snooping);
}

uint64_t snooping_queries(const struct leond *d)
{
	return d->states->snooping ? d->states->snooping->n_queries : 0;
}

const struct groups *snooping_groups(const struct leond *d)
{
	return d->states->snooping ? d->states->snooping->groups : NULL;
}
