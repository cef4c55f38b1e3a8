// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See captures.h. The records are a stream of bytes in memory until the end of the capture. The
 * other node may read any part again, so a lost message loses nothing.
 */
#include "daemon/capture/captures.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "fwd/capture.h"
#include "fwd/fwd.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/one_way.h"
#include "state/tables/nodedb.h"
#include "state/latency/relayed.h"
#include "wire/message/msg.h"

#define LOG_TOKEN "capture"
#define TURN_MS	  10
/* Limit of a turn, so that records cannot starve the protocol. */
#define RECORDS_MAX 20000
/* The other node has ended or is unreachable. */
#define ABANDONED_MS 10000
/* Answers to one CAPTURE-READ, and to all messages in a second. */
#define CHUNKS_MAX  8
#define ANSWERS_MAX 2000

struct provide {
	struct leond *d;
	struct timer *timer;
	node_id_t by;
	struct msg_capture_start start;
	bool runs;
	mono_t until, read_at, second;
	unsigned answers; /* since `second` */
	uint64_t lost_before;
	uint32_t frames, len; /* bytes of the stream */
	uint8_t *stream;      /* start.bytes */
	struct relayed *relayed;
};

/* --- the capture --- */

static void publish(struct leond *d)
{
	if (d->fwd)
		d->ops->publish(d);
}

static uint64_t lost_total(const struct leond *d)
{
	uint64_t counter[N_COUNTERS], drop[N_DROPS];

	fwd_stats(d->fwd, counter, drop);
	return counter[CNT_capture_lost];
}

static void add(struct provide *s, const struct fwd_captured *c)
{
	size_t n;

	if (c->r.place == CAPTURE_RELAYED && c->r.flags & CAPTURE_SEALED) {
		relayed_add(s->relayed, c->r.source, c->r.hop[c->r.n_hops - 1], c->r.nonce,
			    c->r.at_us);
		return;
	}
	n = capture_record_write(&c->r, c->bytes, s->stream + s->len, s->start.bytes - s->len);
	s->frames++;
	s->len += (uint32_t)n;
	if (!n)
		s->until = MONO_NEVER; /* the limit in bytes */
}

static void end(struct provide *s)
{
	s->runs = false;
	publish(s->d);
}

static void drain(struct provide *s, mono_t now)
{
	struct fwd_captured c;

	for (unsigned i = 0; i < RECORDS_MAX && fwd_next_captured(s->d->fwd, &c); i++)
		if (s->runs && !mono_is_never(s->until))
			add(s, &c);
	if (s->runs && !mono_before(now, s->until))
		end(s);
}

void provide_stop(struct leond *d)
{
	struct provide *s = d->states->provide;

	if (!s)
		return;
	d->states->provide = NULL;
	timer_free(s->timer);
	relayed_free(s->relayed);
	free(s->stream);
	free(s);
}

static void drop(struct leond *d)
{
	bool ran = d->states->provide->runs;

	provide_stop(d);
	if (ran)
		publish(d);
}

static void on_turn(void *arg, mono_t now)
{
	struct provide *s = arg;

	if (mono_sub_ms(now, s->read_at) >= ABANDONED_MS) {
		drop(s->d);
		return;
	}
	timer_set(s->timer, mono_add_ms(now, TURN_MS));
	drain(s, now);
}

static struct provide *begin(struct leond *d, node_id_t by, const struct msg_capture_start *start)
{
	struct provide *s = d->states->provide = x_new(struct provide);
	mono_t now = loop_now(d->loop);
	struct fwd_captured old;

	while (fwd_next_captured(d->fwd, &old))
		;
	s->d = d;
	s->by = by;
	s->start = *start;
	s->runs = true;
	s->until = mono_add_ms(now, start->seconds * 1000);
	s->read_at = now;
	s->lost_before = lost_total(d);
	s->stream = x_buffer(1, start->bytes);
	s->relayed = relayed_new();
	s->timer = timer_new(d->loop, on_turn, s);
	timer_set(s->timer, mono_add_ms(now, TURN_MS));
	log_info(LOG_TOKEN, "node %s captures a flow for at most %u s and %u bytes",
		 NODE_ID_TEXT(by), start->seconds, start->bytes);
	publish(d);
	return s;
}

void capture_fill_snap(const struct leond *d, struct snap_capture *out)
{
	const struct provide *s = d->states->provide;

	if (s && s->runs)
		*out = (struct snap_capture){ true, s->start.snap, s->start.filter };
}

static bool permits(struct leond *d, node_id_t node)
{
	const struct node *n = nodedb_find(overlay_nodes(d->overlay), node);

	if (node == d->self)
		return conf_permits_capture(d->conf, node, overlay_identity(d->overlay));
	return conf_permits_capture(d->conf, node, n && n->has_key ? n->key : NULL);
}

void provide_apply_conf(struct leond *d)
{
	if (d->states->provide && !permits(d, d->states->provide->by))
		drop(d);
}

/* --- messages --- */

/* A request and where its answer goes. */
struct asked {
	struct leond *d;
	node_id_t from;
	provide_answer_fn answer;
};

