// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A model of a bottleneck link in steps of one millisecond, for tests. The link has a rate, a
 * round-trip time, and a tail-drop buffer that own bulk traffic and the traffic of others share.
 * LEON sends a PING every 90 to 110 ms or on request, and the answer supplies the input of
 * link_load.h. Traffic is a fluid of datagrams of 1,428 bytes.
 *
 * Bulk is the sum of several TCP connections (CUBIC, RFC 9438). The bytes in flight are at most
 * their window. The window grows with each acknowledgement, and shrinks one round trip after a
 * loss. A limit adds a queue with CoDel (RFC 8289), as in leond. If the window is too small for the
 * limit, less is sent.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/mono.h"
#include "state/rates/link_load.h"

#define LINE_DATAGRAM 1428
#define LINE_PINGS    64
#define LINE_SKEW_PPM 50   /* difference between the clocks of both ends */
#define LINE_FUTURE   2048 /* ms; the longest round trip */

/* Several TCP connections as one sum. */
struct line_tcp {
	unsigned streams;	   /* set by the test; 0: not TCP */
	double window, under_way;  /* bytes */
	double acked[LINE_FUTURE]; /* bytes acknowledged in that millisecond */
	double lost[LINE_FUTURE];  /* bytes found lost in that millisecond */
	double most;		   /* window before its last reduction */
	bool slow_start_over;
	int64_t cut_ms, next_cut_ms, sent_ms;
};

/* CoDel in the own queue. */
struct line_codel {
	bool above, dropping;
	double drop_ms; /* time of the next drop, or the time at which dropping begins */
	unsigned count;
};

