// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: samples of frames. Workers. */
#include "fwd/out/from_tap.h"

#include <string.h>

#include "base/defs.h"
#include "fwd/send/send_steps.h"
#include "fwd/tap/tap_frames.h"
#include "fwd/worker.h"
#include "wire/frame/ip.h"
#include "wire/ipfix.h"

#define PORTS_LEN 4u

/* Draws the position of the sample in the next block. The generator is xorshift64 (Marsaglia). */
static void begin_block(struct sampler *s)
{
	uint32_t at;

	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	at = (uint32_t)((s->random >> 32) * s->population >> 32);
	s->left = s->rest + at + 1;
	s->rest = s->population - at - 1;
}

void sampler_start(struct sampler *s, uint32_t population, uint64_t seed)
{
	*s = (struct sampler){ .population = population, .random = seed | 1 };
	begin_block(s);
}

unsigned sampler_take(struct sampler *s, unsigned frames)
{
	unsigned n = 0;

	while (frames >= s->left) {
		frames -= s->left;
		n++;
		begin_block(s);
	}
	s->left -= frames;
	return n;
}

static void fill_key(const struct frame *f, struct flow_key *k)
{
	const uint8_t *ip = f->data + f->v.l3_offset, *l4 = f->data + f->v.l4_offset;
	size_t n = f->v.ip_version == 4 ? V4_LEN : V6_LEN;
	const uint8_t *src = ip + (n == V4_LEN ? V4_SRC : V6_SRC);

	memcpy(k->src, src, n);
	memcpy(k->dst, src + n, n);
	k->version = f->v.ip_version;
	k->protocol = f->v.ip_proto;
	k->vlan = f->v.vlan;
	if (ip_has_ports(k->protocol) && f->v.l4_offset && f->len >= f->v.l4_offset + PORTS_LEN) {
		k->src_port = get_u16(l4);
		k->dst_port = get_u16(l4 + 2);
	}
}

/* Length of the IP packets of the frame. The length in the IP header excludes padding of the
 * frame, and a super-frame has the headers of each segment in addition. */
static uint64_t octets_of(const struct frame *f, unsigned segments)
{
	const uint8_t *ip = f->data + f->v.l3_offset;
	size_t in_frame = f->len - f->v.l3_offset, stated;
	struct tso t;

	if (segments > 1 && tso_open(&t, f, SIZE_MAX) == 0)
		return t.payload_len + (uint64_t)segments * (t.hdr_len - f->v.l3_offset);
	stated = f->v.ip_version == 4 ? get_u16(ip + V4_LENGTH)
				      : get_u16(ip + V6_LENGTH) + (size_t)V6_HDR_LEN;
	return min_of(stated, in_frame);
}

/* Passes `n` samples among the segments of a frame to the control thread. */
static void post(struct worker *w, const struct frame *f, uint16_t slot, unsigned n,
		 unsigned segments)
{
	struct sampled_flow *s = ring_reserve(w->samples, 0, sizeof(*s));

	if (unlikely(!s)) {
		count(w, CNT_flow_samples_lost, n);
		return;
	}
	*s = (struct sampled_flow){ .src = f->v.src,
				    .packets = n,
				    .octets =
					    (octets_of(f, segments) * n + segments / 2) / segments,
				    .first = w->now,
				    .last = w->now };
	fill_key(f, &s->key);
	s->key.node = slot == SLOT_NONE ? NODE_ID_NONE : w->snap->node[slot].id;
	s->key.critical = critical_is(w, f);
	ring_commit(w->samples);
	count(w, CNT_flow_samples, n);
}

void sample(struct worker *w, const struct frame *f, uint16_t slot)
{
	struct sampler *s = &w->sampler;
	unsigned n, segments = tso_frames(f);

	if (unlikely(s->population != w->snap->flow_sampling))
		sampler_start(s, w->snap->flow_sampling, w->hash_key.k0);
	n = sampler_take(s, segments);
	if (unlikely(n) && f->v.ip_version)
		post(w, f, slot, n, segments);
}
