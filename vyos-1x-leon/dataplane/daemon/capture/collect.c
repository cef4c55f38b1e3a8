// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See captures.h: the capture as a whole. collect_nodes.c has the dialogue with one node.
 */
#include "daemon/capture/captures.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "crypto/aead.h"
#include "daemon/states.h"
#include "proto/overlay.h"

#define TURN_MS 50
/* The operator's program reads several times a second. */
#define ABANDONED_MS 5000

const char *collect_state_name(enum collect_state s)
{
	static const char *const name[COLLECT_STATES] = {
		[COLLECT_STARTING] = "starting", [COLLECT_RUNNING] = "running",
		[COLLECT_COMPLETE] = "complete", [COLLECT_REFUSED] = "refused",
		[COLLECT_BUSY] = "busy",	 [COLLECT_RESTARTED] = "restarted",
		[COLLECT_SILENT] = "no-answer",	 [COLLECT_INVALID] = "invalid"
	};

	return name[s];
}

static void send(struct collect *c, node_id_t to, const struct msg *m)
{
	if (to == c->d->self)
		provide_message(c->d, to, m, collect_message);
	else
		overlay_send_capture(c->d->overlay, to, m);
}

bool collect_is_over(const struct collect *c)
{
	for (unsigned i = 0; i < c->n_nodes; i++)
		if (c->node[i].state <= COLLECT_RUNNING)
			return false;
	return true;
}

static void on_turn(void *arg, mono_t now)
{
	struct collect *c = arg;
	bool more = false;

	if (mono_sub_ms(now, c->read_at) >= ABANDONED_MS) {
		collect_stop(c->d);
		return;
	}
	for (unsigned i = 0; i < c->n_nodes; i++) {
		collect_node_turn(c, &c->node[i], now);
		more |= c->node[i].more && collect_has_room(c);
	}
	timer_set(c->timer, mono_add_ms(now, more ? 1 : TURN_MS));
}

bool collect_start(struct leond *d, const struct msg_capture_start *start, const node_id_t *node,
		   unsigned n)
{
	struct collect *c = d->states->collect;
	mono_t now = loop_now(d->loop);

	if (c && !c->told)
		return false;
	collect_stop(d);
	c = d->states->collect = x_new(struct collect);
	c->d = d;
	c->send = send;
	c->start = *start;
	do
		random_bytes(&c->start.id, sizeof(c->start.id));
	while (!c->start.id);
	c->read_at = now;
	for (unsigned i = 0; i < n && i < COLLECT_NODES_MAX; i++)
		c->node[c->n_nodes++].id = node[i];
	c->timer = timer_new(d->loop, on_turn, c);
	on_turn(c, now);
	return true;
}

void collect_end(struct leond *d)
{
	struct collect *c = d->states->collect;

	if (!c)
		return;
	c->stopping = true;
	for (unsigned i = 0; i < c->n_nodes; i++)
		if (c->node[i].state <= COLLECT_RUNNING && !c->node[i].ended)
			collect_node_start(c, &c->node[i], loop_now(d->loop));
}

void collect_stop(struct leond *d)
{
	struct collect *c = d->states->collect;

	if (!c)
		return;
	collect_end(d);
	d->states->collect = NULL;
	timer_free(c->timer);
	for (unsigned i = 0; i < c->n_nodes; i++)
		collect_node_free(&c->node[i]);
	for (size_t i = c->next_ready; i < c->n_ready; i++)
		free(c->ready[i].bytes);
	free(c->ready);
	free(c);
}

void collect_message(struct leond *d, node_id_t from, const struct msg *m)
{
	struct collect *c = d->states->collect;
	struct collect_node *n = c ? collect_node_find(c, from) : NULL;
	uint32_t id = m->type == MSG_CAPTURE_DATA ? m->capture_data.id : m->capture_seen.id;

	if (!n || id != c->start.id || n->state > COLLECT_RUNNING)
		return;
	if (m->type == MSG_CAPTURE_DATA)
		collect_node_data(c, n, &m->capture_data, loop_now(d->loop));
	else
		collect_node_seen(c, n, &m->capture_seen, loop_now(d->loop));
	if (n->more)
		timer_set(c->timer, mono_add_ms(loop_now(d->loop), 1));
}

static size_t add_links(struct clock_link *link, size_t at, node_id_t from,
			const struct msg_clock *clock, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		link[at++] = (struct clock_link){ from, clock[i].node, clock[i].offset_us,
						  clock[i].rtt_us };
	return at;
}

void collect_clocks(struct collect *c, struct clock_of_node out[COLLECT_NODES_MAX])
{
	struct clock_link link[COLLECT_NODES_MAX * (MSG_CLOCKS_MAX + 1)];
	struct msg_clock own[COLLECT_NODES_MAX];
	size_t n =
		add_links(link, 0, c->d->self, own, provide_clocks(c->d, own, COLLECT_NODES_MAX));

	for (unsigned i = 0; i < c->n_nodes; i++) {
		out[i].node = c->node[i].id;
		n = add_links(link, n, c->node[i].id, c->node[i].clock, c->node[i].n_clocks);
	}
	clocks_solve(link, n, c->d->self, out, c->n_nodes);
}
