// SPDX-License-Identifier: GPL-2.0-or-later
/* Path choice: one test for each rule of choice.h, traces, and a property under random costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/defs.h"
#include "random.h"
#include "state/latency/choice.h"

#define S(n)  ((mono_t){ (n)*NS_PER_S })
#define MS(n) ((mono_t){ (n)*NS_PER_MS })

static const struct choice_params params = { .threshold_percent = 10,
					     .threshold_min_us = 2000,
					     .hold_time_ms = 10000 };
static const struct path none = { .cost_us = COST_INFINITE };

/* via 0 is the direct path, and any other value is the relay. The destination is slot 9. */
static struct path path_over(uint16_t via, uint32_t cost_us)
{
	struct path p = { .cost_us = cost_us, .rtt_us = cost_us };

	if (via)
		p.hop[p.n_hops++] = via;
	p.hop[p.n_hops++] = 9;
	return p;
}

static struct choice started(const struct path *p, mono_t at)
{
	struct choice c = { 0 };

	assert_true(choice_run(&c, p, p, &params, at));
	return c;
}

static void rule_1_no_path(void **state)
{
	struct path direct = path_over(0, 20000);
	struct choice c = { 0 };

	(void)state;
	assert_false(choice_run(&c, &none, &none, &params, S(1)));
	assert_int_equal(c.reason, CHOICE_NO_PATH);

	c = started(&direct, S(1));
	c.path.cost_us = COST_INFINITE;
	assert_true(choice_run(&c, &none, &none, &params, S(2)));
	assert_int_equal(c.reason, CHOICE_NO_PATH);
	assert_int_equal(c.path.n_hops, 0);
	assert_int_equal(c.since.ns, S(2).ns);
	assert_int_equal(c.n_changes, 1);
	assert_false(choice_run(&c, &none, &none, &params, S(3)));
	assert_int_equal(c.since.ns, S(2).ns);
}

static void rule_2_first(void **state)
{
	struct path direct = path_over(0, 20000);
	struct choice c = started(&direct, S(5));

	(void)state;
	assert_int_equal(c.reason, CHOICE_FIRST);
	assert_int_equal(c.chosen_by, CHOICE_FIRST);
	assert_int_equal(c.since.ns, S(5).ns);
	assert_int_equal(c.n_changes, 0);
	assert_true(path_same(&c.path, &direct));
	/* A path after an outage is used at once, because hold-down does not delay it. */
	choice_run(&c, &none, &none, &params, S(6));
	assert_true(choice_run(&c, &direct, &direct, &params, MS(6001)));
	assert_int_equal(c.reason, CHOICE_FIRST);
	assert_int_equal(c.n_changes, 2);
}

static void rule_3_failover(void **state)
{
	struct path direct = path_over(0, 20000), relayed = path_over(3, 90000);
	struct choice c = started(&direct, S(1));

	(void)state;
	/* Failover ignores a much higher cost and the hold-time. */
	c.path.cost_us = COST_INFINITE;
	assert_true(choice_run(&c, &relayed, &none, &params, S(2)));
	assert_int_equal(c.reason, CHOICE_FAILOVER);
	assert_int_equal(c.chosen_by, CHOICE_FAILOVER);
	assert_true(path_same(&c.path, &relayed));
	assert_int_equal(c.hold_until.ns, S(12).ns);
}

static void rule_4_best(void **state)
{
	struct path direct = path_over(0, 20000), dearer = path_over(0, 30000);
	struct choice c = started(&direct, S(1));

	(void)state;
	assert_false(choice_run(&c, &dearer, &dearer, &params, S(100)));
	assert_int_equal(c.reason, CHOICE_BEST);
	assert_int_equal(c.chosen_by, CHOICE_FIRST);
	assert_int_equal(c.path.cost_us, 30000);
	assert_int_equal(c.since.ns, S(1).ns);
}

