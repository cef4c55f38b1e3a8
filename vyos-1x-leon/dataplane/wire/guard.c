// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop-guard frame on the wire. Called by the workers for frames of its type and by the
 * control thread that sends it; the authenticator is computed by crypto/keys.h over the first
 * GUARD_SIGNED_LEN bytes. Pure.
 */
#include "wire/guard.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/eth.h"

#define GUARD_VERSION  1
#define AT_VERSION     (ETH_HDR_LEN + sizeof(snap_header))
#define AT_VNI	       (AT_VERSION + 1)
#define AT_NODE	       (AT_VNI + 3)
#define AT_INCARNATION (AT_NODE + 4)
#define GUARD_BODY_LEN (GUARD_SIGNED_LEN + GUARD_AUTH_LEN)

/* LLC of an unnumbered frame to SNAP (IEEE 802), and a protocol identifier that is administered
 * locally, as 02 says: nobody else's, and no EtherType that a radio bridge would turn back. */
static const uint8_t snap_header[] = { 0xaa, 0xaa, 0x03, 0x02, 'L', 'E', 'O', 'N' };

static_assert(AT_INCARNATION + 8 == GUARD_SIGNED_LEN, "guard layout");
static_assert(GUARD_BODY_LEN <= GUARD_FRAME_LEN, "guard layout");
static_assert(GUARD_BODY_LEN - ETH_HDR_LEN == GUARD_TYPE, "guard layout");

/* A group address of our own, locally administered: 03 and the letters L, E, O, N, 0. */
static const uint8_t guard_dst[MAC_LEN] = { 0x03, 'L', 'E', 'O', 'N', 0x00 };

static bool is_guard(const uint8_t *p, size_t len)
{
	return len >= AT_VERSION && !memcmp(p, guard_dst, MAC_LEN) &&
	       get_u16(p + 2 * MAC_LEN) == GUARD_TYPE &&
	       !memcmp(p + ETH_HDR_LEN, snap_header, sizeof(snap_header));
}

int guard_decode(const void *frame, size_t len, struct guard_frame *g)
{
	const uint8_t *p = frame;

	if (!is_guard(p, len))
		return -ENOMSG;
	if (len < GUARD_BODY_LEN || p[AT_VERSION] != GUARD_VERSION)
		return -EBADMSG;
	memcpy(g->src.b, p + MAC_LEN, MAC_LEN);
	g->vni = get_u24(p + AT_VNI);
	g->node = get_u32(p + AT_NODE);
	g->incarnation = get_u64(p + AT_INCARNATION);
	memcpy(g->auth, p + GUARD_SIGNED_LEN, GUARD_AUTH_LEN);
	return g->node == NODE_ID_NONE || mac_is_multicast(g->src) ? -EBADMSG : 0;
}

void guard_encode(const struct guard_frame *g, void *out)
{
	uint8_t *p = out;

	memset(p, 0, GUARD_FRAME_LEN);
	memcpy(p, guard_dst, MAC_LEN);
	memcpy(p + MAC_LEN, g->src.b, MAC_LEN);
	put_u16(p + 2 * MAC_LEN, GUARD_TYPE);
	memcpy(p + ETH_HDR_LEN, snap_header, sizeof(snap_header));
	p[AT_VERSION] = GUARD_VERSION;
	put_u24(p + AT_VNI, g->vni);
	put_u32(p + AT_NODE, g->node);
	put_u64(p + AT_INCARNATION, g->incarnation);
	memcpy(p + GUARD_SIGNED_LEN, g->auth, GUARD_AUTH_LEN);
}
