// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SCLP: header, segmentation and first level of reassembly, see sclp.h. Called by leon-sclp. Pure.
 */
#include "format/sclp.h"

#include <errno.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"

#define CHECKSUM_AT 10
#define V4_HDR_MIN  20
#define V4_FRAGMENT 0x3fff /* more fragments, or an offset */

int sclp_decode(const void *segment, size_t len, struct sclp_hdr *h)
{
	const uint8_t *p = segment;
	uint32_t id;

	if (len <= SCLP_HDR_LEN || len > SCLP_HDR_LEN + SCLP_PAYLOAD_MAX)
		return -EBADMSG;
	/* The checksum covers header and payload including its own field, without pseudo-header. It
	 * is mandatory. */
	if (csum_fold(csum_add(0, p, len)) != 0xffff)
		return -EBADMSG;
	id = get_u32(p + 4);
	*h = (struct sclp_hdr){ .source = get_u16(p),
				.dest = get_u16(p + 2),
				.id = id & SCLP_ID_MASK,
				.first = id & ~SCLP_ID_MASK,
				.remaining = get_u16(p + 8) };
	return len - SCLP_HDR_LEN + h->remaining > SCLP_PAYLOAD_MAX ? -EBADMSG : 0;
}

void sclp_encode(const struct sclp_hdr *h, const void *payload, size_t len, void *out)
{
	uint8_t *p = out;

	put_u16(p, h->source);
	put_u16(p + 2, h->dest);
	put_u32(p + 4, (h->id & SCLP_ID_MASK) | h->first);
	put_u16(p + 8, h->remaining);
	put_u16(p + CHECKSUM_AT, 0);
	put_u16(p + CHECKSUM_AT,
		(uint16_t)~csum_fold(csum_add(csum_add(0, p, SCLP_HDR_LEN), payload, len)));
}

const uint8_t *sclp_in_ipv4(const uint8_t *packet, size_t len, size_t *segment_len)
{
	size_t hdr_len, total;

	if (len < V4_HDR_MIN || packet[0] >> 4 != 4)
		return NULL;
	hdr_len = (packet[0] & 0x0fu) * 4;
	total = get_u16(packet + 2);
	if (hdr_len < V4_HDR_MIN || total < hdr_len || total > len ||
	    (get_u16(packet + 6) & V4_FRAGMENT) || packet[9] != SCLP_PROTOCOL)
		return NULL;
	*segment_len = total - hdr_len;
	return packet + hdr_len;
}

bool sclp_cut_next(struct sclp_cut *c, struct sclp_piece *out)
{
	if (c->at >= c->len)
		return false;
	out->offset = c->at;
	out->len = c->len - c->at < c->mss ? c->len - c->at : c->mss;
	out->first = c->at == 0;
	c->at += out->len;
	out->remaining = (uint16_t)(c->len - c->at);
	return true;
}

/* The paper's conditions for a merge: the segment has the same payload and is not longer than the
 * first one. It begins at the end of the run (both count the remaining bytes). */
static bool continues(const struct sclp_segment *seg, const struct sclp_run *run,
		      const struct sclp_segment *s)
{
	const struct sclp_segment *head = &seg[run->head];

	return run->n < SCLP_MERGE_MAX && !s->h.first && s->len <= head->len &&
	       s->h.remaining + s->len == run->remaining && sclp_key(&s->h) == sclp_key(&head->h);
}

unsigned sclp_merge(struct sclp_segment *seg, unsigned n, struct sclp_run *run)
{
	unsigned n_runs = 0, k;

	for (unsigned i = 0; i < n; i++) {
		struct sclp_segment *s = &seg[i];

		/* Searches from the oldest run, so that a duplicate segment does not split a
		 * run. */
		for (k = 0; k < n_runs && !continues(seg, &run[k], s); k++)
			;
		if (k == n_runs) {
			run[n_runs++] = (struct sclp_run){ i,	       i,
							   1,	       (uint32_t)s->len,
							   s->h.first, s->h.remaining };
			continue;
		}
		seg[run[k].tail].next = i;
		run[k].tail = i;
		run[k].n++;
		run[k].len += (uint32_t)s->len;
		run[k].remaining = s->h.remaining;
	}
	return n_runs;
}