static void rule_5_threshold(void **state)
{
	static const struct {
		uint32_t in_use, best;
		bool moves;
	} cases[] = {
		{ 100000, 90001, false }, /* slightly less than 10 % */
		{ 100000, 90000, true },
		{ 10000, 8001, false }, /* 10 %, but less than 2 ms */
		/* the cost is below the minimum itself */
		{ 10000, 8000, true },
		{ 1500, 1, false },
		{ 20000, 20000, false },
	};

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++) {
		struct path in_use = path_over(0, cases[i].in_use);
		struct path best = path_over(3, cases[i].best);
		struct choice c = started(&in_use, S(1));

		if (choice_run(&c, &best, &in_use, &params, S(100)) != cases[i].moves)
			fail_msg("case %zu", i);
		assert_int_equal(c.reason, cases[i].moves ? CHOICE_BETTER : CHOICE_THRESHOLD);
		assert_true(path_same(&c.best, &best));
	}
}

/* Between near sites the minimum is higher than the cost of the relay. */
static void rule_5_returns_to_the_direct_path(void **state)
{
	struct path relayed = path_over(3, 1120), direct = path_over(0, 1009);
	struct choice c = started(&relayed, S(1));

	(void)state;
	assert_false(choice_run(&c, &direct, &direct, &params, S(100)));
	direct.cost_us = 1008;
	assert_int_equal(choice_cost_to_beat(&c, &direct, &params), 1008);
	assert_true(choice_run(&c, &direct, &direct, &params, S(100)));
	assert_int_equal(c.reason, CHOICE_BETTER);
	/* A change to the relay needs the minimum. */
	relayed.cost_us = 1;
	assert_false(choice_run(&c, &relayed, &direct, &params, S(200)));
}

static void rule_5_says_what_it_would_take(void **state)
{
	struct path in_use = path_over(0, 100000);
	struct choice c = started(&in_use, S(1));

	(void)state;
	assert_int_equal(choice_cost_to_beat(&c, &none, &params), 90000);
	c.path.cost_us = 10000;
	assert_int_equal(choice_cost_to_beat(&c, &none, &params), 8000);
	c.path.cost_us = 1000;
	assert_int_equal(choice_cost_to_beat(&c, &none, &params), 0);
}

static void equal_paths_do_not_take_turns(void **state)
{
	const struct choice_params off = { 0 };
	struct path a = path_over(0, 20000), b = path_over(3, 20000);
	struct choice c = started(&a, S(1));

	(void)state;
	assert_false(choice_run(&c, &b, &a, &off, S(100)));
	b.cost_us--;
	assert_true(choice_run(&c, &b, &a, &off, S(100)));
}

static void rule_6_hold_down(void **state)
{
	struct path direct = path_over(0, 20000), better = path_over(3, 12000);
	struct choice c = started(&direct, S(1));

	(void)state;
	assert_false(choice_run(&c, &better, &direct, &params, MS(10999)));
	assert_int_equal(c.reason, CHOICE_HOLD_DOWN);
	assert_int_equal(c.hold_until.ns, S(11).ns);
	assert_true(choice_run(&c, &better, &direct, &params, S(11)));
	assert_int_equal(c.reason, CHOICE_BETTER);
}

/* Hold-down does not keep a new path that is more than twice as expensive as the other. */
static void rule_6_holds_no_bad_path(void **state)
{
	struct path direct = path_over(0, 20000), better = path_over(3, 9000);
	struct choice c = started(&direct, S(1));

	(void)state;
	assert_true(choice_run(&c, &better, &direct, &params, S(2)));
	assert_int_equal(c.reason, CHOICE_BETTER);
}

/* An improvement must exceed a share of the variation of both paths. */
static void rule_5_variation_margin(void **state)
{
	struct choice_params p = params;
	struct path direct = path_over(0, 100000), better = path_over(3, 71000);
	struct choice c;

	(void)state;
	p.variation_percent = 60;
	direct.noise_us = 30000;
	better.noise_us = 20000;
	c = started(&direct, S(1));
	assert_false(choice_run(&c, &better, &direct, &p, S(100)));
	assert_int_equal(c.reason, CHOICE_THRESHOLD);
	assert_int_equal(choice_cost_to_beat(&c, &better, &p), 70000);
	better.cost_us = 70000;
	assert_true(choice_run(&c, &better, &direct, &p, S(101)));
	/* Paths without variation need the threshold only. */
	direct.noise_us = better.noise_us = 100;
	better.cost_us = 90000;
	c = started(&direct, S(1));
	assert_true(choice_run(&c, &better, &direct, &p, S(100)));
}

