// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flow queue: rounds and fairness, priority of sparse flows, order within a flow, and shedding.
 * CoDel agrees with the pseudo-code of RFC 8289 in floating point. All events may have one time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/defs.h"
#include "fwd/queue/fq.h"
#include "random.h"

#define ITEMS 4096

struct numbered {
	struct fq_item item;
	uint32_t flow, number;
	bool in_use;
};

static struct fq q;
static struct fq_chain dropped_items;
static struct numbered pool[ITEMS];
static const struct fq_params internet = { FQ_TARGET_NS, FQ_INTERVAL_NS, 1514 };

static int setup(void **state)
{
	(void)state;
	dropped_items = (struct fq_chain){ 0 };
	fq_init(&q, &internet, &dropped_items);
	memset(pool, 0, sizeof(pool));
	return 0;
}

static mono_t at_us(int64_t us)
{
	return (mono_t){ NS_PER_S + us * NS_PER_US };
}

static struct numbered *put(uint32_t flow, uint32_t number, uint32_t len, mono_t now)
{
	for (unsigned i = 0; i < ITEMS; i++) {
		struct numbered *m = &pool[i];

		if (m->in_use)
			continue;
		*m = (struct numbered){ { .len = len }, flow, number, true };
		fq_put(&q, &m->item, flow, now);
		return m;
	}
	fail_msg("the pool of the test is empty");
	return NULL;
}

static struct numbered *release(struct fq_item *item)
{
	struct numbered *m = (struct numbered *)item;

	if (!m)
		return NULL;
	assert_true(m->in_use);
	m->in_use = false;
	return m;
}

static struct numbered *next(mono_t now)
{
	return release(fq_next(&q, now));
}

static unsigned drops(void)
{
	unsigned n = 0;

	while (release(fq_chain_take(&dropped_items)))
		n++;
	return n;
}

static void empty(void **state)
{
	(void)state;
	assert_null(fq_next(&q, at_us(0)));
	assert_null(fq_shed(&q, FQ_LACK_LARGE));
	assert_null(fq_chain_take(&dropped_items));
	/* Items without a byte, and all items at one time. */
	for (unsigned i = 0; i < 300; i++)
		put(1, i, i % 2 ? 0 : 1500, at_us(0));
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(next(at_us(0))->number, i);
	assert_null(next(at_us(0)));
	assert_int_equal(q.n, 0);
	assert_int_equal(q.bytes, 0);
	assert_int_equal(drops(), 0);
}

/* Eight flows with a permanent backlog and items of different sizes. */
static void eight_flows_share(void **state)
{
	static const uint32_t len[8] = { 66, 200, 600, 1514, 1514, 1000, 65000, 20000 };
	double sum = 0, squares = 0;
	uint64_t sent[8] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		for (unsigned k = 0; k < 4; k++)
			put(i, k, len[i], at_us(0));
	for (unsigned i = 0; i < 200000; i++) {
		struct numbered *m = next(at_us(0));

		sent[m->flow] += m->item.len;
		put(m->flow, 0, len[m->flow], at_us(0));
	}
	for (unsigned i = 0; i < 8; i++) {
		sum += (double)sent[i];
		squares += (double)sent[i] * (double)sent[i];
	}
	/* Jain's index. */
	assert_true(sum * sum / (8 * squares) > 0.999);
}

static void sparse_flow_passes(void **state)
{
	(void)state;
	for (unsigned flow = 0; flow < 4; flow++)
		for (unsigned i = 0; i < 20; i++)
			put(flow, i, 65000, at_us(0));
	for (unsigned i = 0; i < 8; i++)
		next(at_us(i));
	for (unsigned i = 0; i < 10; i++) {
		unsigned before = 0;

		put(99, i, 98, at_us(10 + i));
		while (next(at_us(10 + i))->flow != 99)
			before++;
		/* Each backlogged flow sends at most one item first. */
		assert_in_range(before, 0, i ? 4 : 0);
		assert_int_equal(next(at_us(10 + i))->item.len, 65000);
	}
	/* A second item before the next round of its flow has no priority: a flow that exceeds a
	 * quantum is a bulk flow. */
	for (unsigned i = 0; i < 100; i++)
		put(98, i, 1000, at_us(100));
	assert_int_equal(next(at_us(100))->flow, 98);
	assert_int_equal(next(at_us(100))->flow, 98);
	assert_int_not_equal(next(at_us(100))->flow, 98);
}

/* Sixteen flows have a backlog, and a flow of small items sends more than once per round. The items
 * of this flow pass each time, because the flow sends less than a fair share. */
static void sparse_flow_passes_within_a_round(void **state)
{
	(void)state;
	for (unsigned flow = 0; flow < 16; flow++)
		for (unsigned i = 0; i < 50; i++)
			put(flow, i, 1514, at_us(0));
	for (unsigned i = 0; i < 16; i++)
		next(at_us(0));
	for (unsigned i = 0; i < 60; i++) {
		put(99, i, 98, at_us(0));
		assert_int_equal(next(at_us(0))->flow, 99);
		for (unsigned k = 0; k < 8; k++)
			assert_int_not_equal(next(at_us(0))->flow, 99);
	}
}

