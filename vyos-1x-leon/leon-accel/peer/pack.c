// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compression over libzstd, see pack.h.
 */
#include "peer/pack.h"

#include <zstd.h>

#define SAMPLE_EVERY 16 /* portions */

static uint64_t pair_of(uint8_t window_log)
{
	return 2ULL << window_log;
}

uint8_t pack_reserve(uint64_t *reserved, uint8_t wanted)
{
	uint64_t left = PACK_WINDOWS_ALL - *reserved;
	uint8_t log = wanted;

	while (log > PACK_WINDOW_MIN && pair_of(log) > left / 2)
		log--;
	if (log < PACK_WINDOW_MIN || pair_of(log) > left)
		return 0;
	*reserved += pair_of(log);
	return log;
}

void pack_release(uint64_t *reserved, uint8_t window_log)
{
	if (window_log)
		*reserved -= pair_of(window_log);
}

static bool set(ZSTD_CCtx *ctx, ZSTD_cParameter parameter, int value)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(ctx, parameter, value));
}

struct packer *packer_new(unsigned window_log, int level)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();

	if (c && set(c, ZSTD_c_compressionLevel, level) &&
	    set(c, ZSTD_c_windowLog, (int)window_log) &&
	    set(c, ZSTD_c_enableLongDistanceMatching, 1))
		return (struct packer *)c;
	ZSTD_freeCCtx(c);
	return NULL;
}

void packer_free(struct packer *p)
{
	ZSTD_freeCCtx((ZSTD_CCtx *)p);
}

size_t packer_run(struct packer *p, const void *in, size_t len, void *out, size_t room)
{
	ZSTD_inBuffer i = { in, len, 0 };
	ZSTD_outBuffer o = { out, room, 0 };
	size_t left = ZSTD_compressStream2((ZSTD_CCtx *)p, &o, &i, ZSTD_e_flush);

	/* The other end waits for the data, so no byte may stay in the compressor. */
	return left == 0 && i.pos == len ? o.pos : 0;
}

bool pack_has_benefit(struct pack_benefit *w, unsigned window_log)
{
	uint64_t window = 1ULL << window_log;

	if (w->unresponsive < window - window / 16)
		return true;
	w->skipped = (w->skipped + 1) % SAMPLE_EVERY;
	return w->skipped == 0;
}

void pack_learn(struct pack_benefit *w, size_t len, size_t packed)
{
	if (packed < len - len / 16)
		w->unresponsive = 0;
	else
		w->unresponsive += len;
}

struct unpacker *unpacker_new(unsigned window_log)
{
	ZSTD_DCtx *c = ZSTD_createDCtx();

	if (c && !ZSTD_isError(ZSTD_DCtx_setParameter(c, ZSTD_d_windowLogMax, (int)window_log)))
		return (struct unpacker *)c;
	ZSTD_freeDCtx(c);
	return NULL;
}

void unpacker_free(struct unpacker *u)
{
	ZSTD_freeDCtx((ZSTD_DCtx *)u);
}

size_t unpacker_run(struct unpacker *u, const void *in, size_t len, void *out, size_t room)
{
	ZSTD_inBuffer i = { in, len, 0 };
	ZSTD_outBuffer o = { out, room, 0 };

	while (i.pos < len) {
		size_t before = i.pos, had = o.pos;

		if (ZSTD_isError(ZSTD_decompressStream((ZSTD_DCtx *)u, &o, &i)))
			return 0;
		if (i.pos == before && o.pos == had)
			return 0;
	}
	/* A full output buffer may hide more data. */
	return o.pos < room ? o.pos : 0;
}
