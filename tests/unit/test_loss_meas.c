// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proto/loss_meas compares sent and received datagrams with the counters in PINGs. The simulated
 * link has a delay and steps of 1 ms. A received datagram never counts as lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/defs.h"
#include "proto/loss_meas.h"

#define STEPS	20000
#define PING_MS 100

/* Every datagram takes `delay` steps. A PONG carries the number of datagrams that arrived before
 * its PING. */
struct world {
	unsigned delay, loss_pm, dup_pm;
	uint32_t epoch, offset; /* counter of the far end */
	uint32_t rng;
	uint32_t sent, lost; /* true values */
	uint32_t arrives[STEPS + 2000];
	uint32_t received;
	struct {
		unsigned at;
		struct loss_meas_answer a;
	} out[STEPS / PING_MS + 1];
	unsigned n_out, n_in;
	struct loss_meas t;
	unsigned judged, worst;
};

static uint32_t chance(struct world *w)
{
	w->rng = w->rng * 1664525 + 1013904223;
	return (w->rng >> 8) % 1000;
}

static void step(struct world *w, unsigned at, unsigned n_send)
{
	mono_t now = { (int64_t)(at + 1) * NS_PER_MS };

	for (unsigned i = 0; i < n_send; i++) {
		w->sent++;
		if (chance(w) < w->loss_pm)
			w->lost++;
		else
			w->arrives[at + w->delay] += 1 + (chance(w) < w->dup_pm);
	}
	w->received += w->arrives[at];
	if (at % PING_MS == 0) {
		w->out[w->n_out].at = at + 2 * w->delay;
		w->out[w->n_out++].a.sent = loss_meas_mark(&w->t, w->sent, now);
	}
	/* The far end answers with the arrivals at the time of the PING, one delay ago. */
	for (unsigned i = w->n_in; i < w->n_out; i++)
		if (w->out[i].at == at + w->delay) {
			w->out[i].a.received = w->received + w->offset;
			w->out[i].a.epoch = w->epoch;
		}
	while (w->n_in < w->n_out && w->out[w->n_in].at <= at) {
		struct loss_meas_answer *a = &w->out[w->n_in++].a;

		a->sent_now = w->sent;
		if (loss_meas_add(&w->t, a, now)) {
			w->judged++;
			w->worst = max_of(w->worst, w->t.bad);
		}
	}
}

static struct world *world_new(unsigned delay, uint32_t seed)
{
	struct world *w = calloc(1, sizeof(*w));

	w->delay = delay;
	w->rng = seed;
	w->epoch = 7;
	w->offset = UINT32_MAX - 5000; /* the counters wrap */
	return w;
}

static void what_arrived_is_never_lost(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 40; seed++) {
		struct world *w = world_new(seed * 17 % 300 + 1, seed);
		unsigned n = 1;

		for (unsigned at = 0; at < STEPS; at++) {
			/* Bursts, silence, and a varying rate. */
			if (at % 97 == 0)
				n = chance(w) % 5 == 0 ? 40 : chance(w) % 3;
			step(w, at, n);
		}
		assert_true(w->judged > 10);
		assert_int_equal(w->t.lost, 0);
		assert_int_equal(w->worst, 0);
		assert_int_equal(loss_meas_verdict(&w->t), LOSS_MEAS_GOOD);
		free(w);
	}
}

static void losses_are_found_and_none_is_made_up(void **state)
{
	(void)state;
	for (unsigned loss_pm = 200; loss_pm <= 1000; loss_pm += 200) {
		struct world *w = world_new(50, loss_pm);

		for (unsigned at = 0; at < STEPS; at++) {
			if (at == 5000)
				w->loss_pm = loss_pm;
			step(w, at, 1);
			if (at == 8000)
				assert_int_equal(loss_meas_verdict(&w->t), LOSS_MEAS_BAD);
		}
		assert_true(w->t.lost <= w->lost);
		assert_true(w->t.lost > w->lost * 9 / 10);
		assert_in_range(w->t.loss_pm, loss_pm - 100, min_of(loss_pm + 100, 1000u));
		/* The link works again. */
		free(w);
	}
}

