// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Coalescing of frames to the TAP. The input is a program that makes the frames of a batch, eight
 * bytes each: {flow (2 bits) and shape, payload, gap, flags, damage: offset (16), mask (8)}. The
 * frames at the hosts are compared with the input (tests/unit/gso_reference.h).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/gso_reference.h"

#define STEP	 8
#define STEPS	 200
#define FLOWS	 4
#define NO_FLAGS 0x10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Applies one step of the program to its flow and adds a frame. */
static void step(struct gr *g, struct gr_spec *flow, const uint8_t *p)
{
	struct gr_spec *s = &flow[p[0] % FLOWS];
	struct gr_frame *f;
	size_t at;

	s->whole = (p[0] & 0xf0) == 0xf0;
	s->payload = p[1] & 0x80 ? 100 : p[1];
	s->flags = p[3] & 0x80 ? p[3] & 0x3f : NO_FLAGS;
	s->seq += p[2] & 0x80 ? p[2] : 0;
	s->id = (uint16_t)(s->id + (p[2] & 0x40));
	s->fill++;
	f = gr_add(g, s);
	s->seq += (uint32_t)s->payload;
	s->id++;
	at = gr_get16(p + 4);
	if (at < f->len) {
		f->data[at] ^= p[6];
		if (p[7] & 1 && s->version == 4)
			gr_ip_sum(f->data + gr_l3(f->kept));
		memcpy(f->kept, f->data, f->len);
	}
}

/* As the caller in the product: the view determines the position of a partial checksum. */
static void place_checksums(struct gr *g)
{
	for (unsigned i = 0; i < g->n_in; i++) {
		struct gr_frame *f = &g->in[i];
		struct eth_view v;

		if (!f->csum_start)
			continue;
		f->csum_start = f->csum_offset = 0;
		if (eth_parse(f->data, f->len, &v) < 0 || !v.l4_offset || v.ip_fragment)
			continue;
		f->csum_offset = v.ip_proto == 6 ? 16 : v.ip_proto == 17 ? 6 : 0;
		if (f->csum_offset && v.l4_offset + f->csum_offset + 2u <= f->len)
			f->csum_start = v.l4_offset;
		else
			f->csum_offset = 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct gr g;
	static struct coalesce c;
	struct gr_spec flow[FLOWS] = {
		{ .version = 4, .id = 0xfff0, .no_df = true },
		{ .version = 6, .flow = 1, .tcp_options = 12, .seq = 0xffffff00 },
		{ .version = 4, .flow = 2, .udp = true, .n_tags = 1 },
		{ .version = 6, .flow = 3, .udp = true, .n_tags = 2 },
	};

	gr_reset(&g);
	c.tcp = c.udp = true;
	for (size_t at = 0; at + STEP <= len && g.n_in < STEPS; at += STEP)
		step(&g, flow, data + at);
	place_checksums(&g);
	if (!gr_run(&g, &c)) {
		fprintf(stderr, "coalesce: %s\n", g.wrong);
		abort();
	}
	return 0;
}
