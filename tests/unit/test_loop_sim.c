// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop on virtual time: order, re-arming, stopping, freeing, and half a million timers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "expect_bug.h"

#define N_MANY 500000u

static mono_t ms(int64_t n)
{
	return mono_add_ms((mono_t){ NS_PER_S }, n);
}

struct record {
	struct loop *loop;
	struct timer *timer;
	unsigned n;
	mono_t last;
	unsigned left; /* remaining periods */
	int id;
};

static int order[16];
static unsigned n_order;

static void note(void *arg, mono_t now)
{
	struct record *r = arg;

	assert_true(mono_sub_ns(loop_now(r->loop), now) == 0);
	r->n++;
	r->last = now;
	if (n_order < 16)
		order[n_order++] = r->id;
}

static void starts_at_one_second(void **state)
{
	struct loop *l = loop_sim_new();

	(void)state;
	assert_true(loop_now(l).ns == NS_PER_S);
	loop_sim_run_until(l, ms(50));
	assert_true(loop_now(l).ns == ms(50).ns);
	/* Time never goes back. */
	loop_sim_run_until(l, ms(10));
	assert_true(loop_now(l).ns == ms(50).ns);
	loop_free(l);
	loop_free(NULL);
}

static void order_of_time_then_of_arming(void **state)
{
	struct loop *l = loop_sim_new();
	struct record r[4] = { { .id = 0 }, { .id = 1 }, { .id = 2 }, { .id = 3 } };

	(void)state;
	n_order = 0;
	for (int i = 0; i < 4; i++) {
		r[i].loop = l;
		r[i].timer = timer_new(l, note, &r[i]);
		assert_false(timer_is_set(r[i].timer));
	}
	timer_set(r[3].timer, ms(20));
	timer_set(r[1].timer, ms(10));
	timer_set(r[0].timer, ms(20));
	timer_set(r[2].timer, ms(10));
	/* A re-armed timer moves behind other timers of equal time. */
	timer_set(r[1].timer, ms(10));
	loop_sim_run_until(l, ms(9));
	assert_int_equal(n_order, 0);
	loop_sim_run_until(l, ms(19));
	assert_int_equal(n_order, 2);
	assert_true(loop_now(l).ns == ms(19).ns);
	loop_sim_run_until(l, ms(20));
	assert_int_equal(n_order, 4);
	assert_int_equal(order[0], 2);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 3);
	assert_int_equal(order[3], 0);
	assert_true(r[0].last.ns == ms(20).ns);
	for (int i = 0; i < 4; i++) {
		assert_false(timer_is_set(r[i].timer));
		timer_free(r[i].timer);
	}
	loop_free(l);
}

static void stop_and_never(void **state)
{
	struct loop *l = loop_sim_new();
	struct record r = { .loop = l };

	(void)state;
	r.timer = timer_new(l, note, &r);
	timer_stop(r.timer);
	timer_set(r.timer, ms(5));
	assert_true(timer_is_set(r.timer));
	timer_stop(r.timer);
	assert_false(timer_is_set(r.timer));
	timer_set(r.timer, ms(5));
	timer_set(r.timer, MONO_NEVER);
	assert_false(timer_is_set(r.timer));
	loop_sim_run_until(l, ms(100));
	assert_int_equal(r.n, 0);
	timer_free(r.timer);
	timer_free(NULL);
	loop_free(l);
}

static void past_runs_now(void **state)
{
	struct loop *l = loop_sim_new();
	struct record r = { .loop = l };

	(void)state;
	loop_sim_run_until(l, ms(100));
	r.timer = timer_new(l, note, &r);
	timer_set(r.timer, ms(5));
	loop_sim_run_until(l, ms(100));
	assert_int_equal(r.n, 1);
	assert_true(r.last.ns == ms(100).ns);
	timer_free(r.timer);
	loop_free(l);
}

static void again(void *arg, mono_t now)
{
	struct record *r = arg;

	r->n++;
	assert_false(timer_is_set(r->timer));
	if (--r->left)
		timer_set(r->timer, mono_add_ms(now, 10));
}

static void rearm_in_callback(void **state)
{
	struct loop *l = loop_sim_new();
	struct record r = { .loop = l, .left = 5 };

	(void)state;
	r.timer = timer_new(l, again, &r);
	timer_set(r.timer, ms(10));
	loop_sim_run_until(l, ms(35));
	assert_int_equal(r.n, 3);
	loop_sim_run_until(l, ms(1000));
	assert_int_equal(r.n, 5);
	timer_free(r.timer);
	loop_free(l);
}

