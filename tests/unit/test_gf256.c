// SPDX-License-Identifier: GPL-2.0-or-later
/* base/gf256: the field against its definition, and vector operations against single elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/gf256.h"
#include "random.h"

/* The product of two polynomials over GF(2), reduced by 0x11d. */
static uint8_t product(unsigned a, unsigned b)
{
	unsigned p = 0;

	for (unsigned i = 0; i < 8; i++)
		p ^= b >> i & 1 ? a << i : 0;
	for (unsigned i = 15; i >= 8; i--)
		p ^= p >> i & 1 ? 0x11du << (i - 8) : 0;
	return (uint8_t)p;
}

static void products_and_inverses(void **state)
{
	(void)state;
	for (unsigned a = 0; a < 256; a++)
		for (unsigned b = 0; b < 256; b++)
			assert_int_equal(gf256_mul((uint8_t)a, (uint8_t)b), product(a, b));
	for (unsigned a = 1; a < 256; a++)
		assert_int_equal(gf256_mul((uint8_t)a, gf256_inv((uint8_t)a)), 1);
	assert_int_equal(gf256_inv(0), 0);
	/* 2 generates the group (RFC 5510 section 8.1). */
	assert_int_equal(gf256_mul(0x80, 2), 0x1d);
}

#define VECTORS 40
#define LEN	48

static void vectors(void **state)
{
	uint8_t in[LEN], v[VECTORS][LEN + 1], before[VECTORS][LEN + 1], factor[VECTORS];
	uint8_t *out[VECTORS];

	(void)state;
	random_seed(7);
	for (unsigned k = 0; k < LEN; k++)
		in[k] = (uint8_t)random_below(256);
	for (unsigned i = 0; i < VECTORS; i++) {
		out[i] = v[i];
		factor[i] = (uint8_t)(i < 2 ? i : random_below(256));
		for (unsigned k = 0; k <= LEN; k++)
			v[i][k] = (uint8_t)random_below(256);
	}
	memcpy(before, v, sizeof(v));
	gf256_add(out, factor, VECTORS, in, LEN);
	for (unsigned i = 0; i < VECTORS; i++) {
		for (unsigned k = 0; k < LEN; k++)
			assert_int_equal(v[i][k], before[i][k] ^ product(factor[i], in[k]));
		assert_int_equal(v[i][LEN], before[i][LEN]);
	}
	memcpy(before, v, sizeof(v));
	gf256_scale(v[0], 0x8e, LEN);
	for (unsigned k = 0; k < LEN; k++)
		assert_int_equal(v[0][k], product(0x8e, before[0][k]));
	assert_int_equal(v[0][LEN], before[0][LEN]);
	assert_int_equal(gf256_padded(0), 0);
	assert_int_equal(gf256_padded(1), GF256_UNIT);
	assert_int_equal(gf256_padded(GF256_UNIT), GF256_UNIT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_and_inverses),
		cmocka_unit_test(vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
