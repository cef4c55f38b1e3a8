// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bounds-checked big-endian cursors. A cursor that exceeds its bounds stays failed: reads return 0,
 * writes have no effect, and the caller checks `ok` once at the end. get_*() and put_*() load and
 * store without a check, for the packet path, which checks a length once and then reads at known
 * offsets. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rbuf {
	const uint8_t *p, *end;
	bool ok;
};
struct wbuf {
	uint8_t *start, *p, *end;
	bool ok;
};

static inline struct rbuf rbuf_of(const void *p, size_t len)
{
	return (struct rbuf){ p, (const uint8_t *)p + len, true };
}
static inline size_t rbuf_left(const struct rbuf *b)
{
	return (size_t)(b->end - b->p);
}
/* Returns a pointer to the next n bytes and skips them; NULL beyond the end. */
static inline const uint8_t *rbuf_take(struct rbuf *b, size_t n)
{
	const uint8_t *p = b->p;

	if (!b->ok || rbuf_left(b) < n) {
		b->ok = false;
		return NULL;
	}
	b->p += n;
	return p;
}
static inline uint64_t rbuf_uint(struct rbuf *b, unsigned n)
{
	const uint8_t *p = rbuf_take(b, n);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < n; i++)
		v = v << 8 | p[i];
	return v;
}
static inline uint8_t rbuf_u8(struct rbuf *b)
{
	return (uint8_t)rbuf_uint(b, 1);
}
static inline uint16_t rbuf_u16(struct rbuf *b)
{
	return (uint16_t)rbuf_uint(b, 2);
}
static inline uint32_t rbuf_u24(struct rbuf *b)
{
	return (uint32_t)rbuf_uint(b, 3);
}
static inline uint32_t rbuf_u32(struct rbuf *b)
{
	return (uint32_t)rbuf_uint(b, 4);
}
static inline uint64_t rbuf_u64(struct rbuf *b)
{
	return rbuf_uint(b, 8);
}

static inline struct wbuf wbuf_of(void *p, size_t len)
{
	return (struct wbuf){ p, p, (uint8_t *)p + len, true };
}
static inline size_t wbuf_len(const struct wbuf *b)
{
	return (size_t)(b->p - b->start);
}
static inline size_t wbuf_left(const struct wbuf *b)
{
	return (size_t)(b->end - b->p);
}
static inline uint8_t *wbuf_take(struct wbuf *b, size_t n)
{
	uint8_t *p = b->p;

	if (!b->ok || wbuf_left(b) < n) {
		b->ok = false;
		return NULL;
	}
	b->p += n;
	return p;
}
static inline void wbuf_uint(struct wbuf *b, uint64_t v, unsigned n)
{
	uint8_t *p = wbuf_take(b, n);

	for (unsigned i = 0; p && i < n; i++)
		p[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}
static inline void wbuf_u8(struct wbuf *b, uint8_t v)
{
	wbuf_uint(b, v, 1);
}
static inline void wbuf_u16(struct wbuf *b, uint16_t v)
{
	wbuf_uint(b, v, 2);
}
static inline void wbuf_u24(struct wbuf *b, uint32_t v)
{
	wbuf_uint(b, v, 3);
}
static inline void wbuf_u32(struct wbuf *b, uint32_t v)
{
	wbuf_uint(b, v, 4);
}
static inline void wbuf_u64(struct wbuf *b, uint64_t v)
{
	wbuf_uint(b, v, 8);
}
static inline void wbuf_bytes(struct wbuf *b, const void *src, size_t n)
{
	uint8_t *p = wbuf_take(b, n);

	if (p && n)
		memcpy(p, src, n);
}

/* Both cursors in one, so that the layout of a message exists once. A codec reads from `in`. With
 * `in` NULL, it writes to `out` and leaves the fields unchanged. The caller initialises the fields,
 * because a function of both directions looks at them before reading. */
struct codec {
	struct rbuf *in;
	struct wbuf *out;
};

#define CODEC(name, type)                                                                          \
	static inline void code_##name(struct codec *b, type *v)                                   \
	{                                                                                          \
		if (b->in)                                                                         \
			*v = rbuf_##name(b->in);                                                   \
		else                                                                               \
			wbuf_##name(b->out, *v);                                                   \
	}
CODEC(u8, uint8_t)
CODEC(u16, uint16_t)
CODEC(u24, uint32_t)
CODEC(u32, uint32_t)
CODEC(u64, uint64_t)

static inline void code_bytes(struct codec *b, uint8_t *bytes, size_t n)
{
	const uint8_t *p;

	if (!b->in)
		wbuf_bytes(b->out, bytes, n);
	else if ((p = rbuf_take(b->in, n)))
		memcpy(bytes, p, n);
}

/* Fails the reading if a count exceeds the array behind it, and returns the count, or 0 then. */
static inline unsigned code_fits(struct codec *b, unsigned n, size_t max)
{
	if (b->in)
		b->in->ok &= n <= max;
	return n <= max && (!b->in || b->in->ok) ? n : 0;
}
static inline unsigned code_count(struct codec *b, uint8_t *n, size_t max)
{
	code_u8(b, n);
	return code_fits(b, *n, max);
}
static inline unsigned code_count16(struct codec *b, uint16_t *n, size_t max)
{
	code_u16(b, n);
	return code_fits(b, *n, max);
}

/* Unaligned big-endian loads and stores. The caller has checked the length. */
static inline uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}
static inline uint32_t get_u24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}
static inline uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline uint64_t get_u64(const uint8_t *p)
{
	return (uint64_t)get_u32(p) << 32 | get_u32(p + 4);
}
static inline void put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}
static inline void put_u24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
}
static inline void put_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}
static inline void put_u64(uint8_t *p, uint64_t v)
{
	put_u32(p, (uint32_t)(v >> 32));
	put_u32(p + 4, (uint32_t)v);
}
