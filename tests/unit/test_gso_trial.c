// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proto/gso_trial convicts UDP segmentation if trains are lost only, and never because of ordinary
 * loss. The simulated link has a delay, steps of 1 ms, and random or bursty loss (Gilbert).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/defs.h"
#include "../length.h"
#include "proto/gso_trial.h"

#define HOUR_MS 3600000
#define DELAY	3 /* ms in one direction */
#define OUT	4
#define PING_MS 100

struct ping {
	unsigned at;
	bool used, lost;
	struct gso_reading r;
	uint32_t marked;
};

/* Loss of a datagram is `bad` in the bad state of the link and 0 in the good one. Each step changes
 * the state with a probability. All loss: good_to_bad 1. */
struct loss {
	double bad, good_to_bad, bad_to_good;
};

struct world {
	struct loss loss;
	double train_loss;   /* additional loss of a train */
	unsigned per_ms;     /* datagrams, one train */
	unsigned every_ms;   /* time between trains; 0: 1 */
	unsigned bottleneck; /* datagrams that pass in a step; 0: no limit */
	bool no_back_off;
	uint64_t rng;
	bool is_bad;
	unsigned now;
	uint32_t sent, trains, received;
	uint32_t arrives[DELAY + 1];
	struct ping out[OUT];
	unsigned n_out, next_ping;
	struct loss_meas link;
	uint32_t seen_trains;
	struct gso_trial t;
	unsigned n_trials, n_pairs, n_won, wrong_state;
};

static bool chance(struct world *w, double p)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return (double)(w->rng >> 11) / (double)(1ULL << 53) < p;
}

static mono_t clock_of(const struct world *w)
{
	return (mono_t){ (int64_t)(w->now + 1) * NS_PER_MS };
}

static bool is_lost(struct world *w)
{
	return w->is_bad && chance(w, w->loss.bad);
}

static void send_data(struct world *w)
{
	bool train = !w->t.off && w->per_ms > 1, damaged = train && chance(w, w->train_loss);
	/* A sender without segmentation is slower. */
	unsigned n = train ? w->per_ms : (w->per_ms * 3 + 3) / 4, passed = 0;

	w->trains += train;
	w->sent += n;
	for (unsigned i = 0; i < n; i++)
		if (!is_lost(w) && !damaged && (!w->bottleneck || passed < w->bottleneck))
			passed++;
	w->arrives[(w->now + DELAY) % (DELAY + 1)] += passed;
}

static void ping(struct world *w)
{
	mono_t now = clock_of(w);
	struct ping *p = &w->out[w->n_out++ % OUT];

	*p = (struct ping){ .at = w->now,
			    .used = true,
			    .lost = is_lost(w) || is_lost(w),
			    .r = { .at = now,
				   .phase = gso_trial_phase(&w->t, now),
				   .sent = w->sent,
				   .trains = w->trains,
				   .epoch = 1 },
			    .marked = loss_meas_mark(&w->link, w->sent, now) };
}

static void answer(struct world *w, const struct ping *p)
{
	struct loss_meas_answer a = { 1, p->r.received, p->marked, w->sent };
	mono_t now = clock_of(w);
	unsigned won = w->t.won;
	bool ran = w->t.state == GSO_TRIAL_RUNS;

	if (gso_trial_add(&w->t, &p->r, chance(w, 0.5), now) != GSO_TRIAL_OPEN)
		w->next_ping = min_of(w->next_ping, w->now + GSO_TRIAL_WAIT_MS);
	if (ran && (w->t.state != GSO_TRIAL_RUNS || w->t.won != won)) {
		w->n_pairs++;
		w->n_won += w->t.won != won;
	}
	if (!loss_meas_add(&w->link, &a, now))
		return;
	if (w->no_back_off)
		w->t.hold = (struct loss_meas_hold){ .until = MONO_NEVER };
	if (w->link.loss_pm >= GSO_TRIAL_LOSS_PM && w->trains != w->seen_trains)
		w->n_trials += gso_trial_start(&w->t, chance(w, 0.5), now);
	w->seen_trains = w->trains;
}

static void step(struct world *w)
{
	w->is_bad = w->is_bad ? !chance(w, w->loss.bad_to_good) : chance(w, w->loss.good_to_bad);
	w->received += w->arrives[w->now % (DELAY + 1)];
	w->arrives[w->now % (DELAY + 1)] = 0;
	if (!w->every_ms || w->now % w->every_ms == 0)
		send_data(w);
	for (unsigned i = 0; i < OUT; i++) {
		struct ping *p = &w->out[i];

		if (p->used && w->now == p->at + DELAY)
			p->r.received = w->received;
		if (!p->used || w->now < p->at + 2 * DELAY)
			continue;
		p->used = false;
		if (!p->lost)
			answer(w, p);
	}
	if (w->now >= w->next_ping) {
		ping(w);
		w->next_ping =
			w->now + (w->t.state == GSO_TRIAL_RUNS ? GSO_TRIAL_PING_MS : PING_MS);
	}
	if (w->now % 1000 == 0)
		gso_trial_expire(&w->t, clock_of(w));
	w->now++;
}

