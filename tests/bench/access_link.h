// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A model of an access link on virtual time, datagram by datagram, for sim_rate.c. It has the link
 * with a tail-drop buffer, TCP streams (CUBIC, RFC 9438, HyStart), and the queue of leond. FQ-CoDel
 * and the account of the shaper are those of the product. A loss is found one round trip later.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/defs.h"
#include "base/mem.h"
#include "fwd/queue/fq.h"
#include "fwd/send/send_state.h"
#include "state/rates/autorate.h"

#define BULK_LEN    1500
#define PING_LEN    150
#define BUFFER_MS   200
#define USED_MS	    2000 /* after own data, PINGs are frequent */
#define QUEUE_BYTES (4 << 20)
#define WINDOW_MAX  4000.0 /* datagrams, of the receiver */
#define RTO_MS	    200	   /* of a stream with a window that is too small for duplicate ACKs */
#define STREAMS	    16	   /* own; as many of others follow */
#define PING_FLOW   (2 * STREAMS)
#define PROBE_FLOW  (PING_FLOW + 1)
#define SAMPLES	    20000

enum kind { EV_LINK, EV_SHAPER, EV_ACK, EV_LOSS, EV_PING, EV_PROBE, EV_PONG, EV_STEP };

struct packet {
	struct fq_item item;
	unsigned flow;
	int64_t sent;	   /* ns */
	int64_t arrived;   /* PING: at the peer */
	uint64_t received; /* PING: datagrams at the peer */
};

struct event {
	int64_t at;
	uint64_t order;
	enum kind kind;
	struct packet *packet;
};

struct stream {
	bool on;
	double window, threshold, most; /* datagrams */
	unsigned in_flight, late;	/* late: acknowledgements in a row with a growing delay */
	int64_t cut_at, least_rtt;
};

/* One part of a scenario. A part without a name is not reported. */
struct part {
	const char *name;
	double seconds, mbits, rtt_ms, jitter_ms;
	unsigned own, others; /* streams */
};

struct sim {
	struct part now;
	int64_t ns;
	uint64_t random, order;
	struct event *heap;
	size_t n_events;
	bool automatic;
	struct stream stream[2 * STREAMS];
	struct fq fq;
	struct fq_chain dropped;
	struct shaper shaper;
	uint32_t limit_kbits, fq_kbits;
	bool waits;	      /* an EV_SHAPER is scheduled */
	struct fq_chain line; /* the buffer of the link */
	double line_bytes;
	struct autorate rate;
	struct link_load load;
	mono_t seen;
	uint64_t tx, tx_bytes, rx; /* own datagrams: sent, received */
	int64_t used_until;
	double own_bytes, other_bytes, added[SAMPLES]; /* of the part */
	unsigned n_added;
};

static struct sim s;

static double random_01(void)
{
	s.random ^= s.random << 13;
	s.random ^= s.random >> 7;
	s.random ^= s.random << 17;
	return (double)(s.random >> 11) / (double)(1ull << 53);
}

/* Exponential, with a peak of ten times the mean in one of 200. */
static int64_t jitter(void)
{
	double ms = -log(1 - random_01()) * s.now.jitter_ms / 2;

	return (int64_t)((random_01() < .005 ? 10 * ms : ms) * NS_PER_MS);
}

static int64_t ms_ns(double ms)
{
	return (int64_t)(ms * NS_PER_MS);
}

/* --- events --- */

