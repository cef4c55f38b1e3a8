// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test programs of one packet path to sealed nodes: keys of each node, and a host behind this
 * node and behind two others. Included after fwd_one.h.
 */
#pragma once

#include "fwd_one.h"

#define HOST   0x20
#define REMOTE 0x31 /* behind slot 1 */
#define FAR    0x32 /* behind slot 2, through slot 1 */

static struct seal *seal[FX_NODES];

static inline bool sealed_open(void)
{
	if (!fx_open(&fx, true))
		return false;
	for (unsigned i = 1; i < FX_NODES; i++) {
		struct seal_secrets k = { .tx_link = i, .rx_link = 100 + i };

		seal[i] = seal_new(&k, SEAL_AES_256_GCM, 1, 1);
	}
	fdb_learn(fx.fdb, 0, fx_mac(HOST), SLOT_SELF, 1);
	fdb_learn(fx.fdb, 0, fx_mac(REMOTE), 1, 1);
	fdb_learn(fx.fdb, 0, fx_mac(FAR), 2, 1);
	return true;
}

/* For the function that configures a snapshot. */
static inline void sealed_keys(struct snap *s)
{
	s->secret = true;
	for (uint16_t i = 1; i < FX_NODES; i++)
		snap_set_keys(s, i, seal[i], seal[i], NULL);
}

static inline int sealed_teardown(void **state)
{
	fx_teardown(state);
	for (unsigned i = 1; i < FX_NODES; i++)
		seal_unref(seal[i]);
	return 0;
}