/* A small improvement is sufficient if it is long-term, unless the present cost is higher. */
static void rule_5_long_term(void **state)
{
	struct choice_params p = params;
	struct path direct = path_over(0, 100000), other = path_over(3, 99000);
	struct choice c;

	(void)state;
	p.variation_percent = 60;
	p.long_term_percent = 5;
	direct.noise_us = other.noise_us = 30000;
	direct.long_term_us = 100000;
	other.long_term_us = 95001;
	c = started(&direct, S(1));
	c.long_term = other;
	assert_false(choice_run(&c, &other, &direct, &p, S(100)));
	c.long_term.long_term_us = 95000;
	c.long_term.cost_us = 100001;
	assert_false(choice_run(&c, &direct, &direct, &p, S(100)));
	c.long_term.cost_us = 100000;
	assert_true(choice_run(&c, &direct, &direct, &p, S(100)));
	assert_int_equal(c.reason, CHOICE_LONG_TERM);
	assert_int_equal(c.chosen_by, CHOICE_LONG_TERM);
	assert_true(path_same(&c.path, &other));
}

/* An unresponsive path is left at once for a responsive path. Between two unresponsive paths the
 * normal rules apply. */
static void rule_3_silent(void **state)
{
	struct path direct = path_over(0, 1000000), other = path_over(3, 990000);
	struct choice c = started(&direct, S(1));

	(void)state;
	c.path.silent = true;
	other.silent = true;
	assert_false(choice_run(&c, &other, &direct, &params, S(2)));
	other.silent = false;
	assert_true(choice_run(&c, &other, &direct, &params, S(2)));
	assert_int_equal(c.reason, CHOICE_FAILOVER);
}

static void changed_hold_time_counts_at_once(void **state)
{
	struct choice_params shorter = params;
	struct path direct = path_over(0, 20000), better = path_over(3, 12000);
	struct choice c = started(&direct, S(1));

	(void)state;
	shorter.hold_time_ms = 2000;
	assert_false(choice_run(&c, &better, &direct, &params, S(4)));
	assert_true(choice_run(&c, &better, &direct, &shorter, S(4)));
}

static void rule_7_better(void **state)
{
	struct path direct = path_over(0, 20000), better = path_over(3, 12000);
	struct choice c = started(&direct, S(1));

	(void)state;
	assert_true(choice_run(&c, &better, &direct, &params, S(20)));
	assert_int_equal(c.reason, CHOICE_BETTER);
	assert_int_equal(c.chosen_by, CHOICE_BETTER);
	assert_int_equal(c.since.ns, S(20).ns);
	assert_int_equal(c.n_changes, 1);
	assert_true(path_same(&c.direct, &direct));
	/* The reason describes the last run, not the last change. */
	assert_false(choice_run(&c, &better, &direct, &params, S(21)));
	assert_int_equal(c.reason, CHOICE_BEST);
	assert_int_equal(c.chosen_by, CHOICE_BETTER);
}

static void reasons_have_words(void **state)
{
	(void)state;
	for (int r = CHOICE_NO_PATH; r <= CHOICE_LONG_TERM; r++) {
		assert_true(strlen(choice_texts[r].name) > 0);
		assert_true(strlen(choice_texts[r].text) > 10);
	}
	assert_string_equal(choice_texts[CHOICE_NO_PATH].name, "no-path");
	assert_string_equal(choice_texts[CHOICE_HOLD_DOWN].name, "hold-down");
}

/*
 * Traces: every second a cost of the direct link and of one relay (0: down), and the expected path:
 * d, r or - (none).
 */
struct trace {
	const char *name;
	uint32_t direct_ms[24], relayed_ms[24];
	const char *in_use;
};

static struct path min_path(const struct path *a, const struct path *b)
{
	if (a->cost_us == COST_INFINITE && b->cost_us == COST_INFINITE)
		return none;
	return b->cost_us < a->cost_us ? *b : *a;
}

