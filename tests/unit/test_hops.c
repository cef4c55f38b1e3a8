// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queues of next hops with a rate each, on virtual time. A slow hop does not delay other hops, a
 * sparse flow has priority, and turns are fair. The pool is bounded, no item is lost, and a hop
 * without a backlog frees its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/defs.h"
#include "base/mem.h"
#include "fwd/queue/hops.h"

#define KBITS 10000
#define LEN   1250 /* one millisecond at the full rate */
#define N     4000
#define SLOTS 100
static const mono_t T0 = { 1000 * NS_PER_S };

struct thing {
	struct fq_item item;
	uint16_t slot;
};

struct lab {
	struct hops h;
	struct hop_account account[SLOTS];
	struct thing thing[N];
	unsigned used;
	unsigned sent[SLOTS + 1];
};

static void set_rates(struct lab *l, uint32_t kbits)
{
	for (unsigned i = 0; i < SLOTS; i++)
		atomic_store(&l->account[i].kbits, kbits);
}

static int setup(void **state)
{
	struct lab *l = x_calloc(1, sizeof(*l));

	hops_init(&l->h, l->account);
	set_rates(l, KBITS);
	*state = l;
	return 0;
}
static int teardown(void **state)
{
	struct lab *l = *state;

	hops_fini(&l->h);
	free(l);
	return 0;
}

static void put(struct lab *l, uint16_t slot, uint32_t flow, unsigned n, mono_t now)
{
	while (n--) {
		struct thing *x = &l->thing[l->used++ % N];

		/* Items accept marks, because these tests do not examine queueing delay. */
		*x = (struct thing){ .item = { .len = LEN, .takes_marks = true }, .slot = slot };
		hops_put(&l->h, slot, TIER_BEST_EFFORT, &x->item, flow, now);
	}
}

/* Sends one turn and charges its bytes at the end, like datagrams. Returns the number of items. */
static unsigned turn(struct lab *l, mono_t now, unsigned most)
{
	uint32_t bytes[SLOTS] = { 0 };
	unsigned n = 0;
	struct fq_item *item;

	hops_begin(&l->h, now);
	for (; n < most && (item = hops_next(&l->h, now)); n++) {
		uint16_t slot = ((struct thing *)item)->slot;

		l->sent[min_of(slot, (uint16_t)SLOTS)]++;
		if (slot != HOP_NONE)
			bytes[slot] += item->len;
	}
	for (unsigned i = 0; i < SLOTS; i++)
		if (bytes[i])
			hops_pay(&l->account[i], bytes[i], now);
	return n;
}

static void each_has_its_rate(void **state)
{
	struct lab *l = *state;

	put(l, 1, 1, 1000, T0);
	put(l, 2, 2, 1000, T0);
	put(l, 3, 3, 20, T0);
	for (unsigned ms = 0; ms < 500; ms++)
		turn(l, mono_add_ms(T0, ms), 64);
	/* 500 and the permitted compensation. */
	assert_in_range(l->sent[1], 495, 506);
	assert_in_range(l->sent[2], 495, 506);
	assert_int_equal(l->sent[3], 20);
}

static void what_has_no_hop_waits_for_none(void **state)
{
	struct lab *l = *state;

	put(l, 1, 1, 100, T0);
	put(l, HOP_NONE, 2, 100, T0);
	turn(l, T0, 64);
	turn(l, T0, 64);
	assert_true(l->sent[SLOTS] >= 100);
	assert_true(l->sent[1] <= 6);
}

static void a_sparse_flow_is_next(void **state)
{
	struct lab *l = *state;

	for (uint16_t slot = 1; slot <= 20; slot++)
		put(l, slot, 1, 50, T0);
	for (unsigned ms = 0; ms < 20; ms++)
		turn(l, mono_add_ms(T0, ms), 64);
	hops_begin(&l->h, mono_add_ms(T0, 20));
	assert_false(hops_have_fresh(&l->h));
	put(l, 30, 2, 1, mono_add_ms(T0, 20));
	assert_true(hops_have_fresh(&l->h));
	assert_int_equal(((struct thing *)hops_next(&l->h, mono_add_ms(T0, 20)))->slot, 30);
}

