// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arithmetic in the field GF(256) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d), as in RFC
 * 5510 section 8.1, for erasure codes. Vectors are buffers of bytes, each byte one element.
 * Addition is XOR. Pure; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The length of a vector is a multiple of this number. */
#define GF256_UNIT 16

static inline size_t gf256_padded(size_t len)
{
	return (len + GF256_UNIT - 1) / GF256_UNIT * GF256_UNIT;
}

uint8_t gf256_mul(uint8_t a, uint8_t b);
/* The inverse of a; 0 for 0. */
uint8_t gf256_inv(uint8_t a);
/* Adds factor[i] times `in` to out[i], for n vectors. `in` is none of them. */
void gf256_add(uint8_t *const out[], const uint8_t factor[], unsigned n, const uint8_t *in,
	       size_t len);
/* Multiplies a vector in place. */
void gf256_scale(uint8_t *vector, uint8_t factor, size_t len);
