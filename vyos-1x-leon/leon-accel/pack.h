// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compression of what a carrier carries, one zstd stream for each direction: its window is the
 * cache, in which what was sent before is found again, however long ago (long-distance matching).
 * The only user of libzstd. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_WINDOW_MIN 20 /* log2 of bytes */
#define PACK_WINDOW_MAX 27
/* Room for n bytes that do not shrink. */
#define PACK_BOUND(n) ((n) + ((n) >> 8) + 128)

/*
 * The windows of all inter-proxy connections share one budget. A connection reserves two windows of
 * one size, to pack and to unpack: at most half of the rest, so that later connections get some
 * too. Returns log2 of the size, at most wanted; 0: there is none.
 */
#define PACK_WINDOWS_ALL (128u << 20)
uint8_t pack_reserve(uint64_t *reserved, uint8_t wanted);
void pack_release(uint64_t *reserved, uint8_t window_log); /* 0 ok */

struct packer;
struct unpacker;

/* NULL where there is no memory. */
struct packer *packer_new(unsigned window_log, int level);
void packer_free(struct packer *p); /* NULL ok */
/* All of in, so that the other end can read it as soon as it has it. Returns the length, at most
 * PACK_BOUND(len), 0 on failure: the stream is of no use any more. */
size_t packer_run(struct packer *p, const void *in, size_t len, void *out, size_t room);

/*
 * Whether the bytes of one stream are worth packing. What does not shrink by itself may be sent a
 * second time, and is found again only if it was packed the first time. So a stream is left out
 * when it went in vain through nearly the whole window: so much of it is in the cache, more would
 * drive it out again, with what others have there. A sample now and then tells when that changes.
 */
struct pack_worth {
	uint64_t in_vain; /* bytes since it shrank */
	unsigned skipped; /* portions since the last sample */
};
/* The next portion is to be packed. */
bool pack_is_worth_it(struct pack_worth *w, unsigned window_log);
/* It was: from len to packed. */
void pack_learn(struct pack_worth *w, size_t len, size_t packed);

struct unpacker *unpacker_new(unsigned window_log);
void unpacker_free(struct unpacker *u); /* NULL ok */
/* What one packer_run() gave. Returns the length, 0 where it is none, or more than room. */
size_t unpacker_run(struct unpacker *u, const void *in, size_t len, void *out, size_t room);
