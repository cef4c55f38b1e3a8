// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SipHash-2-4 (Aumasson, Bernstein): places in tables that strangers' input indexes. Without the
 * key, which is random in each process, nobody can compute which inputs share a place, so nobody
 * can aim at somebody else's. hash_mix64() is for what only this host chooses. Pure; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t k0, k1;
};

uint64_t siphash(const struct hash_key *key, const void *data, size_t len);
/* Of the eight bytes of `word`, little-endian. */
uint64_t siphash_u64(const struct hash_key *key, uint64_t word);
