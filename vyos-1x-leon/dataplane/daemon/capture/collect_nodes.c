// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See captures.h: the dialogue with one node. Each request is repeated until an answer arrives, and
 * each answer is complete in itself, so a lost message costs time only.
 */
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "daemon/capture/captures.h"

#define START_MS    500
#define STARTS_MAX  10 /* an older release ignores the message */
#define READ_MS	    200
#define SILENT_MS   5000
#define CLOCKS_MS   2000
#define END_MS	    30000 /* delay of the end of a capture and of its records */
#define LOOKUP_MS   300
#define LOOKUPS_MAX 8
/* Bytes of the answer to one CAPTURE-READ (provide.c). */
#define ANSWER_BYTES (8 * MSG_CAPTURE_MAX)
/* Records in memory. The operator's program takes 10,000 a second, and the nodes keep the others. A
 * capture with the default limits has fewer. */
#define RECORDS_MAX 500000

/* --- requests --- */

/* The repeated message also requests the clocks. */
void collect_node_start(struct collect *c, struct collect_node *n, mono_t now)
{
	struct msg m = { .type = MSG_CAPTURE_START, .capture_start = c->start };

	if (c->stopping)
		m.capture_start.seconds = 0;
	n->clocks_at = now;
	c->send(c, n->id, &m);
}

static void send_read(struct collect *c, struct collect_node *n, mono_t now)
{
	struct msg m = { .type = MSG_CAPTURE_READ, .capture_read = { c->start.id, n->have } };

	n->more = false;
	n->asked = n->have;
	n->asked_at = now;
	c->send(c, n->id, &m);
}

static bool is_between(const struct collect_waiting *a, const struct msg_capture_lookup *m)
{
	return a->r.source == m->source && a->r.hop[a->r.n_hops - 1] == m->destination;
}

static void forget_waiting(struct collect_node *n, unsigned i)
{
	free(n->waiting[i].bytes);
	n->waiting[i] = n->waiting[--n->n_waiting];
}

static void forget_all_waiting(struct collect_node *n)
{
	while (n->n_waiting)
		forget_waiting(n, n->n_waiting - 1);
}

/* Requests the times of datagrams between one pair of nodes. */
static void send_lookup(struct collect *c, struct collect_node *n, mono_t now)
{
	struct msg m = { .type = MSG_CAPTURE_LOOKUP, .capture_lookup = { .id = c->start.id } };
	struct msg_capture_lookup *l = &m.capture_lookup;

	for (unsigned i = 0; i < n->n_waiting && l->n < MSG_LOOKUP_MAX; i++) {
		struct collect_waiting *a = &n->waiting[i];

		if (mono_before(now, a->due))
			continue;
		if (!l->n) {
			l->source = a->r.source;
			l->destination = a->r.hop[a->r.n_hops - 1];
		}
		if (!is_between(a, l))
			continue;
		a->due = mono_add_ms(now, LOOKUP_MS);
		a->tries++;
		l->nonce[l->n++] = a->r.nonce;
	}
	if (l->n)
		c->send(c, n->id, &m);
}

static void expire_waiting(struct collect_node *n, mono_t now)
{
	for (unsigned i = n->n_waiting; i-- > 0;)
		if (n->waiting[i].tries >= LOOKUPS_MAX && !mono_before(now, n->waiting[i].due)) {
			n->unseen++;
			forget_waiting(n, i);
		}
}

bool collect_has_room(const struct collect *c)
{
	size_t n = c->n_ready - c->next_ready;

	for (unsigned i = 0; i < c->n_nodes; i++)
		n += c->node[i].n_waiting;
	return n < RECORDS_MAX;
}

/* A capture ends by itself. A defective member whose records stop must not keep the operator's
 * program. A hostile member can, by a byte within each limit, until a signal ends the program. */
static bool is_overdue(const struct collect *c, const struct collect_node *n, mono_t now)
{
	return !(n->ended && n->have == n->total) &&
	       mono_sub_ms(now, n->moved_at) >= c->start.seconds * 1000 + END_MS;
}

static void turn_running(struct collect *c, struct collect_node *n, mono_t now)
{
	if (mono_sub_ms(now, n->heard_at) >= SILENT_MS) {
		n->state = COLLECT_SILENT;
		return;
	}
	if (!collect_has_room(c))
		n->moved_at = now;
	if (is_overdue(c, n, now)) {
		n->state = COLLECT_INVALID;
		return;
	}
	if (mono_sub_ms(now, n->clocks_at) >= CLOCKS_MS || (c->stopping && !n->ended))
		collect_node_start(c, n, now);
	if (n->state == COLLECT_RUNNING && collect_has_room(c) &&
	    (n->more || mono_sub_ms(now, n->asked_at) >= READ_MS))
		send_read(c, n, now);
	expire_waiting(n, now);
	send_lookup(c, n, now);
}

/* Sources report datagrams of this relay as long as their captures run. */
static bool may_get_more(const struct collect *c)
{
	for (unsigned i = 0; i < c->n_nodes; i++) {
		const struct collect_node *n = &c->node[i];

		if (n->state == COLLECT_STARTING ||
		    (n->state == COLLECT_RUNNING && !(n->ended && n->have == n->total)))
			return true;
	}
	return false;
}

void collect_node_turn(struct collect *c, struct collect_node *n, mono_t now)
{
	if (n->state == COLLECT_STARTING &&
	    (!n->tries || mono_sub_ms(now, n->asked_at) >= START_MS)) {
		n->asked_at = now;
		if (n->tries++ == STARTS_MAX || c->stopping)
			n->state = COLLECT_SILENT;
		else
			collect_node_start(c, n, now);
	}
	if (n->state == COLLECT_RUNNING)
		turn_running(c, n, now);
	/* Records that wait would use the room of other nodes for ever. */
	if (n->state > COLLECT_RUNNING)
		forget_all_waiting(n);
	if (n->state == COLLECT_RUNNING && !n->n_waiting && !may_get_more(c))
		n->state = COLLECT_COMPLETE;
}

