// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guard frames, which any host on the LAN can send. The input is {control (8)} and the frame.
 * control & 1: the target writes the correct authenticator. Only then is the frame authentic, and
 * the state shows its effects.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/sample_session.h"
#include "crypto/keys.h"
#include "daemon/guard/loop_guard.h"
#include "wire/frame/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct guard guard;
static const struct guard_bounds in_session = { .in_session = true, .most = UINT64_MAX };

static void hear(const struct guard_frame *f)
{
	const struct guard_conf conf = { .enabled = true, .preference = 128, .interval_ms = 1000 };
	/* The input cannot use these two node-ids together. */
	const node_id_t self = 0x80000000, reached[] = { 0x80000001, 0x80000002 };
	struct guard *g = &guard;
	const struct guard_vlan *v;
	struct guard_rank rank, own;

	guard_free(g);
	guard_init(g, self, &conf, (mono_t){ 1 });
	guard_reach(g, reached, 2, (mono_t){ 1 });
	guard_lan(g, true, (mono_t){ 2 });
	guard_use(g, f->tag, (mono_t){ 2 });
	for (int64_t ms = 0; ms <= 2000; ms += 100)
		guard_tick(g, (mono_t){ ms * NS_PER_MS });
	guard_receive(g, f, &in_session, (mono_t){ 2 * NS_PER_S });
	rank = guard_rank_of(f->preference, f->node, f->segment);
	own = guard_rank_of(128, self, f->tag);
	v = g->vlan[f->tag];
	if (v->n_received != (f->node != self) ||
	    g->local_loop != (f->node == self && !f->sequence) ||
	    g->n_forged != (f->node == self && f->sequence))
		abort();
	if (v->n_received && (v->state == GUARD_SHARED) !=
				     (!(f->flags & GUARD_FORWARDS) &&
				      (!guard_outranks(&rank, &own) || !(f->flags & GUARD_READY))))
		abort();
	if (v->n_received &&
	    !(guard_receive(g, f, &in_session, (mono_t){ 2 * NS_PER_S }) & GUARD_REPLAYED))
		abort();
	/* Three intervals of the slower node. */
	for (int64_t ms = 2100; ms < 6000 + 3 * (int64_t)guard_interval_of(f->flags); ms += 100)
		guard_tick(g, (mono_t){ ms * NS_PER_MS });
	if (v->state != GUARD_CLEAR)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct keyring *k;
	uint8_t again[GUARD_FRAME_MAX];
	struct guard_frame g;
	bool held;

	if (!k)
		k = sample_keyring("correct horse battery staple", 1);
	if (len < 1 || guard_decode(data + 1, len - 1, &g))
		return 0;
	held = data[0] & 1;
	if (len - 1 < guard_encode(&g, again))
		abort();
	if (held)
		keyring_guard_auth(k, guard_signed(again), GUARD_SIGNED_LEN, g.auth);
	if (keyring_guard_check(k, guard_signed(again), GUARD_SIGNED_LEN, g.auth) != held)
		abort();
	if (held)
		hear(&g);
	return 0;
}