/* The link is slower than the sum of all limits, and the hops share it. */
static void turns_are_fair(void **state)
{
	struct lab *l = *state;

	for (uint16_t slot = 1; slot <= 4; slot++)
		put(l, slot, slot, 900, T0);
	for (unsigned ms = 0; ms < 400; ms++)
		turn(l, mono_add_ms(T0, ms), 2);
	for (uint16_t slot = 1; slot <= 4; slot++)
		assert_in_range(l->sent[slot], 190, 210);
}

static void due(void **state)
{
	struct lab *l = *state;

	assert_true(mono_is_never(hops_due(&l->h)));
	assert_int_equal(turn(l, T0, 64), 0);
	put(l, 1, 1, 100, T0);
	assert_false(mono_before(T0, hops_due(&l->h)));
	while (turn(l, T0, 64))
		;
	assert_true(mono_before(T0, hops_due(&l->h)));
	assert_true(mono_sub_us(hops_due(&l->h), T0) < 10000);
	put(l, HOP_NONE, 1, 1, T0);
	assert_false(mono_before(T0, hops_due(&l->h)));
}

/* More hops than places: the remaining hops share one queue, and no item is lost. */
static void the_pool_is_bounded(void **state)
{
	struct lab *l = *state;
	unsigned sent = 0;

	for (uint16_t slot = 0; slot < SLOTS; slot++)
		put(l, slot, slot, 3, T0);
	assert_int_equal(l->h.n_used, HOPS);
	for (unsigned ms = 0; l->h.n; ms++)
		sent += turn(l, mono_add_ms(T0, ms), 64);
	assert_int_equal(sent, 3 * SLOTS);
	assert_int_equal(l->h.bytes, 0);
	/* An empty place is free for another hop. */
	hops_begin(&l->h, mono_add_ms(T0, 9000));
	put(l, 77, 1, 1, mono_add_ms(T0, 9000));
	assert_int_equal(l->h.n_used, 1);
	assert_int_equal(hops_used(&l->h, 0)->slot, 77);
	assert_int_equal(hops_used(&l->h, 0)->tiers.n, 1);
}

static void the_fattest_loses(void **state)
{
	struct lab *l = *state;

	put(l, 1, 1, 5, T0);
	put(l, 2, 2, 50, T0);
	put(l, HOP_NONE, 3, 7, T0);
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(((struct thing *)hops_shed(&l->h, FQ_LACK_LARGE))->slot, 2);
	while (l->h.n)
		assert_non_null(hops_shed(&l->h, FQ_LACK_LARGE));
	assert_null(hops_shed(&l->h, FQ_LACK_LARGE));
	assert_int_equal(l->h.bytes, 0);
}

/* Hops without a rate share one queue. A change of the rate loses no item of the backlog. */
static void rates_come_and_go(void **state)
{
	struct lab *l = *state;

	put(l, 1, 1, 200, T0);
	set_rates(l, 0);
	put(l, 1, 1, 200, T0);
	put(l, 2, 1, 10, T0);
	for (unsigned i = 0; l->h.n && i < 100; i++)
		turn(l, T0, 64);
	assert_int_equal(l->sent[1] + l->sent[2], 410);
	hops_begin(&l->h, T0);
	assert_int_equal(l->h.n_used, 0);
}

/* A new rate of a hop with a backlog applies from the next turn. */
static void a_rate_changes(void **state)
{
	struct lab *l = *state;

	put(l, 1, 1, 1000, T0);
	for (unsigned ms = 0; ms < 100; ms++)
		turn(l, mono_add_ms(T0, ms), 64);
	assert_in_range(l->sent[1], 95, 106);
	atomic_store(&l->account[1].kbits, 2 * KBITS);
	for (unsigned ms = 100; ms < 200; ms++)
		turn(l, mono_add_ms(T0, ms), 64);
	assert_in_range(l->sent[1], 95 + 190, 106 + 210);
}

