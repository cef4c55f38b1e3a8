// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-sclp/format/sclp and leon-sclp/format/sclp_join. The input is a row of {control (8),
 * remaining (16), length (16)}: control & 3 the payload's id, & 4 first, & 8 from another port,
 * & 16 end of the batch, & 32 300 ms pass. With & 128, `length` bytes of input follow, which are
 * decoded unchanged. Each byte of a made segment depends on its position in the payload, so any
 * output can be verified.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"
#include "format/sclp.h"

#define BATCH	32
#define SEG_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct lab {
	struct sclp_join *join;
	struct sclp_segment seg[BATCH];
	struct sclp_run run[BATCH];
	uint8_t wire[BATCH][SCLP_HDR_LEN + SEG_MAX];
	unsigned n;
	mono_t now;
};

static uint8_t byte_at(uint32_t id, size_t from_end)
{
	return (uint8_t)(from_end * 31 + id + (from_end >> 8));
}

static void check_payload(const struct sclp_segment *s, const uint8_t *p, size_t len)
{
	if (len == 0 || len > SCLP_PAYLOAD_MAX)
		abort();
	for (size_t i = 0; i < len; i++)
		if (p[i] != byte_at(s->h.id, len - 1 - i))
			abort();
}

static void end_batch(struct lab *l)
{
	unsigned n_runs = sclp_merge(l->seg, l->n, l->run), n = 0;

	for (unsigned i = 0; i < n_runs; i++) {
		const struct sclp_segment *head = &l->seg[l->run[i].head];
		size_t len;
		const uint8_t *p = sclp_join_add(l->join, l->seg, &l->run[i], l->now, &len);

		if (p)
			check_payload(head, p, len);
		n += l->run[i].n;
	}
	if (n != l->n)
		abort();
	l->n = 0;
}

static void take(struct lab *l, const uint8_t *wire, size_t len, bool other)
{
	struct sclp_segment *s = &l->seg[l->n];

	if (sclp_decode(wire, len, &s->h) < 0)
		return;
	s->h.source += other;
	s->data = wire + SCLP_HDR_LEN;
	s->len = len - SCLP_HDR_LEN;
	if (++l->n == BATCH)
		end_batch(l);
}

static void make(struct lab *l, uint8_t control, uint16_t remaining, size_t len)
{
	struct sclp_hdr h = { 1, 4789, (control & 3u) << 1, control & 4, remaining };
	uint8_t *wire = l->wire[l->n];

	len %= SEG_MAX + 1;
	for (size_t i = 0; i < len; i++)
		wire[SCLP_HDR_LEN + i] = byte_at(h.id, remaining + len - 1 - i);
	sclp_encode(&h, wire + SCLP_HDR_LEN, len, wire);
	take(l, wire, SCLP_HDR_LEN + len, control & 8);
}

static void raw(const uint8_t *data, size_t len)
{
	struct sclp_hdr h;
	size_t segment_len;
	const uint8_t *segment = sclp_in_ipv4(data, len, &segment_len);
	uint8_t again[SCLP_HDR_LEN];

	if (segment && (segment < data || segment + segment_len > data + len))
		abort();
	if (sclp_decode(data, len, &h) < 0)
		return;
	sclp_encode(&h, data + SCLP_HDR_LEN, len - SCLP_HDR_LEN, again);
	/* The checksum has two zeros. All other bytes are equal. */
	if (memcmp(again, data, 10))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct lab l;

	if (!l.join)
		l.join = sclp_join_new((struct hash_key){ 3, 4 });
	l.now = (mono_t){ NS_PER_S };
	for (size_t at = 0; at + 5 <= len;) {
		uint8_t control = data[at];
		uint16_t remaining = get_u16(data + at + 1);
		size_t n = get_u16(data + at + 3);

		at += 5;
		if (control & 128) {
			n = n < len - at ? n : len - at;
			raw(data + at, n);
			at += n;
			continue;
		}
		make(&l, control, remaining, n);
		if (control & 16)
			end_batch(&l);
		if (control & 32)
			l.now = mono_add_ms(l.now, 300);
	}
	end_batch(&l);
	/* No payload outlives its second, and no place is lost. */
	sclp_join_age(l.join, mono_add_ms(l.now, 1000));
	if (sclp_join_waiting(l.join))
		abort();
	return 0;
}
