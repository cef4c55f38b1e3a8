// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the snapshot of snap.h: all values that a worker would otherwise compute per frame. The
 * control thread builds it and frees it through base/rcu; workers read it.
 */
#include "state/tables/snap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "crypto/aead.h"
#include "wire/bytes.h"

static_assert(SNAP_SOCKADDR_LEN == sizeof(struct sockaddr_in6), "room for either family");

struct snap *snap_new(uint16_t n_slots)
{
	struct snap *s = x_new(struct snap);
	size_t n = n_slots ? n_slots : 1; /* avoids an array of length 0 */
	uint32_t size = 16;

	while (size < 2 * n)
		size *= 2;
	s->n_slots = n_slots;
	s->id_mask = size - 1;
	s->id_factor = random_u64_nonzero() | 1;
	s->flood = x_calloc(n, sizeof(s->flood[0]));
	s->node = x_calloc_aligned(n, sizeof(s->node[0]));
	s->id_table = x_calloc(size, sizeof(s->id_table[0]));
	for (uint32_t i = 0; i < size; i++)
		s->id_table[i] = SLOT_NONE;
	return s;
}

static void members_free(struct snap_members *m)
{
	if (!m)
		return;
	free(m->to_flood);
	free(m->limited);
	free(m->serves);
	free(m);
}

static struct snap_members *members_of(struct snap *s)
{
	struct snap_members *m = s->members;

	if (m)
		return m;
	m = s->members = x_new(struct snap_members);
	m->n_words = (uint16_t)((s->n_slots + 63) / 64);
	m->to_flood = x_calloc(m->n_words, sizeof(uint64_t));
	m->limited = x_calloc(m->n_words, sizeof(uint64_t));
	m->serves = x_calloc((size_t)m->n_words * VLAN_IDS, sizeof(uint64_t));
	return m;
}

static void enter_same(struct snap_members *m)
{
	struct id_range r;
	unsigned at = 0;

	while (m->same.nodes && vlan_set_next(&m->same.vlans, &at, &r))
		for (uint32_t vlan = r.first; vlan <= r.last; vlan++)
			m->serves[(size_t)vlan * m->n_words + m->same.word] |= m->same.nodes;
	m->same.nodes = 0;
}

/* The words of the VLANs are in as many cache lines, so nodes in succession with the same ranges
 * are entered together. */
void snap_limit_segments(struct snap *s, uint16_t slot, const struct id_range *range, unsigned n)
{
	struct snap_members *m = members_of(s);
	size_t len = n * sizeof(*range);
	bool is_same = m->same.n == n && (!n || !memcmp(m->same.range, range, len));

	if (!is_same || m->same.word != slot / 64)
		enter_same(m);
	if (!is_same) {
		m->same.n = n;
		if (n)
			memcpy(m->same.range, range, len);
		m->same.vlans = (struct vlan_set){ 0 };
		segments_in(s->segments, range, n, &m->same.vlans);
	}
	m->same.word = slot / 64;
	m->same.nodes |= 1ULL << slot % 64;
	m->limited[slot / 64] |= 1ULL << slot % 64;
}

void snap_free(void *p)
{
	struct snap *s = p;

	if (!s)
		return;
	for (uint16_t i = 0; i < s->n_slots; i++) {
		seal_unref(s->node[i].seal_tx);
		seal_unref(s->node[i].seal_rx[0]);
		seal_unref(s->node[i].seal_rx[1]);
		free(s->node[i].same_lan);
		free(s->node[i].second);
	}
	free(s->lan);
	members_free(s->members);
	free(s->flood);
	free(s->policy);
	free(s->pair);
	free(s->node);
	free(s->id_table);
	free(s);
}

struct snap_lan *snap_add_lan(struct snap *s)
{
	s->lan = x_new(struct snap_lan);
	vlan_set_add_range(&s->lan->served, 0, VLAN_IDS - 1);
	return s->lan;
}

void snap_add_same_lan(struct snap *s, uint16_t slot, uint16_t vlan)
{
	struct snap_node *n = &s->node[slot];

	if (!n->same_lan)
		n->same_lan = x_new(struct vlan_set);
	vlan_set_add(n->same_lan, vlan);
}

