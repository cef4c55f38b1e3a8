// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encoding of the LEON header. The workers call it for every datagram, so it checks the length
 * twice, folds the other tests into few branches and copies only the fields. Pure; any thread.
 */
#include "wire/datagram/leon.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "wire/bytes.h"

#define AT_VERSION_KIND 0
#define AT_VNI		3
#define AT_SOURCE	6

static_assert(AT_VNI == LEON_HOPS_OFFSET + 1 && AT_SOURCE + 4 == LEON_HDR_FIXED, "header layout");

/* Reads source and hops. The caller has checked the length. */
static enum leon_parse decode_path(const uint8_t *p, struct leon_hdr *h)
{
	node_id_t source = get_u32(p + AT_SOURCE);
	bool zero = source == NODE_ID_NONE, loop = false;
	unsigned i;

	for (i = 0; i < h->n_hops; i++) {
		node_id_t id = get_u32(p + LEON_HDR_LEN(i));

		zero |= id == NODE_ID_NONE;
		loop |= id == source;
		for (unsigned j = 0; j < i; j++)
			loop |= id == h->hop[j];
		h->hop[i] = id;
	}
	for (; i < LEON_HOPS_MAX; i++)
		h->hop[i] = NODE_ID_NONE;
	h->source = source;
	if (unlikely(zero))
		return LEON_BAD_HEADER;
	return likely(!loop) ? LEON_OK : LEON_PATH_LOOP;
}

enum leon_parse leon_decode(const void *data, size_t len, struct leon_hdr *h, size_t *hdr_len)
{
	const uint8_t *p = data;
	bool link;

	if (unlikely(len < LEON_HDR_FIXED))
		return LEON_TRUNCATED;
	if (unlikely(p[AT_VERSION_KIND] >> 4 != LEON_VERSION))
		return LEON_BAD_VERSION;
	h->kind = p[AT_VERSION_KIND] & 0x0f;
	h->flags = p[LEON_FLAGS_OFFSET];
	h->n_hops = p[LEON_HOPS_OFFSET] >> 4;
	h->at = p[LEON_HOPS_OFFSET] & 0x0f;
	/* Unsigned arithmetic: x - 1 > y means "0, or greater than y + 1". An `at` below a number
	 * of hops of at most LEON_HOPS_MAX implies that the number is not 0. */
	link = h->flags & LEON_F_LINK_VALUE;
	if (unlikely((h->kind - 1u >= LEON_KINDS - 1u) | (h->flags & ~LEON_FLAGS_KNOWN) |
		     (h->n_hops > LEON_HOPS_MAX) | (h->at >= h->n_hops)))
		return LEON_BAD_HEADER;
	*hdr_len = LEON_HDR_LEN(h->n_hops) + (link ? LEON_LINK_LEN : 0);
	if (unlikely(len < *hdr_len))
		return LEON_TRUNCATED;
	h->vni = get_u24(p + AT_VNI);
	return decode_path(p, h);
}

uint8_t leon_other_wire(const void *data, size_t len, uint32_t vni)
{
	const uint8_t *p = data;
	uint8_t wire = len < LEON_HDR_FIXED ? LEON_VERSION : p[AT_VERSION_KIND] >> 4;

	return wire != LEON_VERSION && get_u24(p + AT_VNI) == vni ? wire : 0;
}

size_t leon_insert_link(uint8_t *data, size_t len, uint8_t n_hops, uint64_t value)
{
	size_t at = LEON_HDR_LEN(n_hops);

	memmove(data + at + LEON_LINK_LEN, data + at, len - at);
	put_u64(data + at, value);
	data[LEON_FLAGS_OFFSET] |= LEON_F_LINK_VALUE;
	return len + LEON_LINK_LEN;
}

uint8_t *leon_remove_link(uint8_t *data, uint8_t n_hops)
{
	memmove(data + LEON_LINK_LEN, data, LEON_HDR_LEN(n_hops));
	data[LEON_LINK_LEN + LEON_FLAGS_OFFSET] &= (uint8_t)~LEON_F_LINK_VALUE;
	return data + LEON_LINK_LEN;
}

