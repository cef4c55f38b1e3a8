// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: MSS clamping, see clamp.h. Workers.
 */
#include "fwd/send/clamp.h"

#include "base/defs.h"
#include "fwd/worker.h"
#include "wire/frame/ip.h"

/* Lower bound: on smaller path MTUs clamping does not help, and LEON splits frames. */
#define MSS_MIN 64

static bool is_syn(const uint8_t *data, size_t len, const struct eth_view *v)
{
	return v->ip_proto == PROTO_TCP && v->l4_offset && !v->ip_fragment &&
	       v->l4_offset + (size_t)TCP_HDR_MIN <= len &&
	       data[v->l4_offset + TCP_FLAGS] & TCP_SYN;
}

/* Largest frame that reaches the node, or all nodes, without splitting. */
static size_t frame_room(const struct snap *s, uint16_t slot)
{
	size_t room = SIZE_MAX;

	if (slot != SLOT_NONE)
		return s->node[slot].has_path ? s->node[slot].room : SIZE_MAX;
	for (uint16_t i = 0; i < s->n_flood; i++)
		room = min_of(room, (size_t)s->node[s->flood[i]].room);
	return room;
}

void clamp(struct worker *w, uint8_t *data, size_t len, const struct eth_view *v, bool partial,
	   uint16_t slot)
{
	size_t room, hdr;

	if (likely(!is_syn(data, len, v)) || !w->snap->mss_clamp)
		return;
	room = frame_room(w->snap, slot);
	/* The MSS excludes IP and TCP options; the sender subtracts them (RFC 6691). */
	hdr = v->l3_offset + (v->ip_version == 4 ? (size_t)V4_HDR_LEN : V6_HDR_LEN) + TCP_HDR_MIN;
	if (room > UINT16_MAX || room < hdr + MSS_MIN)
		return;
	if (tcp_clamp_mss(data, len, v, (uint16_t)(room - hdr), partial))
		count(w, CNT_mss_clamped, 1);
}
