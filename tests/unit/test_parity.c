// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks with parity: headers (wire/datagram/parity), the code (fwd/send/coding) and recovery
 * (fwd/in/recovery). Recovery sees every pattern of losses of small blocks, random patterns of
 * large ones, and forged input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/defs.h"
#include "fwd/in/received_tables.h"
#include "fwd/send/send_state.h"
#include "golden.h"
#include "random.h"
#include "wire/datagram/leon.h"

#define SOURCE 0xc0000207u
#define BASE   (0x0006437e2a1b00ULL)

/* --- headers --- */

static void document(void **state)
{
	struct parity_hdr frame = { 2, BASE, LEON_FRAME, 3, 3, 0 },
			  parity = { 2, BASE, 0, 0, 1, 5 };
	struct parity_symbol s = { LEON_FRAME, 3, LEON_F_CSUM_PARTIAL, 60 };
	uint8_t buf[PARITY_HDR_LEN];

	(void)state;
	parity_encode(&frame, buf);
	assert_golden("parity-frame", buf, PARITY_FRAME_HDR_LEN);
	parity_encode(&parity, buf);
	assert_golden("parity", buf, PARITY_HDR_LEN);
	parity_symbol_encode(&s, buf);
	assert_golden("parity-symbol", buf, PARITY_SYMBOL_HDR);
}

/* Two symbols and their three parities, with the bytes of protocol.md. */
static void document_code(void **state)
{
	static const uint8_t a[] = { 0x11, 0x22, 0x33 }, b[] = { 0x44 };
	struct coding_payload p = { .body = a, .body_len = sizeof(a) },
			      q = { .body = b, .body_len = 1 };
	struct coding c;
	struct coding_block *k;

	(void)state;
	coding_init(&c);
	k = &c.block[0];
	coding_open(&c, k, BASE, (mono_t){ 1 });
	coding_add(&c, k, LEON_FRAME, 0, &p);
	k->first = 1;
	coding_add(&c, k, LEON_FRAME, LEON_F_CSUM_PARTIAL, &q);
	assert_int_equal(k->longest, 7);
	assert_golden("parity-rows", k->row[0], 7);
	coding_fini(&c);
}

static int decode(struct parity_hdr h, size_t payload)
{
	uint8_t buf[PARITY_HDR_LEN + 8] = { 0 };
	size_t len = h.kind ? PARITY_FRAME_HDR_LEN : PARITY_HDR_LEN;
	struct parity_hdr back;
	int n;

	parity_encode(&h, buf);
	assert_true(parity_is(buf, len));
	n = parity_decode(buf, len + payload, &back);
	if (n > 0) {
		assert_int_equal(n, len);
		assert_true(back.worker == h.worker && back.block == h.block &&
			    back.kind == h.kind);
		assert_true(back.first == h.first && back.index == h.index);
		assert_int_equal(back.symbols, h.kind ? 0 : h.symbols);
	}
	return n;
}

static void ranges(void **state)
{
	uint8_t other[COPY_HDR_LEN + 4] = { 0 };
	struct parity_hdr h;

	(void)state;
	assert_int_equal(decode((struct parity_hdr){ 7, BASE, LEON_FRAME, 99, 99, 0 }, 1), 10);
	assert_int_equal(decode((struct parity_hdr){ 0, 0, LEON_FRAGMENT, 0, 99, 0 }, 1), 10);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, 0, 0, 19, 100 }, 1), 11);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, 0, 0, 0, 1 }, 1), 11);
	/* No payload. */
	assert_int_equal(decode((struct parity_hdr){ 7, BASE, LEON_FRAME, 99, 99, 0 }, 0),
			 -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, 0, 0, 19, 100 }, 0), -EBADMSG);
	/* Worker, index, row, symbols and kind out of range. */
	assert_int_equal(decode((struct parity_hdr){ 8, BASE, LEON_FRAME, 0, 0, 0 }, 1), -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, LEON_FRAME, 100, 100, 0 }, 1),
			 -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, LEON_FRAGMENT, 2, 1, 0 }, 1),
			 -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, LEON_FRAME, 1, 2, 0 }, 1), -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, LEON_BUNDLE, 2, 2, 0 }, 1), -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, 0, 0, 20, 100 }, 1), -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, 0, 0, 0, 101 }, 1), -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, 0, 0, 0, 0 }, 1), -EBADMSG);
	assert_int_equal(decode((struct parity_hdr){ 0, BASE, 0, 5, 0, 9 }, 1), -EBADMSG);
	/* A copy is no part of a block. */
	copy_encode(&(struct copy_hdr){ 1, 5, LEON_FRAME }, other);
	assert_false(parity_is(other, sizeof(other)));
	assert_int_equal(parity_decode(other, sizeof(other), &h), -EBADMSG);
	assert_false(parity_is(other, COPY_HDR_LEN - 1));
}

