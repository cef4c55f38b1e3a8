// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shared parts of tests with frames from the TAP: a sending host, the MAC addresses in the FDB, and
 * the datagrams to other nodes. Included after cmocka.
 */
#pragma once

#include "fwd_one.h"

#define HOST   0x20 /* on the local segment */
#define REMOTE 0x31 /* behind slot 1 */
#define FAR    0x32 /* behind slot 2, through slot 1 */
#define LOST   0x33 /* behind slot 3, which has no path */

static uint8_t out[70000]; /* vnet header and frame of a host */
static uint8_t *const frame = out + TAP_VNET_LEN;

static int open_with(bool gso)
{
	if (!fx_open(&fx, gso))
		return -1;
	fdb_learn(fx.fdb, 0, fx_mac(HOST), SLOT_SELF, 1);
	fdb_learn(fx.fdb, 0, fx_mac(REMOTE), 1, 1);
	fdb_learn(fx.fdb, 0, fx_mac(FAR), 2, 1);
	fdb_learn(fx.fdb, 0, fx_mac(LOST), 3, 1);
	memset(out, 0, sizeof(out));
	return 0;
}
static inline int from_tap_setup(void **state)
{
	(void)state;
	return open_with(true);
}

static inline int setup_no_gso(void **state)
{
	(void)state;
	return open_with(false);
}

/* Slot 2 has two paths: direct, and through slot 1. snap_set_policy() comes first. */
static inline void two_paths(struct snap *s)
{
	static const uint16_t straight[] = { 2 }, relayed[] = { 1, 2 };

	snap_set_pair(s, 2, (struct snap_route){ straight, 1, FX_MTU },
		      (struct snap_route){ relayed, 2, FX_MTU - 100 });
}

/* Reads the next datagram to a node. Returns false if no datagram arrived. */
static bool node_gets(unsigned slot, struct datagram *d)
{
	if (!fx_node_gets(&fx, slot, d))
		return false;
	assert_int_equal(d->h.vni, FX_VNI);
	assert_int_equal(d->h.source, FX_SELF);
	assert_int_equal(d->h.at, 0);
	return true;
}

static inline void expect_frame(unsigned slot, node_id_t destination, size_t len, uint8_t flags)
{
	struct datagram d;

	assert_true(node_gets(slot, &d));
	assert_int_equal(d.h.kind, LEON_FRAME);
	assert_int_equal(d.h.flags, flags);
	assert_int_equal(leon_destination(&d.h), destination);
	assert_int_equal(d.len - d.hdr_len, len);
	assert_memory_equal(d.b + d.hdr_len, frame, len);
}

static inline void expect_silence(void)
{
	struct datagram d;

	for (unsigned i = 1; i < FX_NODES; i++)
		assert_false(node_gets(i, &d));
}
