// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/flow/local_pair sends a host probe before each frame for one of two hosts on this LAN.
 * A switch may have learned that host behind this node.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "conn/conn_state.h"
#include "flow/proxy_sock.h"
#include "ipc/accel_queue.h"

#define FRAME_LEN 100 /* longer than a host probe */

struct lan_lab {
	struct engine e;
	struct conn c;
	int queue; /* the end of leond */
	mono_t now;
	int64_t held, may_hold; /* bytes of the process, and their limit */
};

static bool may_hold(struct flow *f, int64_t bytes)
{
	struct lan_lab *l = container_of(f, struct lan_lab, c.flow);

	if (l->held + bytes > l->may_hold)
		return false;
	l->held += bytes;
	return true;
}

static const struct flow_ops ops = { .may_hold = may_hold };

static void begin(struct lan_lab *l)
{
	int pair[2];

	memset(l, 0, sizeof(*l));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	l->now = (mono_t){ NS_PER_S };
	l->e.queue[0] = pair[0];
	l->e.n_queues = 1;
	l->queue = pair[1];
	l->may_hold = 1000;
	l->c.flow.ops = &ops;
	l->c.e = &l->e;
	l->c.flow.key.near.family = l->c.flow.key.far.family = 4;
	local_pair_begin(&l->c, l->now);
}

static void end(struct lan_lab *l)
{
	local_pair_free(&l->c);
	assert_int_equal(l->held, 0);
	close(l->e.queue[0]);
	close(l->queue);
}

static void say(struct lan_lab *l, bool to_far)
{
	static const uint8_t vnet[ACCEL_VNET_LEN], frame[FRAME_LEN];

	local_pair_send(&l->c, to_far, vnet, frame, sizeof(frame));
}

/* Time advances in ticks of the engine. */
static void pass(struct lan_lab *l, int64_t ms)
{
	for (; ms > 0; ms -= 5) {
		l->now = mono_add_ms(l->now, 5);
		local_pair_tick(&l->c, l->now);
	}
}

/* Returns "?" for a host probe and "." for a frame, in order. */
static const char *seen(struct lan_lab *l)
{
	static char text[64];
	uint8_t buf[512];
	ssize_t n;
	size_t at = 0;

	while ((n = recv(l->queue, buf, sizeof(buf), 0)) > 0 && at + 1 < sizeof(text))
		text[at++] = n < FRAME_LEN + ACCEL_VNET_LEN ? '?' : '.';
	text[at] = 0;
	return text;
}

static void test_drr(void **state)
{
	struct lan_lab l;

	(void)state;
	begin(&l);
	say(&l, false);
	say(&l, true);
	assert_string_equal(seen(&l), "??");
	pass(&l, 10);
	assert_string_equal(seen(&l), ".");
	/* The turn continues without another host probe. */
	say(&l, false);
	assert_string_equal(seen(&l), ".");
	pass(&l, 50);
	assert_string_equal(seen(&l), "??.");
	end(&l);
}

/* The answer is lost or late: each repetition of a frame sends a host probe again, even if the
 * other host has no frame. */
static void test_asks_again_for_one_host(void **state)
{
	struct lan_lab l;

	(void)state;
	begin(&l);
	pass(&l, 10);
	seen(&l);
	for (int i = 0; i < 6; i++) {
		pass(&l, 200 << i);
		assert_string_equal(seen(&l), "");
		say(&l, false);
		pass(&l, 20);
		assert_string_equal(seen(&l), "??.");
	}
	end(&l);
}

/* Kept frames count for the limit of the process. */
static void test_memory_is_limited(void **state)
{
	struct lan_lab l;

	(void)state;
	begin(&l);
	l.may_hold = 2 * FRAME_LEN;
	for (int i = 0; i < 4; i++)
		say(&l, false);
	assert_int_equal(l.held, 2 * FRAME_LEN);
	pass(&l, 10);
	assert_string_equal(seen(&l), "??..");
	assert_int_equal(l.held, 0);
	pass(&l, 50);
	say(&l, true);
	assert_int_equal(l.held, FRAME_LEN);
	end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drr),
		cmocka_unit_test(test_asks_again_for_one_host),
		cmocka_unit_test(test_memory_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
