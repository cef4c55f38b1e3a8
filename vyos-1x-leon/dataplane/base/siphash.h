// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SipHash-2-4 (Aumasson, Bernstein), for hash tables with keys from the network. The hash key is
 * random in each process, so no sender can compute collisions. hash_mix64() is for keys that this
 * host chooses. Pure; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t k0, k1;
};

uint64_t siphash(const struct hash_key *key, const void *data, size_t len);
/* Hashes the eight bytes of `word` in little-endian order. */
uint64_t siphash_u64(const struct hash_key *key, uint64_t word);