static void redundancy(void **state)
{
	(void)state;
	assert_int_equal(parity_rows(1), 1);
	assert_int_equal(parity_rows(2), 2);
	assert_int_equal(parity_rows(5), 2);
	assert_int_equal(parity_rows(15), 4);
	assert_int_equal(parity_rows(16), 4);
	assert_int_equal(parity_rows(PARITY_FRAMES), PARITY_ROWS);
	for (unsigned i = 1; i < PARITY_FRAMES; i++)
		assert_true(parity_rows(i) <= parity_rows(i + 1));
}

/* --- the code --- */

struct symbol {
	struct parity_hdr h;
	uint8_t flags;
	size_t len;
	uint8_t payload[PARITY_PAYLOAD_MAX];
};

struct made {
	unsigned n;
	struct symbol symbol[PARITY_FRAMES];
	struct coding c;
	struct coding_block *b;
};

/* A block of n frames of random lengths, the last of the greatest length. */
static struct made *make(unsigned n, uint64_t base)
{
	struct made *m = test_calloc(1, sizeof(*m));

	m->n = n;
	coding_init(&m->c);
	m->b = &m->c.block[0];
	coding_open(&m->c, m->b, base, (mono_t){ 1 });
	for (unsigned i = 0; i < n; i++) {
		struct symbol *s = &m->symbol[i];
		struct coding_payload p = { s->payload, s->payload, 0, 0 };

		s->len = i + 1 == n ? PARITY_PAYLOAD_MAX : 1 + random_below(PARITY_PAYLOAD_MAX);
		s->flags = random_below(2) ? LEON_F_CSUM_PARTIAL : 0;
		for (size_t k = 0; k < s->len; k++)
			s->payload[k] = (uint8_t)random_below(256);
		m->b->first = m->b->symbols;
		s->h = coding_header(m->b, 3, LEON_FRAME);
		p.head_len = random_below((uint32_t)s->len + 1);
		p.body = s->payload + p.head_len;
		p.body_len = s->len - p.head_len;
		coding_add(&m->c, m->b, LEON_FRAME, s->flags, &p);
	}
	return m;
}

static void unmake(struct made *m)
{
	coding_fini(&m->c);
	test_free(m);
}

static struct recovery_result give(struct recovery *r, const struct symbol *s)
{
	return recovery_add(r, SOURCE, &s->h, s->flags, s->payload, s->len);
}

static struct recovery_result give_parity(struct recovery *r, const struct made *m, unsigned row)
{
	struct parity_hdr h = { 3, m->b->base, 0, 0, (uint8_t)row, (uint8_t)m->n };

	return recovery_add_parity(r, SOURCE, &h, m->b->row[row], m->b->longest);
}

/* The restored symbols are exactly the lost ones. */
static void check_restored(const struct made *m, struct recovery_block *b, const bool *lost)
{
	struct recovery_symbol s;
	unsigned at = 0;

	for (unsigned i = 0; i < m->n; i++) {
		const struct symbol *of = &m->symbol[i];

		if (!lost[i])
			continue;
		assert_true(recovery_next(b, &at, &s));
		assert_true(s.restored && s.h.index == i && s.h.first == i);
		assert_true(s.h.kind == LEON_FRAME && s.h.block == m->b->base && s.h.worker == 3);
		assert_int_equal(s.flags, of->flags);
		assert_int_equal(s.len, of->len);
		assert_memory_equal(s.payload, of->payload, s.len);
	}
	assert_false(recovery_next(b, &at, &s));
	recovery_end(b);
}