/* A flow that sends little each time without a pause gets a fair share. */
static void passing_is_bounded_by_a_share(void **state)
{
	static const uint32_t len[] = { 1, 98, 600, 1514 };

	(void)state;
	for (unsigned n = 0; n < array_size(len); n++) {
		uint64_t sent[9] = { 0 }, others = 0;

		setup(state);
		for (unsigned flow = 0; flow < 8; flow++)
			for (unsigned i = 0; i < 4; i++)
				put(flow, i, 1514, at_us(0));
		put(8, 0, len[n], at_us(0));
		for (unsigned i = 0; i < 200000; i++) {
			struct numbered *m = next(at_us(0));

			sent[m->flow] += m->item.len;
			put(m->flow, 0, m->flow < 8 ? 1514 : len[n], at_us(0));
		}
		for (unsigned flow = 0; flow < 8; flow++)
			others += sent[flow];
		assert_true((double)sent[8] <= 1.02 * (double)others / 8);
		assert_true((double)sent[8] >= .98 * (double)others / 8);
	}
}

/* After any sequence of put, take, drop and shed, the numbers of a flow rise and no item is lost or
 * duplicated. */
static void check_order(uint32_t hashes_apart)
{
	uint32_t put_next[40] = { 0 }, seen[40] = { 0 };
	unsigned n_put = 0, n_out = 0;
	int64_t us = 0;

	random_seed(7);
	for (unsigned step = 0; step < 200000; step++) {
		uint32_t flow = random_below(40);
		struct numbered *m;

		us += random_below(300);
		if (q.n < 3000 && random_below(100) < 52) {
			m = put(flow * hashes_apart, ++put_next[flow], random_below(9000),
				at_us(us));
			m->item.takes_marks = flow % 3 == 0;
			n_put++;
			continue;
		}
		m = random_below(50) ? next(at_us(us)) : release(fq_shed(&q, FQ_LACK_LARGE));
		n_out += drops() + (m != NULL);
		if (!m)
			continue;
		flow = m->flow / hashes_apart;
		assert_true(m->number > seen[flow]);
		seen[flow] = m->number;
	}
	while (next(at_us(us)))
		n_out++;
	assert_int_equal(n_out + drops(), n_put);
	assert_int_equal(q.bytes, 0);
	for (unsigned i = 0; i < FQ_FLOWS; i++)
		assert_int_equal(q.backlog[i], 0);
}

/* Flows with places of their own, and 40 flows of one set. */
static void order_is_kept(void **state)
{
	(void)state;
	check_order(1);
	check_order(FQ_FLOWS);
}

/* The hashes of a sparse flow and of seven bulk flows select one place. */
static void flows_of_one_hash_bucket_share_no_turn(void **state)
{
	(void)state;
	for (uint32_t flow = 1; flow < FQ_WAYS; flow++)
		for (unsigned i = 0; i < 100; i++)
			put(flow * FQ_FLOWS, i, 1514, at_us(0));
	for (unsigned i = 0; i < 20; i++)
		next(at_us(0));
	put(FQ_WAYS * FQ_FLOWS, 1, 64, at_us(0));
	assert_int_equal(next(at_us(0))->flow, FQ_WAYS * FQ_FLOWS);
	/* An eighth bulk flow shares. */
	put((FQ_WAYS + 1) * FQ_FLOWS, 1, 1514, at_us(0));
	put((FQ_WAYS + 2) * FQ_FLOWS, 1, 64, at_us(0));
	assert_int_equal(next(at_us(0))->flow, (FQ_WAYS + 1) * FQ_FLOWS);
	assert_int_not_equal(next(at_us(0))->flow, (FQ_WAYS + 2) * FQ_FLOWS);
}

static void fattest_is_shed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++)
		put(3, i, 9000, at_us(0));
	for (unsigned i = 0; i < 100; i++)
		put(4, i, 100, at_us(0));
	for (unsigned i = 0; i < 3; i++) {
		struct numbered *m = release(fq_shed(&q, FQ_LACK_LARGE));

		assert_int_equal(m->flow, 3);
		assert_int_equal(m->number, i);
	}
	/* 18,000 and 10,000 bytes are left. After one more item, the other flow is the longest. */
	assert_int_equal(release(fq_shed(&q, FQ_LACK_LARGE))->flow, 3);
	assert_int_equal(release(fq_shed(&q, FQ_LACK_LARGE))->flow, 4);
	/* A flow of the active list is shed completely. */
	while (release(fq_shed(&q, FQ_LACK_LARGE)))
		;
	assert_null(next(at_us(1)));
	put(3, 9, 10, at_us(1));
	assert_int_equal(next(at_us(1))->number, 9);
}

/* --- CoDel --- */

static double root(double n)
{
	double r = n;

	for (unsigned i = 0; i < 60; i++)
		r = (r + n / r) / 2;
	return r;
}

/* RFC 8289, section 5, as printed: one queue, times in seconds. */
struct rfc {
	double t[ITEMS];
	uint32_t number[ITEMS];
	unsigned head, tail, size;
	double first_above, drop_next;
	unsigned count, lastcount;
	bool dropping;
};