static char letter(const struct path *p)
{
	return p->n_hops == 0 ? '-' : p->n_hops == 1 ? 'd' : 'r';
}

static struct path leg(uint16_t via, uint32_t ms)
{
	return path_over(via, ms ? ms * 1000 : COST_INFINITE);
}

static void one_second(struct choice *c, uint32_t direct_ms, uint32_t relayed_ms, mono_t now)
{
	struct path direct = leg(0, direct_ms), relayed = leg(3, relayed_ms);
	struct path best = min_path(&direct, &relayed);

	if (c->path.n_hops)
		c->path.cost_us = c->path.n_hops == 1 ? direct.cost_us : relayed.cost_us;
	choice_run(c, &best, &direct, &params, now);
}

static void traces(void **state)
{
	static const struct trace table[] = {
		{ "a better path is taken after the hold-time",
		  { 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20 },
		  { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 },
		  "rrrrrrrrrrrr" },
		{ "a short peak changes nothing",
		  { 20, 20, 20, 20, 60, 60, 20, 20, 20, 20, 20, 20 },
		  { 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30 },
		  "dddddddddddd" },
		{ "a long peak changes it once",
		  { 20, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60 },
		  { 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30 },
		  "ddddddddddrr" },
		{ "failure is answered at once, return waits",
		  { 20, 20, 0, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20 },
		  { 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30 },
		  "ddrrrrrrrrrrd" },
		{ "both fail, the first to return is taken",
		  { 20, 0, 0, 0, 20, 20 },
		  { 30, 0, 0, 30, 30, 30 },
		  "d--rrr" },
		{ "near equals stay",
		  { 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20 },
		  { 21, 19, 21, 19, 21, 19, 21, 19, 21, 19, 21, 19, 21, 19 },
		  "dddddddddddddd" },
	};

	(void)state;
	for (size_t i = 0; i < array_size(table); i++) {
		struct choice c = { 0 };

		for (int t = 0; table[i].in_use[t]; t++) {
			one_second(&c, table[i].direct_ms[t], table[i].relayed_ms[t], S(t + 1));
			if (letter(&c.path) != table[i].in_use[t])
				fail_msg("%s: second %d: %c", table[i].name, t, letter(&c.path));
		}
	}
}

/* Under random costs, hold-time always separates a voluntary change from the previous change. */
static void changes_keep_their_distance(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct choice c = { 0 };
		mono_t last = MONO_NEVER;
		unsigned n_better = 0;

		random_seed(seed);
		for (int t = 1; t < 3000; t++) {
			uint32_t direct = random_below(50) ? 40 + random_below(40) : 0;
			uint32_t relayed = random_below(50) ? 40 + random_below(40) : 0;
			mono_t before = c.since;

			one_second(&c, direct, relayed, MS(t * 100));
			if (c.since.ns == before.ns)
				continue;
			if (c.path.n_hops && c.chosen_by == CHOICE_BETTER) {
				n_better++;
				if (mono_sub_ms(c.since, last) < params.hold_time_ms)
					fail_msg("seed %u step %d", (unsigned)seed, t);
			}
			last = c.since;
		}
		/* Without voluntary changes the property would be trivial. */
		assert_true(n_better > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_1_no_path),
		cmocka_unit_test(rule_2_first),
		cmocka_unit_test(rule_3_failover),
		cmocka_unit_test(rule_4_best),
		cmocka_unit_test(rule_5_threshold),
		cmocka_unit_test(rule_5_returns_to_the_direct_path),
		cmocka_unit_test(rule_5_says_what_it_would_take),
		cmocka_unit_test(equal_paths_do_not_take_turns),
		cmocka_unit_test(rule_6_hold_down),
		cmocka_unit_test(rule_6_holds_no_bad_path),
		cmocka_unit_test(rule_5_variation_margin),
		cmocka_unit_test(rule_5_long_term),
		cmocka_unit_test(rule_3_silent),
		cmocka_unit_test(changed_hold_time_counts_at_once),
		cmocka_unit_test(rule_7_better),
		cmocka_unit_test(reasons_have_words),
		cmocka_unit_test(traces),
		cmocka_unit_test(changes_keep_their_distance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