static void free_self(void *arg, mono_t now)
{
	struct record *r = arg;

	(void)now;
	timer_free(r->timer);
	r->timer = NULL;
}

static void free_in_callback(void **state)
{
	struct loop *l = loop_sim_new();
	struct record r = { .loop = l };

	(void)state;
	r.timer = timer_new(l, free_self, &r);
	timer_set(r.timer, ms(1));
	loop_sim_run_until(l, ms(2));
	assert_null(r.timer);
	loop_free(l);
}

/* Timers are created and freed while others are armed. The state of one timer never applies to
 * another. */
static void new_ones_in_the_place_of_old_ones(void **state)
{
	enum { N = 300, ROUNDS = 20 };
	struct loop *l = loop_sim_new();
	struct record r[N] = { 0 };

	(void)state;
	for (int i = 0; i < N; i++) {
		r[i].loop = l;
		r[i].timer = timer_new(l, note, &r[i]);
		timer_set(r[i].timer, ms(1000 + i));
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = round % 3; i < N; i += 3)
			timer_free(r[i].timer);
		for (int i = N - 1; i >= 0; i--) {
			if (i % 3 != round % 3)
				continue;
			r[i].timer = timer_new(l, note, &r[i]);
			assert_false(timer_is_set(r[i].timer));
			timer_set(r[i].timer, ms(1000 + i));
		}
	}
	loop_sim_run_until(l, ms(2000));
	for (int i = 0; i < N; i++) {
		assert_int_equal(r[i].n, 1);
		assert_true(r[i].last.ns == ms(1000 + i).ns);
		timer_free(r[i].timer);
	}
	loop_free(l);
}

static struct {
	mono_t last;
	unsigned n;
} many;

static void in_order(void *arg, mono_t now)
{
	(void)arg;
	assert_false(mono_before(now, many.last));
	many.last = now;
	many.n++;
}

static void half_a_million(void **state)
{
	struct loop *l = loop_sim_new();
	struct timer **timers = x_calloc(N_MANY, sizeof(struct timer *));
	uint64_t rnd = 0x9e3779b97f4a7c15ULL;
	unsigned n_stopped = 0;

	(void)state;
	many.n = 0;
	for (unsigned i = 0; i < N_MANY; i++)
		timers[i] = timer_new(l, in_order, NULL);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < N_MANY; i++) {
			rnd = rnd * 6364136223846793005ULL + 1442695040888963407ULL;
			timer_set(timers[i], ms((int64_t)(rnd >> 44)));
		}
	}
	for (unsigned i = 0; i < N_MANY; i += 7, n_stopped++)
		timer_stop(timers[i]);
	loop_sim_run_until(l, ms(1 << 20));
	assert_int_equal(many.n, N_MANY - n_stopped);
	for (unsigned i = 0; i < N_MANY; i++)
		timer_free(timers[i]);
	free(timers);
	loop_free(l);
}

static void not_supported(void **state)
{
	struct loop *l = loop_sim_new();

	(void)state;
	assert_int_equal(loop_fd_add(l, 0, 1, NULL, NULL), -ENOTSUP);
	assert_int_equal(loop_fd_mod(l, 0, 1), -ENOTSUP);
	assert_int_equal(loop_signal_add(l, SIGTERM, NULL, NULL), -ENOTSUP);
	assert_int_equal(loop_run(l), -ENOTSUP);
	loop_fd_del(l, 0);
	loop_notify(l, "READY=1");
	loop_quit(l, 0);
	loop_free(l);
}

static void free_with_timer_alive(void *arg)
{
	struct loop *l = loop_sim_new();

	timer_new(l, note, arg);
	loop_free(l);
}

static void misuse_aborts(void **state)
{
	(void)state;
	assert_true(ends_in_bug(free_with_timer_alive, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_at_one_second),
		cmocka_unit_test(order_of_time_then_of_arming),
		cmocka_unit_test(stop_and_never),
		cmocka_unit_test(past_runs_now),
		cmocka_unit_test(rearm_in_callback),
		cmocka_unit_test(free_in_callback),
		cmocka_unit_test(new_ones_in_the_place_of_old_ones),
		cmocka_unit_test(half_a_million),
		cmocka_unit_test(not_supported),
		cmocka_unit_test(misuse_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