size_t leon_sealed_header(const void *data, uint8_t n_hops, uint8_t out[LEON_HDR_LEN_MAX])
{
	size_t len = LEON_HDR_LEN(n_hops);

	memcpy(out, data, len);
	out[LEON_FLAGS_OFFSET] &= (uint8_t)~LEON_F_LINK_VALUE;
	out[LEON_HOPS_OFFSET] &= 0xf0;
	return len;
}

size_t leon_encode(const struct leon_hdr *h, void *out)
{
	uint8_t *p = out;

	p[AT_VERSION_KIND] = (uint8_t)(LEON_VERSION << 4 | (h->kind & 0x0f));
	p[LEON_FLAGS_OFFSET] = h->flags;
	p[LEON_HOPS_OFFSET] = (uint8_t)(h->n_hops << 4 | (h->at & 0x0f));
	put_u24(p + AT_VNI, h->vni);
	put_u32(p + AT_SOURCE, h->source);
	for (unsigned i = 0; i < h->n_hops; i++)
		put_u32(p + LEON_HDR_LEN(i), h->hop[i]);
	return LEON_HDR_LEN(h->n_hops);
}

/* --- LEON_BUNDLE --- */

#define PARTIAL 0x8000u
#define SEGMENT 0x4000u

int bundle_next(const void *data, size_t len, size_t *at, struct bundle_frame *f)
{
	const uint8_t *p = data;
	uint16_t v;

	if (*at == len)
		return len ? 0 : -EBADMSG;
	if (len - *at < BUNDLE_HDR_LEN)
		return -EBADMSG;
	v = get_u16(p + *at);
	f->at = *at + BUNDLE_HDR_LEN;
	f->len = v & BUNDLE_FRAME_MAX;
	f->flags = (uint8_t)((v & PARTIAL ? LEON_F_CSUM_PARTIAL : 0) |
			     (v & SEGMENT ? LEON_F_SEGMENT : 0));
	if (f->len < BUNDLE_FRAME_MIN || f->len > len - f->at)
		return -EBADMSG;
	*at = f->at + f->len;
	return 1;
}

void bundle_encode(size_t frame_len, uint8_t flags, void *out)
{
	put_u16(out, (uint16_t)(frame_len | (flags & LEON_F_CSUM_PARTIAL ? PARTIAL : 0) |
				(flags & LEON_F_SEGMENT ? SEGMENT : 0)));
}

/* --- LEON_COPY --- */

#define WORKER_SHIFT 56

int copy_decode(const void *data, size_t len, struct copy_hdr *h)
{
	const uint8_t *p = data;
	uint64_t sequence;

	if (len <= COPY_HDR_LEN)
		return -EBADMSG;
	sequence = get_u64(p);
	h->worker = (uint8_t)(sequence >> WORKER_SHIFT);
	h->counter = sequence & COPY_COUNTER_MASK;
	h->kind = p[8];
	if (h->worker >= COPY_WORKERS_MAX)
		return -EBADMSG;
	return h->kind == LEON_FRAME || h->kind == LEON_FRAGMENT ? 0 : -EBADMSG;
}

void copy_encode(const struct copy_hdr *h, void *out)
{
	uint8_t *p = out;

	put_u64(p, (uint64_t)h->worker << WORKER_SHIFT | (h->counter & COPY_COUNTER_MASK));
	p[8] = h->kind;
}

/* --- LEON_FRAGMENT --- */

int fragment_decode(const void *data, size_t len, struct fragment_hdr *h)
{
	const uint8_t *p = data;

	if (len <= FRAGMENT_HDR_LEN)
		return -EBADMSG;
	h->id = get_u32(p);
	h->offset = get_u16(p + 4);
	h->total = get_u16(p + 6);
	if (h->total == 0 || h->total > FRAGMENT_FRAME_MAX)
		return -EBADMSG;
	if (h->offset + (len - FRAGMENT_HDR_LEN) > h->total)
		return -EBADMSG;
	return 0;
}

void fragment_encode(const struct fragment_hdr *h, void *out)
{
	uint8_t *p = out;

	put_u32(p, h->id);
	put_u16(p + 4, h->offset);
	put_u16(p + 6, h->total);
}
