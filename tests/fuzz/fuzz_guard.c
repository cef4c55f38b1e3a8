// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of the loop guard, which any host on the LAN can send. The input is {control (8)} and the
 * frame; control & 1: the fuzzer's hand is held, the frame gets the right authenticator. Only then
 * is it authentic, and what follows from it is what the state says.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/keys.h"
#include "daemon/host/loop_guard.h"
#include "../unit/sample_session.h"
#include "wire/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void hear(const struct guard_frame *f)
{
	const node_id_t self = 0x80000000;
	struct guard g;

	guard_init(&g, self, true, 1000, (mono_t){ 1 });
	guard_heard(&g, f->node, (mono_t){ 2 });
	if ((g.state == GUARD_BLOCKED) != (f->node < self) ||
	    (g.state == GUARD_SHARED) != (f->node > self))
		abort();
	guard_tick(&g, (mono_t){ 60 * NS_PER_S });
	if (g.state != GUARD_CLEAR)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct keyring *k;
	uint8_t again[GUARD_FRAME_LEN];
	struct guard_frame g;

	if (!k)
		k = sample_keyring("correct horse battery staple", 1);
	if (len < 1 || guard_decode(data + 1, len - 1, &g))
		return 0;
	guard_encode(&g, again);
	if (len - 1 < GUARD_SIGNED_LEN + GUARD_AUTH_LEN ||
	    memcmp(data + 1, again, GUARD_SIGNED_LEN + GUARD_AUTH_LEN))
		abort();
	if (data[0] & 1)
		keyring_guard_auth(k, again, GUARD_SIGNED_LEN, g.auth);
	if (keyring_guard_check(k, again, GUARD_SIGNED_LEN, g.auth) != (data[0] & 1))
		abort();
	if (data[0] & 1)
		hear(&g);
	return 0;
}