static void set_hops(struct snap_node *n, const uint16_t *hop, uint8_t n_hops, uint16_t path_mtu)
{
	/* A truncated path would lead elsewhere, so a path that is too long counts as none. */
	n->n_hops = n_hops <= LEON_HOPS_MAX ? n_hops : 0;
	memcpy(n->hop, hop, n->n_hops * sizeof(hop[0]));
	n->path_mtu = path_mtu;
}

void snap_set_path(struct snap *s, uint16_t slot, const uint16_t *hop, uint8_t n_hops,
		   uint16_t path_mtu)
{
	set_hops(&s->node[slot], hop, n_hops, path_mtu);
}

void snap_set_failing(struct snap *s, uint16_t slot, uint16_t path_mtu)
{
	snap_set_path(s, slot, &slot, 1, path_mtu);
	s->node[slot].failing = true;
}

void snap_set_policy(struct snap *s, const struct policy *p)
{
	s->policy = x_new(struct policy);
	*s->policy = *p;
	s->pair = x_calloc(s->n_slots ? s->n_slots : 1u, sizeof(s->pair[0]));
}

void snap_set_pair(struct snap *s, uint16_t slot, struct snap_route first, struct snap_route second)
{
	set_hops(&s->pair[slot].first, first.hop, first.n_hops, first.mtu);
	set_hops(&s->pair[slot].second, second.hop, second.n_hops, second.mtu);
}

void snap_set_keys(struct snap *s, uint16_t slot, struct seal *tx, struct seal *rx,
		   struct seal *rx_before)
{
	struct snap_node *n = &s->node[slot];

	n->seal_tx = seal_ref(tx);
	n->seal_rx[0] = seal_ref(rx);
	n->seal_rx[1] = seal_ref(rx_before);
	n->link_tx = tx ? seal_tx_link(tx) : 0;
	for (unsigned i = 0; i < 2; i++) {
		if (!n->seal_rx[i])
			continue;
		n->link_rx[i] = seal_rx_link(n->seal_rx[i]);
		n->clear_rx |= seal_cipher(n->seal_rx[i]) == SEAL_NONE;
	}
}

/* A sealed datagram on a direct path needs no link value: its seal authenticates the sender. */
static uint8_t data_flags(bool secret, bool sealed, unsigned n_hops)
{
	if (!secret)
		return 0;
	if (!sealed)
		return LEON_F_LINK_VALUE;
	return n_hops > 1 ? LEON_F_SEALED | LEON_F_LINK_VALUE : LEON_F_SEALED;
}

size_t snap_overhead(bool secret, bool sealed, unsigned n_hops)
{
	uint8_t flags = data_flags(secret, sealed, n_hops);

	return (flags & LEON_F_SEALED ? SEAL_OVERHEAD : 0u) +
	       (flags & LEON_F_LINK_VALUE ? LEON_LINK_LEN : 0u);
}

static uint8_t sockaddr_of(const struct endpoint *ep, uint8_t out[SNAP_SOCKADDR_LEN])
{
	struct sockaddr_storage ss = { 0 };
	unsigned len;

	if (ep->ip.family == 0)
		return 0;
	len = endpoint_to_sockaddr(ep, &ss);
	memcpy(out, &ss, SNAP_SOCKADDR_LEN);
	return (uint8_t)len;
}

void snap_set_second(struct snap *s, uint16_t slot, const struct endpoint *ep, uint8_t line)
{
	struct snap_second *second = x_new(struct snap_second);

	second->ep = *ep;
	second->line = line;
	second->sa_len = sockaddr_of(ep, second->sa);
	free(s->node[slot].second);
	s->node[slot].second = second;
}

/* A path is valid if all its nodes are members and the first hop has an address. */
static bool path_is_valid(const struct snap *s, const struct snap_node *n)
{
	if (n->n_hops == 0 || n->id == NODE_ID_NONE)
		return false;
	for (uint8_t i = 0; i < n->n_hops; i++)
		if (n->hop[i] >= s->n_slots || s->node[n->hop[i]].id == NODE_ID_NONE)
			return false;
	return s->node[n->hop[0]].sa_len > 0;
}

