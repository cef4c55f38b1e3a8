// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers to fetches, queued and paced, so that a node that joins hundreds of others neither
 * receives nor causes a burst. Owns the queue. Called by dispatch.c and the loop; control thread.
 * Protocol 4.4.
 */
#include "proto/share/share.h"

#include <stdlib.h>

#include "base/mem.h"

#define ANSWER_PERIOD_MS 10
#define FETCHED_PER_S	 1000 /* origins per second for one peer */
#define FETCHED_BURST	 4096
#define ANSWER_BYTES	 32768 /* bytes per period */

void answer_fetch(struct overlay *o, struct peer *p, const struct msg_fetch *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		/* A request beyond the possible number of origins must not fill the queue of
		 * all. */
		if (o->answers.in - o->answers.out == ANSWERS_MAX ||
		    !bucket_pass(&p->fetches, overlay_now(o), NS_PER_S / FETCHED_PER_S,
				 FETCHED_BURST * (NS_PER_S / FETCHED_PER_S))) {
			o->count.rx_rate_limited++;
			break;
		}
		o->answers.queue[o->answers.in++ % ANSWERS_MAX] =
			(struct answer){ .to = p->id, .origin = f->origin[i] };
	}
	if (mono_is_never(o->answering.at))
		alarm_set(&o->answering, overlay_now(o));
}

static void answer_one(struct overlay *o, const struct answer *a)
{
	struct peer *p = peer_find(o, a->to);
	const struct node *n = nodedb_find(o->nodes, a->origin);
	struct msg m = { .type = MSG_RECORD };

	if (!p || !p->cur || !sync_is_listed(n))
		return;
	m.record = n->rec;
	peer_send(o, p, &m);
	if (n->slot == SLOT_SELF)
		rows_send_whole(o, p);
}

static void answer_some(void *arg, mono_t now)
{
	struct overlay *o = arg;
	uint64_t until = o->count.tx_bytes + ANSWER_BYTES;

	o->answering.at = MONO_NEVER;
	while (o->answers.out != o->answers.in && o->count.tx_bytes < until)
		answer_one(o, &o->answers.queue[o->answers.out++ % ANSWERS_MAX]);
	if (o->answers.out != o->answers.in)
		alarm_set(&o->answering, mono_add_ms(now, ANSWER_PERIOD_MS));
}

void answer_init(struct overlay *o)
{
	o->answers.queue = x_calloc(ANSWERS_MAX, sizeof(struct answer));
	alarm_init(o, &o->answering, answer_some, o);
}

void answer_free(struct overlay *o)
{
	alarm_free(&o->answering);
	free(o->answers.queue);
}