struct line {
	/* Set by the test. */
	double kbits, buffer_ms, base_ms, jitter_ms;
	double longer_ms;  /* increase of the propagation delay, half in each direction */
	double back_ms;	   /* queueing delay of the return direction */
	double back_kbits; /* own data that arrives from there */
	double others_kbits;
	double wants_kbits;    /* upper limit of own data */
	uint32_t shaped_kbits; /* 0: no limit */
	/* State. */
	int64_t ms, ping_ms;
	double held;		    /* bytes in the queue of the limit */
	double queue, queue_others; /* bytes */
	struct line_tcp tcp, tcp_others;
	struct line_codel codel;
	double sent, delivered, lost, reverse; /* own bytes */
	double loses; /* part of the data of this millisecond that is lost */
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

static inline double line_random(struct line *l)
{
	l->seed = l->seed * 1664525 + 1013904223;
	return (l->seed >> 8) / (double)(1 << 24);
}

/* --- TCP --- */

static inline double *line_future(double *at, const struct line *l, double ms)
{
	return &at[(l->ms + (int64_t)ms) % LINE_FUTURE];
}

/* Round-trip time without jitter and without own queueing delay. */
static inline double line_way_ms(const struct line *l)
{
	return max_of(1.0, l->base_ms + l->longer_ms + l->back_ms);
}

/* Round-trip time without the jitter of PINGs. */
static inline double line_rtt_ms(const struct line *l)
{
	return line_way_ms(l) + line_queue_ms(l);
}

/* The sender detects the loss one round trip later. */
static inline void line_tcp_loses(struct line *l, struct line_tcp *t, double bytes)
{
	*line_future(t->lost, l, line_rtt_ms(l)) += bytes;
}

static inline void line_tcp_begin(struct line *l, struct line_tcp *t)
{
	t->window = 10.0 * t->streams * LINE_DATAGRAM;
	t->slow_start_over = false;
	t->sent_ms = l->ms;
}

/* Each connection with a loss keeps 0.7 of its window. */
static inline void line_tcp_cut(struct line *l, struct line_tcp *t, double lost)
{
	double of_them = min_of(1.0, ceil(lost / LINE_DATAGRAM) / t->streams);

	t->slow_start_over = true;
	t->most = t->window;
	t->window *= 1 - .3 * of_them;
	t->cut_ms = l->ms;
	t->next_cut_ms = l->ms + (int64_t)(of_them * line_rtt_ms(l));
}

/* CUBIC: for each connection, C is 0.4 datagrams for the third power of a second. */
static inline void line_tcp_grow(struct line *l, struct line_tcp *t, double acked)
{
	double c = .4 * t->streams * LINE_DATAGRAM;
	double s = ((double)(l->ms - t->cut_ms) + line_rtt_ms(l)) / 1000;
	double k = cbrt(t->most * .3 / c), goal = t->most + c * pow(s - k, 3);
	double reno = acked * .53 * t->streams * LINE_DATAGRAM / t->window;
	double cubic = min_of((goal - t->window) * acked / t->window, acked / 2);

	t->window += t->slow_start_over ? max_of(reno, cubic) : acked;
}

static inline double line_tcp_offers(struct line *l, struct line_tcp *t, double wants)
{
	double *acked = line_future(t->acked, l, 0), *lost = line_future(t->lost, l, 0);
	double most, bytes;

	/* A pause restarts the connection. */
	if (t->window == 0 || l->ms - t->sent_ms > 1000)
		line_tcp_begin(l, t);
	t->under_way = max_of(0.0, t->under_way - *acked - *lost);
	if (*lost > 0 && l->ms >= t->next_cut_ms)
		line_tcp_cut(l, t, *lost);
	t->window = max_of(t->window, 2.0 * t->streams * LINE_DATAGRAM);
	/* An unused window does not grow. */
	if (t->under_way + *acked + 2 * LINE_DATAGRAM >= t->window)
		line_tcp_grow(l, t, *acked);
	/* A host is fast and begins with a burst. */
	most = t->under_way > 0 || t->slow_start_over ? 2 * (*acked + LINE_DATAGRAM) : t->window;
	*acked = *lost = 0;
	most = min_of(most, wants);
	bytes = max_of(0.0, min_of(most, t->window - t->under_way));
	t->under_way += bytes;
	if (bytes > 0)
		t->sent_ms = l->ms;
	return bytes;
}

/* --- the limit --- */

/* Drops single datagrams while the first one is older than 5 ms, as CoDel does. */
static inline void line_codel(struct line *l)
{
	struct line_codel *c = &l->codel;
	double target = max_of(5.0, 2 * LINE_DATAGRAM * 8.0 / l->shaped_kbits);
	double interval = max_of(100.0, 4 * target);

	if (l->held * 8 / l->shaped_kbits < target) {
		c->above = c->dropping = false;
		return;
	}
	if (!c->above) {
		c->above = true;
		c->count = l->ms - c->drop_ms < 16 * interval && c->count > 2 ? c->count - 2 : 1;
		c->drop_ms = (double)l->ms + interval;
		return;
	}
	if ((double)l->ms < c->drop_ms)
		return;
	l->held -= LINE_DATAGRAM;
	line_tcp_loses(l, &l->tcp, LINE_DATAGRAM);
	c->drop_ms += interval / sqrt(c->count++);
}

/* Returns the own bytes that enter the link in this millisecond. */
static inline double line_offers(struct line *l)
{
	double bytes = l->wants_kbits / 8, most;

	if (l->tcp.streams)
		bytes = line_tcp_offers(l, &l->tcp, bytes);
	l->held += bytes;
	if (!l->shaped_kbits) {
		bytes = l->held;
		l->held = 0;
		return bytes;
	}
	/* The queue holds 1 MiB, which limits traffic without congestion control. */
	if (l->held > 1 << 20) {
		line_tcp_loses(l, &l->tcp, l->held - (1 << 20));
		l->held = 1 << 20;
	}
	most = min_of(l->held, l->shaped_kbits / 8.0);
	l->held -= most;
	line_codel(l);
	return most;
}

/* --- PINGs --- */

static inline double line_noise(struct line *l)
{
	return line_random(l) * l->jitter_ms;
}

static inline void line_ping(struct line *l)
{
	struct line_ping *p = &l->ping[(l->first + l->n) % LINE_PINGS];

	l->ping_ms = l->ms + 90 + (int64_t)(line_random(l) * 21);
	/* A full buffer drops PINGs like all datagrams. */
	if (l->n == LINE_PINGS || line_random(l) < l->loses)
		return;
	l->n++;
	p->sent_ms = l->ms;
	p->there_ms = l->base_ms / 2 + line_queue_ms(l) + line_noise(l);
	p->back_ms = l->base_ms / 2 + l->back_ms + line_noise(l);
	/* A longer propagation delay also delays the data. */
	p->arrives_ms = l->ms + (int64_t)p->there_ms;
	p->there_ms += l->longer_ms / 2;
	p->back_ms += l->longer_ms / 2;
	p->answer_ms = l->ms + (int64_t)(p->there_ms + p->back_ms);
	p->delivered = -1;
}

/* Advances by one millisecond. */
static inline void line_step(struct line *l)
{
	double ours = line_offers(l), others = l->others_kbits / 8, all, goes, share;
	double room = l->buffer_ms * l->kbits / 8 - l->queue - l->queue_others;

	if (l->tcp_others.streams)
		others = line_tcp_offers(l, &l->tcp_others, others);
	l->sent += ours;
	l->reverse += l->back_kbits / 8;
	l->loses = 0;
	if (ours + others > room && ours + others > 0) {
		share = max_of(room, 0.0) / (ours + others);
		l->lost += ours * (1 - share);
		line_tcp_loses(l, &l->tcp, ours * (1 - share));
		line_tcp_loses(l, &l->tcp_others, others * (1 - share));
		ours *= share;
		others *= share;
		l->loses = 1 - share;
	}
	l->queue += ours;
	l->queue_others += others;
	all = l->queue + l->queue_others;
	goes = min_of(all, l->kbits / 8);
	share = all > 0 ? l->queue / all : 0;
	l->queue -= goes * share;
	l->queue_others -= goes * (1 - share);
	l->delivered += goes * share;
	share *= goes;
	*line_future(l->tcp.acked, l, line_way_ms(l)) += share;
	*line_future(l->tcp_others.acked, l, line_way_ms(l)) += goes - share;
	for (unsigned i = 0; i < l->n; i++) {
		struct line_ping *p = &l->ping[(l->first + i) % LINE_PINGS];

		if (p->delivered < 0 && p->arrives_ms <= l->ms)
			p->delivered = l->delivered;
	}
	l->ms++;
	if (l->ms >= l->ping_ms)
		line_ping(l);
}

/* Returns the next answer that has arrived. */
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
		.forward_us = (uint32_t)(int64_t)((arrived - (double)p->sent_ms) * 1000),
		.reverse_us =
			(uint32_t)(int64_t)((p->sent_ms + p->there_ms + p->back_ms - arrived) *
					    1000),
		.counted_us = (uint32_t)(int64_t)(arrived * 1000),
		.delivered = (uint32_t)(p->delivered / LINE_DATAGRAM),
		.epoch = 1,
		.tx_datagrams = (uint64_t)(l->sent / LINE_DATAGRAM),
		.tx_bytes = (uint64_t)(l->sent / LINE_DATAGRAM) * LINE_DATAGRAM,
		.rx_bytes = (uint64_t)l->reverse,
	};
	return true;
}
