// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * GF(256), see gf256.h. The product with a factor is the sum of the products with its bits, so one
 * loop serves all factors. The loop has seven doublings of 16 bytes, then one addition for each
 * bit. The compiler maps a vector to a register of SSE2 or NEON. Tables of products take four times
 * as long.
 */
#include "base/gf256.h"

#include <string.h>

#include "base/defs.h"

#define BITS	   8
#define POLYNOMIAL 0x1d /* without x^8 */

typedef uint8_t vector __attribute__((vector_size(GF256_UNIT)));
typedef int8_t signed_vector __attribute__((vector_size(GF256_UNIT)));

uint8_t gf256_mul(uint8_t a, uint8_t b)
{
	unsigned product = 0, power = a;

	for (unsigned i = 0; i < BITS; i++) {
		product ^= b >> i & 1 ? power : 0;
		power = (power << 1 ^ (power & 0x80 ? POLYNOMIAL : 0)) & 0xff;
	}
	return (uint8_t)product;
}

/* a^254, because a^255 is 1. */
uint8_t gf256_inv(uint8_t a)
{
	uint8_t square = a, product = 1;

	for (unsigned i = 1; i < BITS; i++) {
		square = gf256_mul(square, square);
		product = gf256_mul(product, square);
	}
	return product;
}

static vector load(const uint8_t *p)
{
	vector v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static vector doubled(vector v)
{
	vector carry = (vector)((signed_vector)v < 0);

	return (v + v) ^ (carry & POLYNOMIAL);
}

/* The products of a vector with the powers of x. */
static void fill_powers(const uint8_t *in, vector power[BITS])
{
	power[0] = load(in);
	for (unsigned i = 1; i < BITS; i++)
		power[i] = doubled(power[i - 1]);
}

/* All bits of an element are those of one bit of the factor. */
static void spread(uint8_t factor, vector mask[BITS])
{
	for (unsigned i = 0; i < BITS; i++)
		mask[i] = (vector){ 0 } - (uint8_t)(factor >> i & 1);
}

static void add_one(uint8_t *out, const vector power[BITS], const vector mask[BITS])
{
	vector sum = load(out);

	for (unsigned i = 0; i < BITS; i++)
		sum ^= power[i] & mask[i];
	memcpy(out, &sum, sizeof(sum));
}

/* Limit of vectors whose masks are kept at a time. */
#define GROUP 32

static void add_group(uint8_t *const out[], const uint8_t factor[], unsigned n, const uint8_t *in,
		      size_t len)
{
	vector mask[GROUP][BITS], power[BITS];

	for (unsigned i = 0; i < n; i++)
		spread(factor[i], mask[i]);
	for (size_t at = 0; at < len; at += GF256_UNIT) {
		fill_powers(in + at, power);
		for (unsigned i = 0; i < n; i++)
			add_one(out[i] + at, power, mask[i]);
	}
}

void gf256_add(uint8_t *const out[], const uint8_t factor[], unsigned n, const uint8_t *in,
	       size_t len)
{
	for (unsigned i = 0; i < n; i += GROUP)
		add_group(out + i, factor + i, min_of(n - i, (unsigned)GROUP), in, len);
}

void gf256_scale(uint8_t *p, uint8_t factor, size_t len)
{
	vector mask[BITS], power[BITS];

	spread(factor, mask);
	for (size_t at = 0; at < len; at += GF256_UNIT) {
		fill_powers(p + at, power);
		memset(p + at, 0, GF256_UNIT);
		add_one(p + at, power, mask);
	}
}