/* Runs until a conviction, or to the end; returns the time. */
static unsigned run(struct world *w, unsigned ms)
{
	unsigned end = w->now + ms;

	while (w->now < end && w->t.state != GSO_TRIAL_BROKEN)
		step(w);
	return w->now;
}

static void begin(struct world *w, uint64_t seed)
{
	w->rng = seed * 0x9e3779b97f4a7c15ULL + 1;
	w->link.marked = MONO_NEVER;
	w->t.hold.until = MONO_NEVER;
}

#define PROCESSES 32

/* 5 % of random loss, or in bursts of 2 to 500 ms with a loss of 10 % to 100 %. */
static struct loss ordinary(unsigned i)
{
	static const double bad[] = { 1, 0.5, 0.2, 0.1 };
	static const double burst_ms[] = { 0, 2, 4, 10, 30, 70, 150, 500 };
	double share = 0.05 / bad[i / 8], ms = burst_ms[i % 8];

	if (ms == 0)
		return (struct loss){ 0.05 / (i / 8 + 1), 1, 0 };
	return (struct loss){ bad[i / 8], share / (1 - share) / ms, 1 / ms };
}

static void an_hour_of_ordinary_loss_gives_no_alarm(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PROCESSES; i += LENGTH(1, 5)) {
		struct world w = { .loss = ordinary(i), .per_ms = 2 };

		begin(&w, i + 1);
		assert_int_equal(run(&w, HOUR_MS), HOUR_MS);
		/* Trials take place, and their number is limited. */
		assert_in_range(w.n_trials, 1, 7);
		assert_false(w.t.off && w.t.state != GSO_TRIAL_RUNS);
	}
}

/* The probability of a success, from which the probability of a wrong conviction follows. */
static void ordinary_loss_rarely_looks_like_segmentation(void **state)
{
	double most = 0;

	(void)state;
	for (unsigned i = 0; i < 2 * PROCESSES; i += LENGTH(1, 5)) {
		struct world w = { .loss = ordinary(i % PROCESSES),
				   .per_ms = 2,
				   .every_ms = i < PROCESSES ? 1 : 25,
				   .no_back_off = true };

		begin(&w, 100 + i);
		run(&w, HOUR_MS / 2);
		assert_int_not_equal(w.t.state, GSO_TRIAL_BROKEN);
		if (w.n_pairs >= 1000)
			most = max_of(most, (double)w.n_won / w.n_pairs);
	}
	printf("at most %.1f %% of the pairs\n", 100 * most);
	assert_true(most > 0.1 && most < 0.33);
}

static void a_full_queue_gives_no_alarm(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= LENGTH(3, 1); seed++) {
		struct world w = { .per_ms = 40, .bottleneck = 35, .no_back_off = true };

		begin(&w, seed);
		assert_int_equal(run(&w, HOUR_MS / 4), HOUR_MS / 4);
		assert_true(w.n_won >= 10);
	}
}

static void lost_trains_are_found(void **state)
{
	static const struct {
		double train_loss;
		struct loss other;
	} cases[] = { { 1, { 0, 0, 0 } },
		      { 0.3, { 0, 0, 0 } },
		      { 1, { 0.01, 1, 0 } },
		      { 1, { 0.05, 1, 0 } } };

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++)
		for (uint64_t seed = 1; seed <= LENGTH(20, 4); seed++) {
			struct world w = { .loss = cases[i].other, .per_ms = 4 };
			unsigned since;

			begin(&w, 100 * i + seed);
			run(&w, 100);
			w.train_loss = cases[i].train_loss;
			since = w.now;
			assert_in_range(run(&w, 60000) - since, 1, 3000);
			assert_true(w.t.off);
			gso_trial_reset(&w.t);
			assert_false(w.t.off);
		}
}

static void a_trial_without_traffic_ends(void **state)
{
	struct world w = { .per_ms = 4, .train_loss = 1 };

	(void)state;
	begin(&w, 1);
	while (w.t.state != GSO_TRIAL_RUNS)
		step(&w);
	w.per_ms = 0;
	run(&w, 7000);
	assert_int_equal(w.t.state, GSO_TRIAL_IDLE);
	assert_false(w.t.off);
	w.per_ms = 4;
	run(&w, 90000);
	assert_int_equal(w.t.state, GSO_TRIAL_BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_hour_of_ordinary_loss_gives_no_alarm),
		cmocka_unit_test(ordinary_loss_rarely_looks_like_segmentation),
		cmocka_unit_test(a_full_queue_gives_no_alarm),
		cmocka_unit_test(lost_trains_are_found),
		cmocka_unit_test(a_trial_without_traffic_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
