// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps: traffic class of datagrams, and MSS clamping. Workers. */
#include "fwd/send/send_steps.h"

#include "base/defs.h"
#include "fwd/worker.h"
#include "wire/frame/ip.h"

/* Mapping of CAKE's diffserv4: the classes of RFC 4594, lower effort of RFC 8622, and CS1, its
 * predecessor. */
enum fwd_tier tier_of_dscp(uint8_t dscp)
{
	switch (dscp) {
	case 1: /* LE */
	case 8: /* CS1 */
		return TIER_BULK;
	case 16: /* CS2 */
	case 18: /* AF2x */
	case 20:
	case 22:
	case 24: /* CS3 */
	case 26: /* AF3x */
	case 28:
	case 30:
	case 34: /* AF4x */
	case 36:
	case 38:
		return TIER_VIDEO;
	case 32: /* CS4 */
	case 40: /* CS5 */
	case 44: /* VA */
	case 46: /* EF */
	case 48: /* CS6 */
	case 56: /* CS7 */
		return TIER_VOICE;
	default:
		return TIER_BEST_EFFORT;
	}
}

static uint16_t with_dscp(uint8_t dscp, uint16_t ecn)
{
	return (uint16_t)(dscp << DSCP_SHIFT | ecn);
}

/* The inner ECN field is copied to the outer header (normal mode of RFC 6040 section 4.1), so that
 * routers mark instead of dropping. */
uint16_t marking_of_frame(const struct snap *s, const struct frame *f)
{
	const struct snap_marking *m = &s->marking;
	uint8_t class = 0;
	bool is_ip = ip_class(f->data, f->len, &f->v, &class);
	uint16_t ecn = likely(!m->ecn_disable) ? class & ECN_MASK : ECN_NOT_ECT;

	if (likely(m->dscp == SNAP_DSCP_SOCKET))
		return CLASS_OF_SOCKET | ecn;
	if (m->dscp == SNAP_DSCP_SET)
		return with_dscp(m->dscp_set, ecn);
	return is_ip ? with_dscp(class >> DSCP_SHIFT, ecn) : CLASS_OF_SOCKET;
}

uint16_t marking_of_relayed(const struct snap *s, uint8_t kind, uint8_t class)
{
	const struct snap_marking *m = &s->marking;
	uint16_t ecn = class & ECN_MASK;

	if (kind == LEON_CONTROL && m->control_has_dscp)
		return with_dscp(m->dscp_control, ecn);
	if (m->dscp == SNAP_DSCP_COPY)
		return class;
	if (m->dscp == SNAP_DSCP_SET && kind != LEON_CONTROL)
		return with_dscp(m->dscp_set, ecn);
	return CLASS_OF_SOCKET | ecn;
}

bool marking_arrives(struct worker *w, uint8_t *data, size_t len, const struct eth_view *v,
		     enum ecn outer)
{
	bool marked;

	if (likely(outer == ECN_NOT_ECT))
		return true;
	if (!ecn_decapsulate(data, len, v, outer, &marked))
		return drop(w, DROP_ecn_not_capable);
	count(w, CNT_marked_in_transit, marked);
	return true;
}

/* --- MSS of TCP SYNs --- */

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