/* Delivers the rest of a block, its parities last. It is restored if the parities suffice. */
static void deliver(struct recovery *r, const struct made *m, unsigned rows, const bool *lost,
		    const bool *lost_row)
{
	unsigned n_lost = 0, n_rows = 0;

	for (unsigned i = 0; i < m->n; i++) {
		n_lost += lost[i];
		if (!lost[i])
			assert_int_equal(give(r, &m->symbol[i]).verdict, RECOVERY_KEPT);
	}
	for (unsigned k = 0; k < rows; k++) {
		struct recovery_result res;

		if (lost_row[k])
			continue;
		res = give_parity(r, m, k);
		assert_int_equal(res.verdict,
				 n_rows >= n_lost && n_rows ? RECOVERY_UNNEEDED : RECOVERY_KEPT);
		n_rows++;
		assert_true(!res.restored == (!n_lost || n_rows != n_lost));
		if (res.restored)
			check_restored(m, res.restored, lost);
	}
}

static void all_patterns(void **state)
{
	struct recovery *r = recovery_new();
	uint64_t base = BASE;

	(void)state;
	random_seed(1);
	for (unsigned n = 1; n <= 8; n++) {
		unsigned rows = parity_rows(n);
		struct made *m = make(n, base);

		for (unsigned pattern = 0; pattern < 1u << (n + rows); pattern++) {
			bool lost[8], lost_row[4];

			for (unsigned i = 0; i < n; i++)
				lost[i] = pattern >> i & 1;
			for (unsigned k = 0; k < rows; k++)
				lost_row[k] = pattern >> (n + k) & 1;
			/* Each pattern has a block of its own, with equal symbols. */
			m->b->base = base += 1u << PARITY_INDEX_BITS;
			for (unsigned i = 0; i < n; i++)
				m->symbol[i].h.block = base;
			deliver(r, m, rows, lost, lost_row);
		}
		unmake(m);
	}
	recovery_free(r);
}

static void large_blocks(void **state)
{
	struct recovery *r = recovery_new();
	uint64_t base = BASE;

	(void)state;
	random_seed(2);
	for (unsigned round = 0; round < 60; round++) {
		bool lost[PARITY_FRAMES] = { false }, lost_row[PARITY_ROWS] = { false };
		unsigned n = PARITY_FRAMES - random_below(20),
			 losses = random_below(PARITY_ROWS + 1);
		struct made *m = make(n, base += 1u << PARITY_INDEX_BITS);

		for (unsigned i = 0; i < losses; i++)
			lost[random_below(n)] = true;
		for (unsigned i = losses; i < PARITY_ROWS; i++)
			lost_row[random_below(PARITY_ROWS)] = true;
		deliver(r, m, PARITY_ROWS, lost, lost_row);
		unmake(m);
	}
	recovery_free(r);
}

/* A parity that overtakes the frames also restores frames in flight. */
static void parities_first(void **state)
{
	struct recovery *r = recovery_new();
	struct made *m = make(5, BASE);
	bool lost[5] = { true, false, false, true, false };
	struct recovery_result res;

	(void)state;
	assert_int_equal(give_parity(r, m, 1).verdict, RECOVERY_KEPT);
	assert_int_equal(give_parity(r, m, 0).verdict, RECOVERY_KEPT);
	assert_int_equal(give_parity(r, m, 0).verdict, RECOVERY_UNNEEDED);
	assert_int_equal(give(r, &m->symbol[1]).verdict, RECOVERY_KEPT);
	assert_int_equal(give(r, &m->symbol[1]).verdict, RECOVERY_UNNEEDED);
	assert_null(give(r, &m->symbol[4]).restored);
	res = give(r, &m->symbol[2]);
	assert_non_null(res.restored);
	/* Another worker does not wait for the block. */
	assert_int_equal(give(r, &m->symbol[0]).verdict, RECOVERY_BUSY);
	check_restored(m, res.restored, lost);
	assert_int_equal(give(r, &m->symbol[0]).verdict, RECOVERY_UNNEEDED);
	assert_int_equal(give_parity(r, m, 0).verdict, RECOVERY_UNNEEDED);
	unmake(m);
	recovery_free(r);
}

/* A newer block of the same worker replaces an old one, and not the reverse. */
static void replacement(void **state)
{
	struct recovery *r = recovery_new();
	struct made *old = make(5, BASE),
		    *new = make(5, BASE + (RECOVERY_BLOCKS << PARITY_INDEX_BITS));

	(void)state;
	give_parity(r, old, 0);
	give(r, &old->symbol[0]);
	give(r, &old->symbol[1]);
	assert_int_equal(give(r, &new->symbol[0]).unrecoverable, 3);
	assert_int_equal(give(r, &old->symbol[2]).verdict, RECOVERY_UNNEEDED);
	assert_int_equal(give_parity(r, new, 0).verdict, RECOVERY_KEPT);
	unmake(old);
	unmake(new);
	recovery_free(r);
}

