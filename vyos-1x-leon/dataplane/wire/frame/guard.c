// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encoding of the loop-guard frame. Called by the workers for frames of its type and by the control
 * thread, which sends guards. crypto/keys.h computes the authenticator over guard_signed(). Pure.
 */
#include "wire/frame/guard.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "base/vlan_set.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"

#define GUARD_VERSION 4
#define TAG_LEN	      4
#define TAG_PRIORITY  0xe000 /* priority of network control: a full queue must not cause a loop */

/* Offsets from the LLC header. */
#define AT_VERSION     sizeof(snap_header)
#define AT_VNI	       (AT_VERSION + 1)
#define AT_NODE	       (AT_VNI + 3)
#define AT_INCARNATION (AT_NODE + 4)
#define AT_SEQUENCE    (AT_INCARNATION + 8)
#define AT_SEGMENT     (AT_SEQUENCE + 8)
#define AT_FLAGS       (AT_SEGMENT + 3)
#define AT_PREFERENCE  (AT_FLAGS + 1)
#define AT_RECEIVED    (AT_PREFERENCE + 1)

/* LLC of an unnumbered frame to SNAP (IEEE 802) with a locally administered protocol identifier
 * (02). The frame has no EtherType, which some radio bridges would reflect. */
static const uint8_t snap_header[] = { 0xaa, 0xaa, 0x03, 0x02, 'L', 'E', 'O', 'N' };

static_assert(AT_RECEIVED + 4 * GUARD_RECEIVED_MAX == GUARD_SIGNED_LEN, "guard layout");
static_assert(GUARD_SIGNED_LEN + GUARD_AUTH_LEN == GUARD_TYPE, "guard layout");
static_assert(ETH_HDR_LEN + GUARD_TYPE == GUARD_FRAME_LEN, "guard layout");
static_assert(GUARD_FRAME_LEN + TAG_LEN == GUARD_FRAME_MAX, "guard layout");

/* A group address of our own, locally administered: 03 and the letters L, E, O, N, 0. */
static const uint8_t guard_dst[MAC_LEN] = { 0x03, 'L', 'E', 'O', 'N', 0x00 };

uint32_t guard_mark(node_id_t node, uint64_t incarnation)
{
	uint32_t mark = (uint32_t)(hash_mix64(hash_mix64(node) + incarnation) >> 32);

	return mark ? mark : 1;
}

#define STEP_SHIFT    4
#define STEP_MAX      11u /* of the longest permitted interval, 60 s */
#define FIRST_STEP_MS 100u

uint8_t guard_interval_flags(uint32_t interval_ms)
{
	unsigned n = 1;

	while (n < STEP_MAX && FIRST_STEP_MS << (n - 1) < interval_ms)
		n++;
	return (uint8_t)(n << STEP_SHIFT);
}

uint32_t guard_interval_of(uint8_t flags)
{
	unsigned n = min_of((unsigned)flags >> STEP_SHIFT, STEP_MAX);

	return n ? FIRST_STEP_MS << (n - 1) : 0;
}

/* Length of the tag; 0 without a tag. */
static size_t tag_len(const uint8_t *p)
{
	uint16_t type = get_u16(p + 2 * MAC_LEN);

	return type == ETHERTYPE_DOT1Q || type == ETHERTYPE_DOT1AD ? TAG_LEN : 0;
}

const void *guard_signed(const void *frame)
{
	return (const uint8_t *)frame + ETH_HDR_LEN + tag_len(frame);
}

/* Returns true for a guard frame of any version, checked up to the version field. */
static bool is_guard(const uint8_t *p, size_t len)
{
	size_t header = ETH_HDR_LEN;

	if (len < ETH_HDR_LEN + AT_VERSION || memcmp(p, guard_dst, MAC_LEN))
		return false;
	header += tag_len(p);
	return len >= header + AT_VERSION && get_u16(p + header - 2) < ETH_TYPE_MIN &&
	       !memcmp(p + header, snap_header, sizeof(snap_header));
}

int guard_decode(const void *frame, size_t len, struct guard_frame *g)
{
	const uint8_t *p = frame, *body;

	if (!is_guard(p, len))
		return -ENOMSG;
	body = guard_signed(frame);
	if (len < (size_t)(body - p) + GUARD_TYPE || get_u16(body - 2) != GUARD_TYPE ||
	    body[AT_VERSION] != GUARD_VERSION)
		return -EBADMSG;
	memcpy(g->src.b, p + MAC_LEN, MAC_LEN);
	g->tag = tag_len(p) ? get_u16(p + ETH_HDR_LEN) & (VLAN_IDS - 1) : 0;
	g->vni = get_u24(body + AT_VNI);
	g->node = get_u32(body + AT_NODE);
	g->incarnation = get_u64(body + AT_INCARNATION);
	g->sequence = get_u64(body + AT_SEQUENCE);
	g->segment = get_u24(body + AT_SEGMENT);
	g->flags = body[AT_FLAGS];
	g->preference = body[AT_PREFERENCE];
	for (unsigned i = 0; i < GUARD_RECEIVED_MAX; i++)
		g->received[i] = get_u32(body + AT_RECEIVED + 4 * i);
	memcpy(g->auth, body + GUARD_SIGNED_LEN, GUARD_AUTH_LEN);
	return g->node == NODE_ID_NONE || mac_is_multicast(g->src) ? -EBADMSG : 0;
}

size_t guard_encode(const struct guard_frame *g, void *out)
{
	uint8_t *p = out;

	memcpy(p, guard_dst, MAC_LEN);
	memcpy(p + MAC_LEN, g->src.b, MAC_LEN);
	p += 2 * MAC_LEN;
	if (g->tag) {
		put_u16(p, ETHERTYPE_DOT1Q);
		put_u16(p + 2, TAG_PRIORITY | g->tag);
		p += TAG_LEN;
	}
	put_u16(p, GUARD_TYPE);
	p += 2;
	memcpy(p, snap_header, sizeof(snap_header));
	p[AT_VERSION] = GUARD_VERSION;
	put_u24(p + AT_VNI, g->vni);
	put_u32(p + AT_NODE, g->node);
	put_u64(p + AT_INCARNATION, g->incarnation);
	put_u64(p + AT_SEQUENCE, g->sequence);
	put_u24(p + AT_SEGMENT, g->segment);
	p[AT_FLAGS] = g->flags;
	p[AT_PREFERENCE] = g->preference;
	for (unsigned i = 0; i < GUARD_RECEIVED_MAX; i++)
		put_u32(p + AT_RECEIVED + 4 * i, g->received[i]);
	memcpy(p + GUARD_SIGNED_LEN, g->auth, GUARD_AUTH_LEN);
	return (size_t)(p - (uint8_t *)out) + GUARD_TYPE;
}
