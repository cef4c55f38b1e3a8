// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pings by operator command: one PING along given hops, and the answer back along the same hops.
 * Owns struct ping_job. Control thread.
 */
#include "proto/measure/measure.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/overlay.h"
#include "proto/core.h"

struct ping_job {
	struct ping_job *next;
	uint32_t id; /* 0: not sent */
	node_id_t last;
	mono_t sent, deadline;
	int64_t result; /* result to report at the deadline */
	overlay_ping_fn fn;
	void *arg;
};

/* Builds the route from hops: the last in session, the first reachable directly, no node twice. */
static int find_way(struct overlay *o, const node_id_t *hop, unsigned n_hops, struct via *v,
		    struct peer **last)
{
	struct peer *first;

	if (n_hops == 0 || n_hops > LEON_HOPS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < n_hops; i++) {
		v->hop[i] = hop[i];
		if (hop[i] == o->self || hop[i] == NODE_ID_NONE)
			return -EINVAL;
		for (unsigned k = 0; k < i; k++)
			if (hop[k] == hop[i])
				return -EINVAL;
	}
	*last = peer_find(o, hop[n_hops - 1]);
	first = peer_find(o, hop[0]);
	if (!*last || !(*last)->cur || !first || !first->ep.ip.family)
		return -ENOKEY;
	v->n_hops = (uint8_t)n_hops;
	v->to = first->ep;
	return 0;
}

void overlay_ping(struct overlay *o, const node_id_t *hop, unsigned n_hops, uint16_t size,
		  uint32_t timeout_ms, overlay_ping_fn fn, void *arg)
{
	struct ping_job *j = x_new(struct ping_job);
	struct via v = { 0 };
	struct peer *last;
	int err = find_way(o, hop, n_hops, &v, &last);

	j->fn = fn;
	j->arg = arg;
	j->sent = overlay_clock(o);
	/* Never calls back directly: the timer reports refusals like other results. */
	j->deadline = overlay_now(o);
	j->result = err;
	if (!err) {
		j->last = last->id;
		j->id = rtt_new_id();
		link_ping(o, last, &v, j->id, size);
		j->deadline = mono_add_ms(overlay_now(o), timeout_ms);
		j->result = -ETIMEDOUT;
	}
	j->next = o->pings;
	o->pings = j;
	alarm_sooner(&o->pinging, j->deadline);
}

/* Removes the job from the list before the callback, which may ping again or cancel. */
static void finish(struct ping_job **at, int64_t result)
{
	struct ping_job *j = *at;
	overlay_ping_fn fn = j->fn;
	void *arg = j->arg;

	*at = j->next;
	free(j);
	fn(arg, result);
}

bool ping_pong(struct overlay *o, const struct peer *p, const struct msg_pong *m, mono_t rx)
{
	for (struct ping_job **at = &o->pings; *at; at = &(*at)->next) {
		if (!(*at)->id || (*at)->id != m->id || (*at)->last != p->id)
			continue;
		finish(at, (int64_t)rtt_us(o, (*at)->sent, rx, m->held_ns));
		return true;
	}
	return false;
}

void ping_due(void *arg, mono_t now)
{
	struct overlay *o = arg;
	mono_t next = MONO_NEVER;

	o->pinging.at = MONO_NEVER;
	for (struct ping_job **at = &o->pings; *at;) {
		if (mono_before(now, (*at)->deadline)) {
			at = &(*at)->next;
			continue;
		}
		finish(at, (*at)->result);
		at = &o->pings; /* the callback may have changed the list */
	}
	for (const struct ping_job *j = o->pings; j; j = j->next)
		next = mono_earlier(next, j->deadline);
	if (!mono_is_never(next))
		alarm_set(&o->pinging, next);
}

void overlay_ping_cancel(struct overlay *o, void *arg)
{
	struct ping_job **at = &o->pings;

	while (*at) {
		struct ping_job *j = *at;

		if (j->arg != arg) {
			at = &j->next;
			continue;
		}
		*at = j->next;
		free(j);
	}
}

void ping_free(struct overlay *o)
{
	while (o->pings) {
		struct ping_job *j = o->pings;

		o->pings = j->next;
		free(j);
	}
}
