// SPDX-License-Identifier: GPL-2.0-or-later
/* leon-accel/peer/pack and fifo: unpacked data equals the original, and repeated data is not sent
 * again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "frames/fifo.h"
#include "peer/pack.h"

#define BLOCK  65536
#define BLOCKS 64 /* 4 MiB */

static uint8_t data[BLOCKS][BLOCK], packed[PACK_BOUND(BLOCK)], out[BLOCK + 1];

static void fill(void)
{
	uint64_t x = 88172645463325252ULL;

	for (unsigned i = 0; i < BLOCKS; i++)
		for (unsigned k = 0; k < BLOCK; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			data[i][k] = (uint8_t)(x >> 32);
		}
}

static size_t round_trip(struct packer *p, struct unpacker *u, const void *in, size_t len)
{
	size_t n = packer_run(p, in, len, packed, sizeof(packed));

	assert_true(n > 0 && n <= PACK_BOUND(len));
	assert_int_equal(unpacker_run(u, packed, n, out, sizeof(out)), len);
	assert_memory_equal(in, out, len);
	return n;
}

static void test_second_time_is_free(void **state)
{
	struct packer *p = packer_new(23, 1);
	struct unpacker *u = unpacker_new(23);
	size_t first = 0, second = 0;

	(void)state;
	fill();
	for (unsigned i = 0; i < BLOCKS; i++)
		first += round_trip(p, u, data[i], BLOCK);
	/* The stream is unpacked in different portions. */
	for (size_t at = 0; at < sizeof(data); at += 30000) {
		size_t left = sizeof(data) - at;

		second += round_trip(p, u, (uint8_t *)data + at, left < 30000 ? left : 30000);
	}
	assert_true(first >= sizeof(data));
	assert_true(second * 100 < sizeof(data));
	packer_free(p);
	unpacker_free(u);
}

static size_t sent(struct packer *p, struct pack_benefit *w, const uint8_t *in, size_t len)
{
	size_t n;

	if (!pack_has_benefit(w, 22))
		return len;
	n = packer_run(p, in, len, packed, sizeof(packed));
	pack_learn(w, len, n);
	return n;
}

/* Data of 4 MiB that does not shrink fills the cache only once. */
static void test_what_is_not_worth_it(void **state)
{
	struct packer *p = packer_new(22, 1);
	struct pack_benefit w = { 0 }, again = { 0 };
	unsigned packs = 0;
	size_t second = 0;

	(void)state;
	fill();
	for (unsigned i = 0; i < BLOCKS; i++)
		sent(p, &w, data[i], BLOCK);
	assert_false(pack_has_benefit(&w, 22));
	/* Subsequent bulk data does not displace the cached data. */
	for (unsigned i = 0; i < 2 * BLOCKS; i++)
		packs += pack_has_benefit(&w, 22);
	assert_true(packs >= 4 && packs <= 12);
	/* Another stream sends equal bytes. */
	for (unsigned i = 0; i < BLOCKS / 2; i++)
		second += sent(p, &again, data[i], BLOCK);
	assert_true(second * 100 < sizeof(data) / 2);
	/* A sample detects that the stream has begun to shrink. */
	memset(data, 'x', sizeof(data));
	for (unsigned i = 0; i < 16; i++)
		sent(p, &w, data[i], BLOCK);
	assert_true(w.unresponsive == 0 && pack_has_benefit(&w, 22));
	packer_free(p);
}

static void test_what_cannot_be_unpacked(void **state)
{
	struct packer *p = packer_new(20, 1);
	struct unpacker *u = unpacker_new(20);
	size_t n;

	(void)state;
	memset(data, 'x', sizeof(data));
	assert_int_equal(unpacker_run(u, "this is nothing", 15, out, sizeof(out)), 0);
	unpacker_free(u);
	/* The data exceeds the permitted size. */
	u = unpacker_new(20);
	n = packer_run(p, data, BLOCK, packed, sizeof(packed));
	assert_int_equal(unpacker_run(u, packed, n, out, BLOCK), 0);
	unpacker_free(u);
	/* The window exceeds the agreed size. */
	packer_free(p);
	p = packer_new(24, 1);
	u = unpacker_new(20);
	n = packer_run(p, data, BLOCK, packed, sizeof(packed));
	assert_int_equal(unpacker_run(u, packed, n, out, sizeof(out)), 0);
	packer_free(p);
	unpacker_free(u);
	packer_free(NULL);
	unpacker_free(NULL);
}

static void test_fifo(void **state)
{
	struct fifo f = { 0 };
	uint8_t next_in = 0, next_out = 0;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		size_t n = (i * 7919) % 1500, take;

		for (size_t k = 0; k < n; k++)
			fifo_reserve(&f, n)[k] = next_in++;
		fifo_added(&f, n);
		take = (i * 104729) % (f.len + 1);
		for (size_t k = 0; k < take; k++)
			assert_int_equal(fifo_data(&f)[k], next_out++);
		fifo_drop(&f, take);
	}
	fifo_drop(&f, f.len);
	assert_int_equal(f.len, 0);
	fifo_put(&f, "ab", 2);
	assert_memory_equal(fifo_data(&f), "ab", 2);
	fifo_free(&f);
}

/* Later connections get smaller windows, and then none. */
static void windows_have_one_budget(void **state)
{
	uint64_t reserved = 0;
	uint8_t log[64], last = PACK_WINDOW_MAX;

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		log[i] = pack_reserve(&reserved, PACK_WINDOW_MAX);
		assert_true(log[i] <= last);
		last = log[i];
		assert_true(reserved <= PACK_WINDOWS_ALL);
	}
	assert_int_equal(log[0], 25);
	assert_int_equal(log[1], 24);
	assert_int_equal(log[63], 0);
	for (unsigned i = 0; i < 64; i++)
		pack_release(&reserved, log[i]);
	assert_int_equal(reserved, 0);
	assert_int_equal(pack_reserve(&reserved, 21), 21);
	assert_int_equal(pack_reserve(&reserved, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_have_one_budget),
		cmocka_unit_test(test_second_time_is_free),
		cmocka_unit_test(test_what_is_not_worth_it),
		cmocka_unit_test(test_what_cannot_be_unpacked),
		cmocka_unit_test(test_fifo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