/* --- answers --- */

static void make_room(struct collect *c)
{
	size_t n = c->n_ready - c->next_ready;

	if (c->n_ready == c->room && c->next_ready > n) {
		memmove(c->ready, c->ready + c->next_ready, n * sizeof(*c->ready));
		c->n_ready = n;
		c->next_ready = 0;
	}
	x_double(c->ready, c->n_ready, c->room);
}

static void add_ready(struct collect *c, node_id_t node, const struct capture_record *r,
		      const uint8_t *bytes)
{
	struct collected *one;

	make_room(c);
	one = &c->ready[c->n_ready++];
	*one = (struct collected){ .node = node, .r = *r, .bytes = x_calloc(1, r->n + 1u) };
	memcpy(one->bytes, bytes, r->n);
}

struct collect_node *collect_node_find(struct collect *c, node_id_t id)
{
	for (unsigned i = 0; i < c->n_nodes; i++)
		if (c->node[i].id == id)
			return &c->node[i];
	return NULL;
}

static void wait_for_relay(struct collect_node *n, const struct capture_record *r,
			   const uint8_t *bytes, mono_t now)
{
	struct collect_waiting *a;

	x_double(n->waiting, n->n_waiting, n->room);
	a = &n->waiting[n->n_waiting++];
	*a = (struct collect_waiting){ .r = *r, .bytes = x_calloc(1, r->n + 1u), .due = now };
	memcpy(a->bytes, bytes, r->n);
}

static void take_record(struct collect *c, struct collect_node *n, const struct capture_record *r,
			const uint8_t *bytes, mono_t now)
{
	struct collect_node *relay;

	add_ready(c, n->id, r, bytes);
	if (r->place != CAPTURE_SENT || !(r->flags & CAPTURE_SEALED))
		return;
	for (unsigned i = 0; i + 1 < r->n_hops; i++) {
		relay = collect_node_find(c, r->hop[i]);
		if (relay && relay->state <= COLLECT_RUNNING)
			wait_for_relay(relay, r, bytes, now);
	}
}

/* Appends bytes to the stream, and takes complete records from it. */
static void take_bytes(struct collect *c, struct collect_node *n, const uint8_t *bytes, size_t len,
		       mono_t now)
{
	struct capture_record r;
	const uint8_t *frame;
	size_t at = 0;
	int got;

	n->tail = x_realloc(n->tail, n->tail_len + len, 1);
	memcpy(n->tail + n->tail_len, bytes, len);
	n->tail_len += len;
	while ((got = capture_record_read(n->tail + at, n->tail_len - at, &r, &frame)) > 0) {
		take_record(c, n, &r, frame, now);
		at += (size_t)got;
	}
	if (got < 0)
		n->state = COLLECT_INVALID;
	n->tail_len -= at;
	memmove(n->tail, n->tail + at, n->tail_len);
}

static void take_part(struct collect *c, struct collect_node *n, const struct msg_capture_data *m,
		      mono_t now)
{
	uint32_t skip = n->have - m->offset;

	if (m->offset > n->have || skip >= m->n)
		return;
	/* A member that sends more than requested must not fill the memory of this node. */
	if (n->have + (m->n - skip) > c->start.bytes) {
		n->state = COLLECT_INVALID;
		return;
	}
	n->have += m->n - skip;
	n->moved_at = now;
	take_bytes(c, n, m->bytes + skip, m->n - skip, now);
	n->more = n->have < m->total && n->have - n->asked >= ANSWER_BYTES;
}

static enum collect_state state_of(enum capture_status s)
{
	if (s == CAPTURE_REFUSED)
		return COLLECT_REFUSED;
	return s == CAPTURE_BUSY ? COLLECT_BUSY : COLLECT_RESTARTED;
}

void collect_node_data(struct collect *c, struct collect_node *n, const struct msg_capture_data *m,
		       mono_t now)
{
	if (m->status > CAPTURE_ENDED) {
		n->state = state_of((enum capture_status)m->status);
		n->by = m->by;
		return;
	}
	if (n->state == COLLECT_STARTING) {
		n->state = COLLECT_RUNNING;
		n->asked_at = n->moved_at = now;
	}
	n->heard_at = now;
	n->ended = m->status == CAPTURE_ENDED;
	n->total = max_of(n->total, m->total);
	n->frames = m->frames;
	n->lost = m->lost;
	if (m->n_clocks) {
		n->n_clocks = m->n_clocks;
		memcpy(n->clock, m->clock, m->n_clocks * sizeof(m->clock[0]));
	}
	take_part(c, n, m, now);
}

void collect_node_seen(struct collect *c, struct collect_node *n,
		       const struct msg_capture_lookup *m, mono_t now)
{
	n->heard_at = now;
	for (unsigned at = 0; at < m->n; at++)
		for (unsigned i = 0; i < n->n_waiting; i++) {
			struct collect_waiting *a = &n->waiting[i];

			if (a->r.nonce != m->nonce[at] || !is_between(a, m))
				continue;
			a->r.place = CAPTURE_RELAYED;
			a->r.at_us = m->at_us[at];
			add_ready(c, n->id, &a->r, a->bytes);
			n->relayed++;
			forget_waiting(n, i);
			break;
		}
}

void collect_node_free(struct collect_node *n)
{
	forget_all_waiting(n);
	free(n->waiting);
	free(n->tail);
}