/* Counters begin at the clock of the source, which may have been set back. */
static void restart_with_an_earlier_clock(void **state)
{
	const uint64_t round = RECOVERY_BLOCKS << PARITY_INDEX_BITS;
	struct recovery *r = recovery_new();
	struct made *before = make(2, BASE + 4 * round), *late = make(2, BASE + round),
		    *after = make(2, BASE);
	const bool lost[2] = { false, true };
	struct recovery_result res;

	(void)state;
	give_parity(r, before, 0);
	assert_int_equal(give_parity(r, late, 0).verdict, RECOVERY_UNNEEDED);
	assert_int_equal(give(r, &after->symbol[0]).verdict, RECOVERY_KEPT);
	res = give_parity(r, after, 0);
	assert_non_null(res.restored);
	check_restored(after, res.restored, lost);
	unmake(before);
	unmake(late);
	unmake(after);
	recovery_free(r);
}

/* Fragments of a frame are delivered together, because they may have reached another worker. */
static void fragments(void **state)
{
	struct recovery *r = recovery_new();
	struct made *m = make(6, BASE);
	struct coding c;
	struct recovery_symbol s;
	struct recovery_result res;
	unsigned at = 0, seen = 0;

	(void)state;
	coding_init(&c);
	coding_open(&c, &c.block[0], BASE, (mono_t){ 1 });
	/* Symbols 1 to 3 are one frame, symbols 4 and 5 another one. */
	for (unsigned i = 0; i < 6; i++) {
		struct symbol *of = &m->symbol[i];
		struct coding_payload p = { of->payload, of->payload, of->len, 0 };

		c.block[0].first = i >= 4 ? 4 : min_of(i, 1u);
		of->h = coding_header(&c.block[0], 3, i ? LEON_FRAGMENT : LEON_FRAME);
		coding_add(&c, &c.block[0], of->h.kind, of->flags, &p);
	}
	memcpy(m->b->row, c.block[0].row, sizeof(m->b->row));
	for (unsigned i = 0; i < 6; i++)
		if (i != 2)
			give(r, &m->symbol[i]);
	res = give_parity(r, m, 0);
	assert_non_null(res.restored);
	while (recovery_next(res.restored, &at, &s)) {
		assert_true(s.h.first == 1 && s.h.kind == LEON_FRAGMENT);
		assert_true(s.restored == (s.h.index == 2));
		assert_int_equal(s.len, m->symbol[s.h.index].len);
		assert_memory_equal(s.payload, m->symbol[s.h.index].payload, s.len);
		seen++;
	}
	assert_int_equal(seen, 3);
	recovery_end(res.restored);
	coding_fini(&c);
	unmake(m);
	recovery_free(r);
}

/* --- two workers --- */

#define SHARED_BLOCKS 2000

struct shared {
	struct recovery *r;
	const struct made *m;
	atomic_uint at, restored, busy;
};

/* Adds the symbols, or the parities, of each block. Checks and counts restored blocks. */
static void give_all(struct shared *s, bool parities)
{
	static const bool lost[6] = { false, true, false, false, true, false };

	for (unsigned n = 0; n < SHARED_BLOCKS; n++) {
		uint64_t base = BASE + ((uint64_t)n << PARITY_INDEX_BITS);

		/* Both threads work on one block, or nearly so. */
		for (atomic_fetch_add(&s->at, 1); atomic_load(&s->at) < 2 * n + 1;)
			;
		for (unsigned i = 0; i < (parities ? 3u : 6u); i++) {
			struct parity_hdr h = { 3, base, 0, 0, (uint8_t)i, 6 };
			const struct symbol *of = &s->m->symbol[i];
			struct recovery_result res;

			if (!parities && lost[i])
				continue;
			if (!parities)
				h = (struct parity_hdr){ 3,	      base,	   LEON_FRAME,
							 of->h.first, of->h.index, 0 };
			res = parities ? recovery_add_parity(s->r, SOURCE, &h, s->m->b->row[i],
							     s->m->b->longest)
				       : recovery_add(s->r, SOURCE, &h, of->flags, of->payload,
						      of->len);
			atomic_fetch_add(&s->busy, res.verdict == RECOVERY_BUSY);
			if (!res.restored)
				continue;
			atomic_fetch_add(&s->restored, 1);
			recovery_end(res.restored);
		}
	}
}

