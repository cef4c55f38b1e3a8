// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compression of the data of an inter-proxy connection, with a zstd stream for each direction. The
 * window of the stream is the cache: long-distance matching finds earlier data. The only user of
 * libzstd. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_WINDOW_MIN 20 /* log2 of bytes */
#define PACK_WINDOW_MAX 27
/* Upper bound of the size of n compressed bytes. */
#define PACK_BOUND(n) ((n) + ((n) >> 8) + 128)

/*
 * The windows of all inter-proxy connections share a budget. A connection reserves two windows of
 * equal size, for packer and unpacker. The reservation is at most half of the remaining budget, so
 * later connections get windows, too. Returns log2 of the size, at most `wanted`. 0: no budget
 * remains.
 */
#define PACK_WINDOWS_ALL (128u << 20)
uint8_t pack_reserve(uint64_t *reserved, uint8_t wanted);
void pack_release(uint64_t *reserved, uint8_t window_log); /* 0 has no effect */

struct packer;	 /* a ZSTD_CCtx */
struct unpacker; /* a ZSTD_DCtx */

/* NULL on failure. */
struct packer *packer_new(unsigned window_log, int level);
void packer_free(struct packer *p); /* NULL has no effect */
/* Compresses and flushes all of `in`, so the other end can decompress the data at once. Returns the
 * length, at most PACK_BOUND(len). 0: failure, and the stream is unusable. */
size_t packer_run(struct packer *p, const void *in, size_t len, void *out, size_t room);

/*
 * Decides whether the bytes of a stream are compressed. Incompressible data may be sent twice, and
 * the second copy compresses only if the first copy is in the window. A stream is excluded after
 * nearly a whole window without a gain. The cache then holds the recent data of the stream, and
 * more would displace the data of other streams. Now and then a sample shows whether the data has
 * changed.
 */
struct pack_benefit {
	uint64_t unresponsive; /* Bytes since the last gain. */
	unsigned skipped;      /* Portions since the last sample. */
};
/* Reports whether to compress the next portion. */
bool pack_has_benefit(struct pack_benefit *w, unsigned window_log);
/* Notes the result of a compression: its size before and after. */
void pack_learn(struct pack_benefit *w, size_t len, size_t packed);

struct unpacker *unpacker_new(unsigned window_log);
void unpacker_free(struct unpacker *u); /* NULL has no effect */
/* Decompresses the output of one packer_run(). Returns the length. 0: the input is invalid, or the
 * output exceeds `room`. */
size_t unpacker_run(struct unpacker *u, const void *in, size_t len, void *out, size_t room);
