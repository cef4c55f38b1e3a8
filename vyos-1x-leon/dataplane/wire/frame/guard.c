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
#define TAG_PRIORITY  0xe000 /* priority of network control: a full queue must not cause a loop */

/* LLC of an unnumbered frame to SNAP (IEEE 802) with a locally administered protocol identifier
 * (02). The frame has no EtherType, which some radio bridges would reflect. */
static const uint8_t snap_header[] = { 0xaa, 0xaa, 0x03, 0x02, 'L', 'E', 'O', 'N' };

#define AT_VERSION sizeof(snap_header)
#define AT_BODY	   (AT_VERSION + 1)

static_assert(AT_BODY + 3 + 4 + 8 + 8 + 3 + 1 + 1 + 4 * GUARD_RECEIVED_MAX == GUARD_SIGNED_LEN,
	      "guard layout");
static_assert(GUARD_SIGNED_LEN + GUARD_AUTH_LEN == GUARD_TYPE, "guard layout");
static_assert(ETH_HDR_LEN + GUARD_TYPE == GUARD_FRAME_LEN, "guard layout");
static_assert(GUARD_FRAME_LEN + ETH_TAG_LEN == GUARD_FRAME_MAX, "guard layout");

/* A group address of our own, locally administered: 03 and the letters L, E, O, N, 0. */
static const struct mac guard_dst = { { 0x03, 'L', 'E', 'O', 'N', 0x00 } };

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
	return eth_is_tag(get_u16(p + 2 * MAC_LEN)) ? ETH_TAG_LEN : 0;
}

const void *guard_signed(const void *frame)
{
	return (const uint8_t *)frame + ETH_HDR_LEN + tag_len(frame);
}

/* Returns true for a guard frame of any version, checked up to the version field. */
static bool is_guard(const uint8_t *p, size_t len)
{
	size_t header = ETH_HDR_LEN;

	if (len < ETH_HDR_LEN + AT_VERSION || memcmp(p, guard_dst.b, MAC_LEN))
		return false;
	header += tag_len(p);
	return len >= header + AT_VERSION && get_u16(p + header - 2) < ETH_TYPE_MIN &&
	       !memcmp(p + header, snap_header, sizeof(snap_header));
}

static void code_body(struct codec *b, struct guard_frame *g)
{
	code_u24(b, &g->vni);
	code_u32(b, &g->node);
	code_u64(b, &g->incarnation);
	code_u64(b, &g->sequence);
	code_u24(b, &g->segment);
	code_u8(b, &g->flags);
	code_u8(b, &g->preference);
	for (unsigned i = 0; i < GUARD_RECEIVED_MAX; i++)
		code_u32(b, &g->received[i]);
	code_bytes(b, g->auth, GUARD_AUTH_LEN);
}

int guard_decode(const void *frame, size_t len, struct guard_frame *g)
{
	const uint8_t *p = frame, *body;
	struct rbuf b;

	if (!is_guard(p, len))
		return -ENOMSG;
	body = guard_signed(frame);
	if (len < (size_t)(body - p) + GUARD_TYPE || get_u16(body - 2) != GUARD_TYPE ||
	    body[AT_VERSION] != GUARD_VERSION)
		return -EBADMSG;
	memcpy(g->src.b, p + MAC_LEN, MAC_LEN);
	g->tag = tag_len(p) ? get_u16(p + ETH_HDR_LEN) & (VLAN_IDS - 1) : 0;
	b = rbuf_of(body + AT_BODY, GUARD_TYPE - AT_BODY);
	code_body(&(struct codec){ .in = &b }, g);
	return g->node == NODE_ID_NONE || mac_is_multicast(g->src) ? -EBADMSG : 0;
}

size_t guard_encode(const struct guard_frame *g, void *out)
{
	struct wbuf b = wbuf_of(out, GUARD_FRAME_MAX);

	eth_put_header(&b, guard_dst, g->src, g->tag ? (uint16_t)(TAG_PRIORITY | g->tag) : 0,
		       GUARD_TYPE);
	wbuf_bytes(&b, snap_header, sizeof(snap_header));
	wbuf_u8(&b, GUARD_VERSION);
	/* A codec that writes does not change the frame. */
	code_body(&(struct codec){ .out = &b }, (struct guard_frame *)g);
	return wbuf_len(&b);
}