/* One hop has a twentieth of the rate of the others. All hops get their rate. */
static void a_slow_one_holds_up_nobody(void **state)
{
	struct lab *l = *state;

	atomic_store(&l->account[5].kbits, KBITS / 20);
	put(l, 5, 1, 1500, T0);
	for (uint16_t slot = 1; slot < 5; slot++)
		put(l, slot, 1, 600, T0);
	for (unsigned ms = 0; ms < 400; ms++)
		turn(l, mono_add_ms(T0, ms), 64);
	for (uint16_t slot = 1; slot < 5; slot++)
		assert_in_range(l->sent[slot], 395, 406);
	assert_in_range(l->sent[5], 20, 22);
	assert_true(hops_held(&l->h) >= 1400);
}

/* The link is the bottleneck, and the rate of the hop has no effect. */
static void nothing_is_held(void **state)
{
	struct lab *l = *state;

	assert_int_equal(hops_held(&l->h), 0);
	set_rates(l, 10 * KBITS);
	put(l, 1, 1, 3, T0);
	put(l, HOP_NONE, 1, 3, T0);
	hops_begin(&l->h, T0);
	assert_non_null(hops_next(&l->h, T0));
	assert_int_equal(hops_held(&l->h), 0);
}

/* A sparse frame waits for at most one bulk frame that is already in transmission. */
static void a_sparse_flow_of_a_slow_hop(void **state)
{
	struct lab *l = *state;
	unsigned waited_ms = 0, sent;
	mono_t now = T0;

	atomic_store(&l->account[5].kbits, KBITS / 20); /* 20 ms for each frame */
	put(l, 5, 1, 1000, T0);
	for (unsigned ms = 0; ms < 400; ms++)
		turn(l, now = mono_add_ms(T0, ms), 64);
	for (unsigned i = 0; i < 10; i++) {
		struct thing x = { .item = { .len = 100 }, .slot = 5 };

		hops_put(&l->h, 5, TIER_BEST_EFFORT, &x.item, 2, now);
		sent = l->sent[5];
		for (waited_ms = 0; l->sent[5] == sent; waited_ms++)
			turn(l, now = mono_add_ms(now, 1), 1);
		assert_true(waited_ms <= 20);
		assert_int_equal(x.item.since.ns, mono_add_ms(now, -(int)waited_ms).ns);
		/* The sparse frame is out, and bulk frames follow. */
		for (unsigned ms = 0; ms < 50; ms++)
			turn(l, now = mono_add_ms(now, 1), 64);
	}
}

/* Frames outside the queue, such as copies of floods, are charged to the hop. */
static void others_pay_too(void **state)
{
	struct lab *l = *state;

	put(l, 1, 1, 1000, T0);
	for (unsigned ms = 0; ms < 200; ms++) {
		hops_pay(&l->account[1], LEN / 2, mono_add_ms(T0, ms));
		turn(l, mono_add_ms(T0, ms), 64);
	}
	assert_in_range(l->sent[1], 95, 106);
	/* Without a rate nothing is charged. */
	atomic_store(&l->account[2].kbits, 0);
	hops_pay(&l->account[2], LEN, T0);
	assert_int_equal(atomic_load(&l->account[2].shaper.paid_ns), 0);
}

/* Relayed datagrams above the rate of the hop do not starve its queue. */
static void others_leave_a_part(void **state)
{
	struct lab *l = *state;

	put(l, 1, 1, 1000, T0);
	for (unsigned ms = 0; ms < 1600; ms++) {
		hops_pay(&l->account[1], 2 * LEN, mono_add_ms(T0, ms));
		turn(l, mono_add_ms(T0, ms), 64);
	}
	assert_in_range(l->sent[1], 95, 105);
}

/* A new account at time zero is due at once. */
static void due_from_the_first_on(void **state)
{
	struct lab *l = *state;

	put(l, 1, 1, 1, (mono_t){ 1 });
	assert_false(mono_is_never(hops_due(&l->h)));
	assert_int_equal(hops_due(&l->h).ns, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(each_has_its_rate),
		T(what_has_no_hop_waits_for_none),
		T(a_sparse_flow_is_next),
		T(turns_are_fair),
		T(due),
		T(the_pool_is_bounded),
		T(the_fattest_loses),
		T(rates_come_and_go),
		T(a_rate_changes),
		T(a_slow_one_holds_up_nobody),
		T(nothing_is_held),
		T(a_sparse_flow_of_a_slow_hop),
		T(others_pay_too),
		T(others_leave_a_part),
		T(due_from_the_first_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