static bool rfc_dodequeue(struct rfc *r, double now, unsigned *number, bool *ok)
{
	*ok = false;
	if (r->head == r->tail) {
		r->first_above = 0;
		return false;
	}
	*number = r->number[r->head % ITEMS];
	double sojourn = now - r->t[r->head++ % ITEMS];

	if (sojourn < 0.005 || (r->tail - r->head) * r->size <= r->size)
		r->first_above = 0;
	else if (r->first_above == 0)
		r->first_above = now + 0.1;
	else
		*ok = now >= r->first_above;
	return true;
}

static bool rfc_dequeue(struct rfc *r, double now, unsigned *number, unsigned *dropped)
{
	bool ok, got = rfc_dodequeue(r, now, number, &ok);

	if (r->dropping) {
		if (!ok)
			r->dropping = false;
		while (now >= r->drop_next && r->dropping) {
			(*dropped)++;
			r->count++;
			got = rfc_dodequeue(r, now, number, &ok);
			if (!ok)
				r->dropping = false;
			else
				r->drop_next += 0.1 / root(r->count);
		}
	} else if (ok) {
		unsigned delta = r->count - r->lastcount;

		(*dropped)++;
		got = rfc_dodequeue(r, now, number, &ok);
		r->dropping = true;
		r->count = 1;
		if (delta > 1 && now - r->drop_next < 16 * 0.1)
			r->count = delta;
		r->drop_next = now + 0.1 / root(r->count);
		r->lastcount = r->count;
	}
	return got;
}

/* For one minute, a flow arrives faster and then slower than it leaves. Both implementations drop
 * equal items. */
static void codel_as_printed(void **state)
{
	static struct rfc rfc;
	unsigned dropped = 0, rfc_dropped = 0, number = 0, at_most = 0, exact = 0;

	(void)state;
	random_seed(5);
	rfc = (struct rfc){ .size = 1500 };
	for (int64_t us = 0; us < 60000000; us += 1003) {
		unsigned expected = 0;
		bool fast = us / 4000000 % 2 == 0;
		struct numbered *m;

		for (unsigned i = 0; i < random_below(fast ? 4 : 2) && q.n < 2000; i++) {
			put(1, number, 1500, at_us(us));
			rfc.t[rfc.tail % ITEMS] = (double)at_us(us).ns / 1e9;
			rfc.number[rfc.tail++ % ITEMS] = number++;
		}
		m = next(at_us(us));
		dropped += drops();
		assert_int_equal(rfc_dequeue(&rfc, (double)at_us(us).ns / 1e9, &expected,
					     &rfc_dropped),
				 m != NULL);
		/* With integer roots a drop may come one turn later. */
		assert_in_range(dropped + 1, rfc_dropped, rfc_dropped + 2);
		if (m)
			assert_in_range(m->number + 1, expected, expected + 2);
		exact += dropped == rfc_dropped;
		at_most = q.n > at_most ? q.n : at_most;
	}
	assert_true(dropped > 100);
	assert_true(at_most > 50);
	assert_true(exact > 50000); /* of 59,821 turns */
}

/* With ECN, marks replace drops: no item is lost, and the number of congestion signals stays
 * equal. */
static void marks_instead(void **state)
{
	unsigned marked = 0, out = 0, in = 0;

	(void)state;
	for (int64_t ms = 0; ms < 3000; ms++) {
		struct numbered *m;

		for (unsigned i = 0; i < 2 && q.n < 2000; i++)
			put(1, in++, 1500, at_us(ms * 1000))->item.takes_marks = true;
		m = next(at_us(ms * 1000));
		assert_int_equal(m->number, out++);
		marked += m->item.marked;
		assert_int_equal(drops(), 0);
	}
	assert_true(marked > 20);
}

/* A queue below the target has no drops, even if one item takes longer than the target. */
static void no_drop_below_target(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms < 2000; ms += 10) {
		put(1, 0, 1500, at_us(ms * 1000));
		assert_non_null(next(at_us(ms * 1000 + 8000)));
	}
	for (int64_t ms = 2000; ms < 4000; ms += 4) {
		put(1, 0, 1500, at_us(ms * 1000));
		put(1, 1, 1500, at_us(ms * 1000));
		assert_non_null(next(at_us(ms * 1000)));
		assert_non_null(next(at_us(ms * 1000 + 3000)));
	}
	assert_int_equal(drops(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(empty, setup),
		cmocka_unit_test_setup(eight_flows_share, setup),
		cmocka_unit_test_setup(sparse_flow_passes, setup),
		cmocka_unit_test_setup(sparse_flow_passes_within_a_round, setup),
		cmocka_unit_test_setup(passing_is_bounded_by_a_share, setup),
		cmocka_unit_test_setup(order_is_kept, setup),
		cmocka_unit_test_setup(flows_of_one_hash_bucket_share_no_turn, setup),
		cmocka_unit_test_setup(fattest_is_shed, setup),
		cmocka_unit_test_setup(codel_as_printed, setup),
		cmocka_unit_test_setup(marks_instead, setup),
		cmocka_unit_test_setup(no_drop_below_target, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
