// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line of the Internet for tests, in steps of a millisecond: a rate, a round trip, a buffer that
 * drops what comes last; bulk of ours, as a TCP that halves nothing but falls to seven tenths where
 * something was lost; traffic of others in the same buffer; and a PING each 90 to 110 ms, as LEON
 * sends them, or when it is asked for, whose answer says what link_load.h asks for. Traffic is a
 * fluid of datagrams of 1,428 bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/mono.h"
#include "state/link_load.h"

#define LINE_DATAGRAM 1428
#define LINE_PINGS    64
#define LINE_SKEW_PPM 50 /* between the clocks of both ends */

struct line {
	/* Set by the test. */
	double kbits, buffer_ms, base_ms, jitter_ms;
	uint32_t shaken_us; /* what round trips differ because of others' bulk, lately */
	double back_ms;	    /* a queue on the way back */
	double others_kbits;
	double wants_kbits;    /* ours: no more than this */
	uint32_t shaped_kbits; /* 0: as TCP likes */
	/* What is. */
	int64_t ms, cut_ms, ping_ms;
	double queue, queue_others; /* bytes */
	double window;
	double sent, delivered, lost, back; /* bytes of ours */
	unsigned seed;
	struct line_ping {
		int64_t sent_ms, arrives_ms, answer_ms;
		double there_ms, back_ms, delivered;
	} ping[LINE_PINGS];
	unsigned first, n;
};

static inline mono_t line_now(const struct line *l)
{
	return mono_add_ms((mono_t){ 100 * NS_PER_S }, l->ms);
}

static inline double line_queue_ms(const struct line *l)
{
	return (l->queue + l->queue_others) * 8 / l->kbits;
}

static inline double line_noise(struct line *l)
{
	l->seed = l->seed * 1664525 + 1013904223;
	return (l->seed >> 8) / (double)(1 << 24) * l->jitter_ms;
}

/* Bytes that ours sends in this millisecond: in flight is what the round trip holds. */
static inline double line_offers(struct line *l)
{
	double rtt_ms = l->base_ms + l->back_ms + line_queue_ms(l);
	double most = l->wants_kbits / 8, under_way = l->queue + l->kbits / 8 * l->base_ms;

	if (l->shaped_kbits)
		return min_of(most, l->shaped_kbits / 8.0);
	l->window = max_of(l->window, 20.0 * LINE_DATAGRAM);
	l->window += min_of(l->window, 400.0 * LINE_DATAGRAM) / rtt_ms;
	most = min_of(most, l->window - under_way + l->kbits / 8);
	most = min_of(most, l->kbits / 4);
	return max_of(0.0, most);
}

static inline void line_ping(struct line *l)
{
	struct line_ping *p = &l->ping[(l->first + l->n) % LINE_PINGS];

	l->seed = l->seed * 1664525 + 1013904223;
	l->ping_ms = l->ms + 90 + (l->seed >> 8) % 21;
	if (l->n == LINE_PINGS)
		return;
	l->n++;
	p->sent_ms = l->ms;
	p->there_ms = l->base_ms / 2 + line_queue_ms(l) + line_noise(l);
	p->back_ms = l->base_ms / 2 + l->back_ms + line_noise(l);
	p->arrives_ms = l->ms + (int64_t)p->there_ms;
	p->answer_ms = l->ms + (int64_t)(p->there_ms + p->back_ms);
	p->delivered = -1;
}

/* A millisecond. */
static inline void line_step(struct line *l)
{
	double ours = line_offers(l), others = l->others_kbits / 8, all, goes, share;
	double room = l->buffer_ms * l->kbits / 8 - l->queue - l->queue_others;

	l->sent += ours;
	if (ours + others > room && ours + others > 0) {
		share = max_of(room, 0.0) / (ours + others);
		l->lost += ours * (1 - share);
		ours *= share;
		others *= share;
		if (!l->shaped_kbits && l->ms >= l->cut_ms) {
			l->window *= .7;
			l->cut_ms = l->ms + (int64_t)(l->base_ms + l->buffer_ms);
		}
	}
	l->queue += ours;
	l->queue_others += others;
	all = l->queue + l->queue_others;
	goes = min_of(all, l->kbits / 8);
	share = all > 0 ? l->queue / all : 0;
	l->queue -= goes * share;
	l->queue_others -= goes * (1 - share);
	l->delivered += goes * share;
	for (unsigned i = 0; i < l->n; i++) {
		struct line_ping *p = &l->ping[(l->first + i) % LINE_PINGS];

		if (p->delivered < 0 && p->arrives_ms <= l->ms)
			p->delivered = l->delivered;
	}
	l->ms++;
	if (l->ms >= l->ping_ms)
		line_ping(l);
}

/* An answer that came by now. */
static inline bool line_answer(struct line *l, struct load_sample *s)
{
	struct line_ping *p = &l->ping[l->first];
	double arrived;

	if (!l->n || p->answer_ms > l->ms)
		return false;
	l->first = (l->first + 1) % LINE_PINGS;
	l->n--;
	arrived = (double)p->sent_ms + p->there_ms;
	arrived += arrived * LINE_SKEW_PPM / 1e6;
	*s = (struct load_sample){
		.rtt_us = (uint32_t)((p->there_ms + p->back_ms) * 1000),
		.there_us = (uint32_t)(int64_t)((arrived - (double)p->sent_ms) * 1000),
		.back_us = (uint32_t)(int64_t)((p->sent_ms + p->there_ms + p->back_ms - arrived) *
					       1000),
		.counted_us = (uint32_t)(int64_t)(arrived * 1000),
		.delivered = (uint32_t)(p->delivered / LINE_DATAGRAM),
		.epoch = 1,
		.jitter_us = l->shaken_us + (uint32_t)(l->jitter_ms * 300),
		.tx_datagrams = (uint64_t)(l->sent / LINE_DATAGRAM),
		.tx_bytes = (uint64_t)(l->sent / LINE_DATAGRAM) * LINE_DATAGRAM,
		.rx_bytes = (uint64_t)l->back,
	};
	return true;
}