static bool is_earlier(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void schedule(int64_t at, enum kind kind, struct packet *packet)
{
	struct event e = { at, s.order++, kind, packet };
	size_t i = s.n_events++;

	if ((s.n_events & (s.n_events - 1)) == 0)
		s.heap = x_realloc(s.heap, 2 * s.n_events, sizeof(*s.heap));
	for (; i && is_earlier(&e, &s.heap[(i - 1) / 2]); i = (i - 1) / 2)
		s.heap[i] = s.heap[(i - 1) / 2];
	s.heap[i] = e;
}

static struct event next_event(void)
{
	struct event first = s.heap[0], e = s.heap[--s.n_events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < s.n_events) {
		child += child + 1 < s.n_events && is_earlier(&s.heap[child + 1], &s.heap[child]);
		if (!is_earlier(&s.heap[child], &e))
			break;
		s.heap[i] = s.heap[child];
		i = child;
	}
	s.heap[i] = e;
	return first;
}

/* --- link --- */

static struct packet *new_packet(unsigned flow, uint32_t len)
{
	struct packet *p = x_new(struct packet);

	p->item.len = len;
	p->flow = flow;
	p->sent = s.ns;
	return p;
}

static bool is_own(const struct packet *p)
{
	return p->flow < STREAMS || p->flow == PING_FLOW;
}

/* The sender finds the loss one round trip later. */
static void lose(struct packet *p)
{
	double ms = s.now.rtt_ms + s.line_bytes * 8 / (s.now.mbits * 1000);

	if (p->flow < PING_FLOW)
		schedule(s.ns + ms_ns(ms + (s.stream[p->flow].in_flight < 4 ? RTO_MS : 0)), EV_LOSS,
			 p);
	else
		free(p);
}

static void serve_next(void)
{
	if (s.line.head)
		schedule(s.ns + (int64_t)(s.line.head->len * 8 * 1000 / s.now.mbits), EV_LINK,
			 NULL);
}

static void to_line(struct packet *p)
{
	bool idle = !s.line.head;

	if (is_own(p)) {
		s.tx++;
		s.tx_bytes += p->item.len;
		s.used_until = s.ns + USED_MS * NS_PER_MS;
	}
	if (s.line_bytes + p->item.len > BUFFER_MS * s.now.mbits * 1000 / 8) {
		lose(p);
		return;
	}
	s.line_bytes += p->item.len;
	fq_chain_add(&s.line, &p->item);
	if (idle)
		serve_next();
}

static void leave_line(void)
{
	struct packet *p = container_of(fq_chain_take(&s.line), struct packet, item);
	int64_t rtt = ms_ns(s.now.rtt_ms);

	s.line_bytes -= p->item.len;
	serve_next();
	s.rx += is_own(p);
	if (p->flow < PING_FLOW) {
		*(p->flow < STREAMS ? &s.own_bytes : &s.other_bytes) += p->item.len;
		schedule(s.ns + rtt, EV_ACK, p);
	} else if (p->flow == PROBE_FLOW) {
		p->received = s.rx;
		p->arrived = s.ns + rtt / 2 + jitter();
		schedule(p->arrived + rtt - rtt / 2 + jitter(), EV_PONG, p);
	} else {
		if (s.n_added < SAMPLES)
			s.added[s.n_added++] = (double)(s.ns - p->sent) / NS_PER_MS +
					       (double)(jitter() + jitter()) / NS_PER_MS;
		free(p);
	}
}

/* --- queue of leond --- */

static void set_limit(uint32_t kbits)
{
	struct fq_params params = { .target_ns = FQ_TARGET_NS, .quantum = 1514 };

	s.limit_kbits = kbits;
	if (!kbits || kbits == s.fq_kbits)
		return;
	params.target_ns = max_of(params.target_ns, (int64_t)(2 * 1514 * 8 * NS_PER_MS / kbits));
	params.interval_ns = max_of(FQ_INTERVAL_NS, 4 * params.target_ns);
	fq_set_params(&s.fq, &params);
	s.fq_kbits = kbits;
}

static void serve_queue(void)
{
	mono_t now = { s.ns };
	struct fq_item *item;

	while (s.fq.n) {
		bool sparse = fq_has_fresh(&s.fq);

		if (s.limit_kbits && !shaper_room(&s.shaper, s.limit_kbits, sparse, now)) {
			if (!s.waits)
				schedule(max_of(shaper_due(&s.shaper, sparse).ns, s.ns + 1),
					 EV_SHAPER, NULL);
			s.waits = true;
			return;
		}
		item = fq_next(&s.fq, now);
		for (struct fq_item *d; (d = fq_chain_take(&s.dropped));)
			lose(container_of(d, struct packet, item));
		if (!item)
			continue;
		if (s.limit_kbits)
			shaper_pay(&s.shaper, s.limit_kbits, item->len, now);
		to_line(container_of(item, struct packet, item));
	}
}

static void send_own(struct packet *p)
{
	struct fq_item *item;

	fq_put(&s.fq, &p->item, p->flow, (mono_t){ s.ns });
	while (s.fq.bytes > QUEUE_BYTES && (item = fq_shed(&s.fq, FQ_LACK_LARGE)))
		lose(container_of(item, struct packet, item));
	serve_queue();
}

/* --- TCP --- */

static void send_stream(unsigned flow)
{
	struct stream *t = &s.stream[flow];

	while (t->on && t->in_flight < t->window) {
		struct packet *p = new_packet(flow, BULK_LEN);

		t->in_flight++;
		if (flow < STREAMS)
			send_own(p);
		else
			to_line(p);
	}
}

static void start_stream(unsigned flow)
{
	unsigned in_flight = s.stream[flow].in_flight;

	s.stream[flow] = (struct stream){ .on = true,
					  .window = 10,
					  .threshold = WINDOW_MAX,
					  .in_flight = in_flight,
					  .least_rtt = INT64_MAX };
	send_stream(flow);
}

static void grow(struct stream *t, int64_t rtt)
{
	double elapsed = (double)(s.ns - t->cut_at + rtt) / NS_PER_S;
	double goal = t->most + .4 * pow(elapsed - cbrt(t->most * .3 / .4), 3);
	double reno = .53 / t->window, cubic = min_of((goal - t->window) / t->window, .5);

	/* HyStart: the delay grows. */
	t->late = rtt > t->least_rtt + max_of(ms_ns(4), min_of(t->least_rtt / 8, ms_ns(16)))
			  ? t->late + 1
			  : 0;
	if (t->window < t->threshold && t->late >= 8 && t->window >= 16) {
		t->threshold = t->most = t->window;
		t->cut_at = s.ns;
	}
	if (t->in_flight + 2 < t->window)
		return;
	t->window += t->window < t->threshold ? 1 : max_of(reno, cubic);
	t->window = min_of(t->window, WINDOW_MAX);
}

static void acknowledge(struct packet *p, bool lost)
{
	struct stream *t = &s.stream[p->flow];
	int64_t rtt = s.ns - p->sent;

	t->in_flight--;
	if (lost && p->sent > t->cut_at) {
		t->most = t->window;
		t->window = t->threshold = max_of(2.0, t->window * .7);
		t->cut_at = s.ns;
	} else if (!lost) {
		t->least_rtt = min_of(t->least_rtt, rtt);
		grow(t, rtt);
	}
	send_stream(p->flow);
	free(p);
}

static void set_streams(unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + STREAMS; i++) {
		bool on = i < first + n;

		if (on && !s.stream[i].on)
			start_stream(i);
		s.stream[i].on = on;
	}
}