/* Sets the flags that the security policy requires for data on the path. The header has constant
 * flags too. */
static void set_protection(const struct snap *s, struct snap_node *n)
{
	bool sealed = n->seal_tx && seal_cipher(n->seal_tx) != SEAL_NONE;
	uint64_t link = s->node[n->first].link_tx;
	size_t mtu = n->path_mtu ? n->path_mtu : SNAP_MTU_UNKNOWN;
	size_t around = n->hdr_len + snap_overhead(s->secret, sealed, n->n_hops);

	n->flags = data_flags(s->secret, sealed, n->n_hops);
	n->no_key = s->secret && (!n->seal_tx || ((n->flags & LEON_F_LINK_VALUE) && !link));
	n->room = (uint16_t)(mtu > around ? mtu - around : 0);
	if (n->flags & LEON_F_LINK_VALUE) {
		put_u64(n->hdr + n->hdr_len, link);
		n->hdr_len = (uint8_t)(n->hdr_len + LEON_LINK_LEN);
	}
}

static void set_header(struct snap *s, struct snap_node *n)
{
	struct leon_hdr h = {
		.kind = LEON_FRAME,
		.n_hops = n->n_hops,
		.vni = s->vni,
		.source = s->self,
	};

	n->has_path = path_is_valid(s, n);
	if (!n->has_path)
		return;
	for (uint8_t i = 0; i < n->n_hops; i++)
		h.hop[i] = s->node[n->hop[i]].id;
	n->first = n->hop[0];
	n->hdr_len = (uint8_t)leon_encode(&h, n->hdr);
	set_protection(s, n);
}

/* Both paths lead to the same node, so they use the same keys. */
static void set_pair_headers(struct snap *s, uint16_t slot)
{
	struct snap_node *const way[] = { &s->pair[slot].first, &s->pair[slot].second };

	for (unsigned i = 0; i < array_size(way); i++) {
		way[i]->id = s->node[slot].id;
		way[i]->seal_tx = s->node[slot].seal_tx;
		set_header(s, way[i]);
	}
}

static uint32_t id_place(const struct snap *s, node_id_t id)
{
	/* Multiplicative universal hashing; sufficient because the factor is secret. */
	return (uint32_t)(id * s->id_factor >> 32) & s->id_mask;
}

static void add_id(struct snap *s, uint16_t slot)
{
	uint32_t i = id_place(s, s->node[slot].id);

	while (s->id_table[i] != SLOT_NONE)
		i = (i + 1) & s->id_mask;
	s->id_table[i] = slot;
}

static void add_to_flood(struct snap *s, uint16_t slot)
{
	s->flood[s->n_flood++] = slot;
	if (s->members)
		s->members->to_flood[slot / 64] |= 1ULL << slot % 64;
}

void snap_finish(struct snap *s)
{
	if (s->members)
		enter_same(s->members);
	for (uint16_t i = 0; i < s->n_slots; i++) {
		s->node[i].sa_len = sockaddr_of(&s->node[i].ep, s->node[i].sa);
		if (s->node[i].id != NODE_ID_NONE)
			add_id(s, i);
	}
	s->n_flood = 0;
	for (uint16_t i = 0; i < s->n_slots; i++) {
		set_header(s, &s->node[i]);
		if (s->pair)
			set_pair_headers(s, i);
		s->any_sealed |= s->node[i].has_path && (s->node[i].flags & LEON_F_SEALED);
		if (s->node[i].has_path && i != SLOT_SELF)
			add_to_flood(s, i);
		/* The host may be behind another node by now, so its frames are flooded. */
		s->node[i].has_path &= !s->node[i].failing;
	}
}

uint16_t snap_find(const struct snap *s, node_id_t id)
{
	uint32_t i = id_place(s, id);

	/* The table is at most half full, so an empty slot ends every search. */
	while (s->id_table[i] != SLOT_NONE) {
		if (s->node[s->id_table[i]].id == id)
			return s->id_table[i];
		i = (i + 1) & s->id_mask;
	}
	return SLOT_NONE;
}
