// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encoding of the LEON header. The workers call it for every datagram, so it checks the length
 * twice, folds the other tests into few branches and copies only the fields. Pure; any thread.
 */
#include "wire/datagram/leon.h"

#include <assert.h>
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
