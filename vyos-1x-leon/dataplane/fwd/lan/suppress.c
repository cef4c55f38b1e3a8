// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: ARP and ND suppression, see lan_steps.h. Workers. Never answered are:
 *
 * - Duplicate address probes (RFC 5227, RFC 4862 section 5.4). The owner may have moved, and the
 *   prober would give up the address.
 * - Announcements.
 * - Unicast requests, which check the host and mark the host as doubtful.
 * - Requests of senders known elsewhere with another MAC or at another location.
 */
#include "fwd/lan/lan_steps.h"

#include "base/defs.h"
#include "fwd/worker.h"
#include "io/tap.h"
#include "wire/frame/ip.h"

#define REPLY_MAX 128

static bool is_nd(const uint8_t *data, const struct eth_view *v)
{
	uint8_t type;

	if (likely(v->ip_proto != PROTO_ICMPV6) || v->ip_version != 6 || !v->l4_offset)
		return false;
	type = data[v->l4_offset];
	return type == ND_SOLICIT || type == ND_ADVERT;
}

static bool is_set(const struct ip_addr *ip)
{
	uint8_t any = 0;

	for (unsigned i = 0; i < sizeof(ip->b); i++)
		any |= ip->b[i];
	return any;
}

/* Only information about the sender is learned. A statement about another MAC is in doubt, and so
 * is the entry of its address. */
static void believe(struct worker *w, const struct eth_view *v, const struct ip_addr *ip,
		    struct mac mac, uint16_t slot, enum neigh_role role)
{
	if (mac_to_u64(mac) != mac_to_u64(v->src))
		neigh_mark_stale(w->snap->neigh, v->vlan, ip);
	else if (is_set(ip) &&
		 neigh_differs(w->snap->neigh, v->vlan, ip, mac, slot, role, w->now_s))
		report_neigh(w, v->vlan, ip, mac, slot, role);
}

void neighbor_learn(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		    uint16_t slot)
{
	struct arp_view a;
	struct nd_view n;

	if (unlikely(eth_has_two_tags(v)))
		return;
	if (v->ethertype == ETHERTYPE_ARP_) {
		if (arp_parse(data, len, v, &a) == 0)
			believe(w, v, &a.sender_ip, a.sender_mac, slot, NEIGH_ROLE_UNKNOWN);
	} else if (is_nd(data, v) && nd_parse(data, len, v, &n) == 0 && n.has_lladdr) {
		/* Proxies and nodes of an anycast address clear the flag, and several answer (RFC
		 * 4861 sections 7.2.7 and 7.2.8). */
		if (n.type == ND_ADVERT && !n.override)
			return;
		if (n.type == ND_ADVERT)
			believe(w, v, &n.target, n.lladdr, slot,
				n.router ? NEIGH_ROUTER : NEIGH_HOST);
		else
			believe(w, v, &n.source, n.lladdr, slot, NEIGH_ROLE_UNKNOWN);
	}
}

/* Returns true if the neighbor is known, the FDB agrees, and its node is reachable. */
static bool find(struct worker *w, const struct frame *f, const struct ip_addr *ip,
		 struct neigh_hit *hit)
{
	const struct snap *s = w->snap;

	if (!neigh_answer(s->neigh, f->v.vlan, ip, w->now_s, hit))
		return false;
	return hit->slot != SLOT_SELF && hit->slot < s->n_slots && s->node[hit->slot].has_path &&
	       fdb_lookup(s->fdb, f->v.vlan, hit->mac) == hit->slot;
}

/* Returns true if the information about the sender is known everywhere; the request then informs no
 * other host. */
static bool is_settled(struct worker *w, const struct frame *f, const struct ip_addr *ip,
		       struct mac mac)
{
	return mac_to_u64(mac) == mac_to_u64(f->v.src) &&
	       neigh_is_settled(w->snap->neigh, f->v.vlan, ip, mac, SLOT_SELF, w->now_s);
}

/* Returns true if a request for `target` may be answered. mac NULL: the request does not state the
 * MAC of its sender. */
static bool may_answer(struct worker *w, const struct frame *f, const struct ip_addr *sender,
		       const struct mac *mac, const struct ip_addr *target, struct neigh_hit *hit)
{
	if (!mac_is_multicast(f->v.dst)) {
		neigh_mark_stale(w->snap->neigh, f->v.vlan, target);
		return false;
	}
	return mac && is_settled(w, f, sender, *mac) && find(w, f, target, hit);
}

static bool send_answer(struct worker *w, const uint8_t *reply, size_t len, enum counter answered,
			enum drop_reason suppressed)
{
	if (!len || tap_send(w->io.tap, reply, len) < 0)
		return false;
	count(w, answered, 1);
	drop(w, suppressed);
	return true;
}

static bool answer_arp(struct worker *w, const struct frame *f)
{
	uint8_t reply[REPLY_MAX];
	struct arp_view a;
	struct neigh_hit hit;
	size_t len;

	if (arp_parse(f->data, f->len, &f->v, &a) < 0 || a.op != ARP_REQUEST ||
	    !is_set(&a.sender_ip) || ip_equal(&a.sender_ip, &a.target_ip) ||
	    !may_answer(w, f, &a.sender_ip, &a.sender_mac, &a.target_ip, &hit))
		return false;
	len = arp_build_reply(f->data, &f->v, &a, hit.mac, reply, sizeof(reply));
	return send_answer(w, reply, len, CNT_arp_answered, DROP_suppressed_arp);
}

static bool answer_nd(struct worker *w, const struct frame *f)
{
	uint8_t reply[REPLY_MAX];
	struct nd_view n;
	struct neigh_hit hit;
	size_t len;

	if (nd_parse(f->data, f->len, &f->v, &n) < 0 || n.type != ND_SOLICIT ||
	    !is_set(&n.source) ||
	    !may_answer(w, f, &n.source, n.has_lladdr ? &n.lladdr : NULL, &n.target, &hit))
		return false;
	len = nd_build_advert(f->data, &f->v, &n, hit.mac, hit.role == NEIGH_ROUTER, reply,
			      sizeof(reply));
	return send_answer(w, reply, len, CNT_nd_answered, DROP_suppressed_nd);
}

bool neighbor_answer(struct worker *w, const struct frame *f)
{
	if (unlikely(eth_has_two_tags(&f->v)))
		return false;
	if (f->v.ethertype == ETHERTYPE_ARP_)
		return w->snap->suppress_arp && answer_arp(w, f);
	return is_nd(f->data, &f->v) && w->snap->suppress_nd && answer_nd(w, f);
}