static void refuse(const struct asked *q, uint32_t id, enum capture_status why, node_id_t by)
{
	struct msg m = { .type = MSG_CAPTURE_DATA,
			 .capture_data = { .id = id, .status = (uint8_t)why, .by = by } };

	q->answer(q->d, q->from, &m);
}

static bool is_of(const struct provide *s, node_id_t by, uint32_t id)
{
	return s && s->by == by && s->start.id == id;
}

static struct msg answer_of(const struct provide *s)
{
	struct msg m = { .type = MSG_CAPTURE_DATA };
	struct msg_capture_data *a = &m.capture_data;

	a->id = s->start.id;
	a->status = s->runs ? CAPTURE_RUNS : CAPTURE_ENDED;
	a->total = s->len;
	a->frames = s->frames;
	a->lost = (uint32_t)(lost_total(s->d) - s->lost_before);
	return m;
}

unsigned provide_clocks(struct leond *d, struct msg_clock *clock, unsigned most)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	mono_t now = loop_now(d->loop);
	unsigned n = 0;

	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct one_way *w = overlay_link_ways(d->overlay, slot);
		const struct node *node = nodedb_at(db, slot);
		struct msg_clock c;
		unsigned at = n;

		if (!w || !node || !one_way_clock(w, now, &c.offset_us, &c.rtt_us))
			continue;
		c.node = node->id;
		/* Keeps the links with the smallest round-trip times, in order. */
		while (at && clock[at - 1].rtt_us > c.rtt_us)
			at--;
		if (at == most)
			continue;
		n = min_of(n + 1, most);
		memmove(&clock[at + 1], &clock[at], (n - at - 1) * sizeof(c));
		clock[at] = c;
	}
	return n;
}

static void take_start(const struct asked *q, const struct msg_capture_start *m)
{
	struct provide *s = q->d->states->provide;
	struct msg a;

	if (!is_of(s, q->from, m->id)) {
		if (!m->seconds) {
			refuse(q, m->id, CAPTURE_UNKNOWN, NODE_ID_NONE);
			return;
		}
		if (s && (s->runs || s->by != q->from)) {
			refuse(q, m->id, CAPTURE_BUSY, s->by);
			return;
		}
		provide_stop(q->d);
		s = begin(q->d, q->from, m);
	} else if (!m->seconds && s->runs) {
		drain(s, loop_now(q->d->loop));
		end(s);
	}
	a = answer_of(s);
	a.capture_data.n_clocks =
		(uint8_t)provide_clocks(q->d, a.capture_data.clock, MSG_CLOCKS_MAX);
	q->answer(q->d, q->from, &a);
}

static void take_read(const struct asked *q, const struct provide *s,
		      const struct msg_capture_read *m)
{
	struct msg a = answer_of(s);
	struct msg_capture_data *data = &a.capture_data;

	data->offset = min_of(m->offset, s->len);
	for (unsigned i = 0; i < CHUNKS_MAX; i++) {
		data->n = (uint16_t)min_of(s->len - data->offset, (uint32_t)MSG_CAPTURE_MAX);
		if (i && !data->n)
			break;
		memcpy(data->bytes, s->stream + data->offset, data->n);
		q->answer(q->d, q->from, &a);
		data->offset += data->n;
	}
}

static void take_lookup(const struct asked *q, const struct provide *s,
			const struct msg_capture_lookup *m)
{
	struct msg a = { .type = MSG_CAPTURE_SEEN };
	struct msg_capture_lookup *seen = &a.capture_seen;

	seen->id = m->id;
	seen->source = m->source;
	seen->destination = m->destination;
	for (unsigned i = 0; i < m->n; i++)
		if (relayed_find(s->relayed, m->source, m->destination, m->nonce[i],
				 &seen->at_us[seen->n]))
			seen->nonce[seen->n++] = m->nonce[i];
	q->answer(q->d, q->from, &a);
}

static bool is_too_fast(struct provide *s, mono_t now)
{
	if (mono_sub_ms(now, s->second) >= 1000) {
		s->second = now;
		s->answers = 0;
	}
	s->answers++;
	return s->answers > ANSWERS_MAX / CHUNKS_MAX;
}

static uint32_t id_of(const struct msg *m)
{
	if (m->type == MSG_CAPTURE_START)
		return m->capture_start.id;
	return m->type == MSG_CAPTURE_READ ? m->capture_read.id : m->capture_lookup.id;
}

void provide_message(struct leond *d, node_id_t from, const struct msg *m, provide_answer_fn answer)
{
	const struct asked q = { d, from, answer };
	struct provide *s = d->states->provide;
	bool known = is_of(s, from, id_of(m));

	if (!d->fwd || !permits(d, from)) {
		refuse(&q, id_of(m), CAPTURE_REFUSED, NODE_ID_NONE);
		return;
	}
	if (known) {
		s->read_at = loop_now(d->loop);
		if (from != d->self && is_too_fast(s, s->read_at))
			return;
	}
	if (m->type == MSG_CAPTURE_START)
		take_start(&q, &m->capture_start);
	else if (!known)
		refuse(&q, id_of(m), CAPTURE_UNKNOWN, NODE_ID_NONE);
	else if (m->type == MSG_CAPTURE_READ)
		take_read(&q, s, &m->capture_read);
	else
		take_lookup(&q, s, &m->capture_lookup);
}