/* The loss of an outage is not counted again at the end of the flow. */
static void an_outage_is_found_once(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 60; seed++) {
		struct world *w = world_new(seed * 7 % 120 + 1, seed);
		unsigned over = 5000 + seed * 37 % 1500;

		for (unsigned at = 0; at < STEPS; at++) {
			w->loss_pm = at >= 3000 && at < over ? 1000 : 0;
			step(w, at, at < 12000 + seed * 11 ? 1 + (at / 512 + seed) % 3 : 0);
			if (at == over - 1)
				assert_int_equal(loss_meas_verdict(&w->t), LOSS_MEAS_BAD);
			if (at > over + 3000 && loss_meas_verdict(&w->t) == LOSS_MEAS_BAD)
				fail_msg("seed %u, %u ms after the outage", seed, at - over);
		}
		free(w);
	}
}

/* Rare losses and duplicates do not justify a path change. */
static void a_little_loss_is_borne(void **state)
{
	struct world *w = world_new(30, 9);

	(void)state;
	w->loss_pm = 30;
	w->dup_pm = 20;
	for (unsigned at = 0; at < STEPS; at++)
		step(w, at, 2);
	assert_true(w->worst < 2);
	free(w);
}

static void another_run_of_the_far_end_counts_anew(void **state)
{
	struct world *w = world_new(50, 3);

	(void)state;
	for (unsigned at = 0; at < STEPS; at++) {
		if (at == 8000) {
			w->epoch++;
			w->offset = 0;
			w->received = 0;
		}
		step(w, at, 3);
	}
	assert_int_equal(w->t.lost, 0);
	free(w);
}

/* The kernel refuses datagrams that the mark of a PING contains, and the other end answers two
 * PINGs without data between them. */
static void refused_datagrams_are_no_window(void **state)
{
	struct loss_meas t = { 0 };
	struct loss_meas_answer a = { .epoch = 7, .received = 3 };
	mono_t now = { NS_PER_S };

	(void)state;
	a.sent = loss_meas_mark(&t, 1000, now);
	a.sent_now = 960;
	assert_false(loss_meas_add(&t, &a, mono_add_ms(now, 40)));
	a.sent = loss_meas_mark(&t, 960, mono_add_ms(now, 265));
	assert_int_equal(a.sent, 1000);
	assert_false(loss_meas_add(&t, &a, mono_add_ms(now, 305)));
	assert_int_equal(loss_meas_verdict(&t), LOSS_MEAS_OPEN);
}

static void holds_grow_while_it_comes_back(void **state)
{
	struct loss_meas_hold h = { 0 };
	mono_t now = { NS_PER_S };

	(void)state;
	assert_false(loss_meas_holds(&h, now));
	for (int64_t ms = 60000; ms < 3600000; ms *= 2) {
		loss_meas_hold(&h, now);
		assert_true(loss_meas_holds(&h, mono_add_ms(now, ms - 1)));
		assert_false(loss_meas_holds(&h, mono_add_ms(now, ms)));
		now = mono_add_ms(now, ms + 2000);
	}
	loss_meas_hold(&h, now);
	assert_false(loss_meas_holds(&h, mono_add_ms(now, 3600000)));
	/* After a long time without loss the hold time starts from its minimum. */
	now = mono_add_ms(now, 4 * 3600000);
	loss_meas_hold(&h, now);
	assert_false(loss_meas_holds(&h, mono_add_ms(now, 60000)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_arrived_is_never_lost),
		cmocka_unit_test(losses_are_found_and_none_is_made_up),
		cmocka_unit_test(an_outage_is_found_once),
		cmocka_unit_test(a_little_loss_is_borne),
		cmocka_unit_test(another_run_of_the_far_end_counts_anew),
		cmocka_unit_test(refused_datagrams_are_no_window),
		cmocka_unit_test(holds_grow_while_it_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