static void *other_worker(void *arg)
{
	give_all(arg, true);
	return NULL;
}

static void two_workers(void **state)
{
	struct made *m = make(6, BASE);
	struct shared s = { .r = recovery_new(), .m = m };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, other_worker, &s), 0);
	give_all(&s, false);
	pthread_join(thread, NULL);
	assert_true(s.restored <= SHARED_BLOCKS);
	/* Three parities and two losses: each busy block costs one symbol. */
	assert_true(s.restored + s.busy >= SHARED_BLOCKS);
	recovery_free(s.r);
	unmake(m);
}

/* --- forged input of a member --- */

static void forged(void **state)
{
	struct recovery *r = recovery_new();
	struct made *m = make(5, BASE);
	struct parity_hdr h = { 3, BASE, 0, 0, 0, 5 };
	uint8_t garbage[PARITY_SYMBOL_MAX + 1];
	struct recovery_symbol s;
	struct recovery_result res;
	unsigned at = 0;

	(void)state;
	memset(garbage, 0xff, sizeof(garbage));
	/* Lengths. */
	assert_int_equal(recovery_add_parity(r, SOURCE, &h, garbage, PARITY_SYMBOL_MAX + 1).verdict,
			 RECOVERY_BAD);
	assert_int_equal(recovery_add_parity(r, SOURCE, &h, garbage, PARITY_SYMBOL_HDR).verdict,
			 RECOVERY_BAD);
	assert_int_equal(recovery_add(r, SOURCE, &m->symbol[0].h, 0, garbage,
				      PARITY_PAYLOAD_MAX + 1)
				 .verdict,
			 RECOVERY_BAD);
	/* A second parity of other length or for another number of symbols. */
	assert_int_equal(give_parity(r, m, 0).verdict, RECOVERY_KEPT);
	h.index = 1;
	assert_int_equal(recovery_add_parity(r, SOURCE, &h, garbage, 100).verdict, RECOVERY_BAD);
	h.symbols = 4;
	assert_int_equal(recovery_add_parity(r, SOURCE, &h, garbage, m->b->longest).verdict,
			 RECOVERY_BAD);
	/* A parity without meaning: the restored symbol has impossible values. */
	h = (struct parity_hdr){ 4, BASE, 0, 0, 0, 1 };
	res = recovery_add_parity(r, SOURCE, &h, garbage, 64);
	assert_non_null(res.restored);
	assert_true(recovery_next(res.restored, &at, &s));
	assert_true(s.restored && s.len == 0);
	assert_false(recovery_next(res.restored, &at, &s));
	recovery_end(res.restored);
	/* A symbol beyond the number of the parity, or longer than the parity. */
	h = (struct parity_hdr){ 5, BASE, LEON_FRAME, 9, 9, 0 };
	recovery_add(r, SOURCE, &h, 0, garbage, 10);
	h = (struct parity_hdr){ 5, BASE, 0, 0, 0, 2 };
	res = recovery_add_parity(r, SOURCE, &h, garbage, 64);
	assert_true(res.verdict == RECOVERY_BAD && !res.restored);
	h = (struct parity_hdr){ 6, BASE, LEON_FRAME, 0, 0, 0 };
	recovery_add(r, SOURCE, &h, 0, garbage, 100);
	h = (struct parity_hdr){ 6, BASE, 0, 0, 0, 2 };
	res = recovery_add_parity(r, SOURCE, &h, garbage, 64);
	assert_true(res.verdict == RECOVERY_BAD && !res.restored);
	unmake(m);
	recovery_free(r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(document),	  cmocka_unit_test(document_code),
		cmocka_unit_test(ranges),	  cmocka_unit_test(redundancy),
		cmocka_unit_test(all_patterns),	  cmocka_unit_test(large_blocks),
		cmocka_unit_test(parities_first), cmocka_unit_test(replacement),
		cmocka_unit_test(fragments),	  cmocka_unit_test(forged),
		cmocka_unit_test(two_workers),	  cmocka_unit_test(restart_with_an_earlier_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
