// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SipHash-2-4, see siphash.h. Any thread.
 */
#include "siphash.h"

struct sip {
	uint64_t a, b, c, d;
};

static uint64_t rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static void round_of(struct sip *s)
{
	s->a += s->b;
	s->b = rotate(s->b, 13) ^ s->a;
	s->a = rotate(s->a, 32);
	s->c += s->d;
	s->d = rotate(s->d, 16) ^ s->c;
	s->a += s->d;
	s->d = rotate(s->d, 21) ^ s->a;
	s->c += s->b;
	s->b = rotate(s->b, 17) ^ s->c;
	s->c = rotate(s->c, 32);
}

static struct sip begin(const struct hash_key *key)
{
	/* The letters "somepseudorandomlygeneratedbytes". */
	return (struct sip){ key->k0 ^ 0x736f6d6570736575ULL, key->k1 ^ 0x646f72616e646f6dULL,
			     key->k0 ^ 0x6c7967656e657261ULL, key->k1 ^ 0x7465646279746573ULL };
}

static void compress(struct sip *s, uint64_t word)
{
	s->d ^= word;
	round_of(s);
	round_of(s);
	s->a ^= word;
}

static uint64_t finish(struct sip *s)
{
	s->c ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		round_of(s);
	return s->a ^ s->b ^ s->c ^ s->d;
}

/* Loads up to eight bytes, little-endian. */
static uint64_t word_of(const uint8_t *p, size_t len)
{
	uint64_t word = 0;

	while (len--)
		word = word << 8 | p[len];
	return word;
}

uint64_t siphash(const struct hash_key *key, const void *data, size_t len)
{
	struct sip s = begin(key);
	const uint8_t *p = data;
	size_t left = len;

	for (; left >= 8; p += 8, left -= 8)
		compress(&s, word_of(p, 8));
	compress(&s, (uint64_t)len << 56 | word_of(p, left));
	return finish(&s);
}

uint64_t siphash_u64(const struct hash_key *key, uint64_t word)
{
	struct sip s = begin(key);

	compress(&s, word);
	compress(&s, 8ULL << 56);
	return finish(&s);
}
