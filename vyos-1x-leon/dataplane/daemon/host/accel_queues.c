// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queues between the workers and leon-accel, see accel_queues.h. Control thread.
 */
#include "daemon/host/accel_queues.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/leond.h"
#include "wire/accel_queue.h"

/* So long nothing of a node could be taken before its TCP goes past leon-accel: what was taken is
 * given back, and what asks are answered. So long at least it does, so that leon-accel has
 * forgotten what it saw before. */
#define IDLE_MS	 20000
#define ASIDE_MS 5000
#define SLOTS	 (CONF_NODES_LIMIT + 1)
/* So long after a host moved to a node the node is followed while anything is taken, and so long
 * beyond that: what is given back or reset is over then. */
#define GUEST_MS 60000
#define AFTER_MS 20000
/* So long a host that was forgotten may have connections that are taken. */
#define FORGOT_MS 300000
/* A leon-accel that lost its leond tries again each second; its carriers die after ten. */
#define AWAIT_MS 5000

/* Of TCP to and from a node. */
struct accel_way {
	bool aside;    /* past leon-accel */
	mono_t since;  /* it is aside; else when something could be taken last */
	mono_t guest;  /* a host moved there; 0: none did */
	mono_t needed; /* for that host it is followed; 0: never */
};

struct accel_queues {
	unsigned n;
	int ours[ACCEL_QUEUES_MAX], theirs[ACCEL_QUEUES_MAX];
	mono_t opened;
	bool ready;		     /* leon-accel has them */
	bool were_ready;	     /* it had them once */
	mono_t guests;		     /* hosts may have moved to any node; 0: they did not */
	mono_t forgot;		     /* hosts, with their LAN or node; 0: never */
	struct accel_way way[SLOTS]; /* by slot */
};

static void enlarge(int fd)
{
	int bytes = ACCEL_QUEUE_BYTES;

	/* Beyond the limit for all users where it may be, else up to it. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

int accel_queues_open(struct leond *d)
{
	struct accel_queues *q = x_new(struct accel_queues);

	d->accel_queues = q;
	q->opened = loop_now(d->loop);
	for (; q->n < d->tap.n_queues && q->n < ACCEL_QUEUES_MAX; q->n++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
			return -errno;
		q->ours[q->n] = pair[0];
		q->theirs[q->n] = pair[1];
		enlarge(pair[0]);
		enlarge(pair[1]);
	}
	return 0;
}

void accel_queues_free(struct leond *d)
{
	struct accel_queues *q = d->accel_queues;

	for (unsigned i = 0; q && i < q->n; i++) {
		close(q->ours[i]);
		close(q->theirs[i]);
	}
	free(q);
	d->accel_queues = NULL;
}

unsigned accel_queues_count(const struct leond *d)
{
	return d->accel_queues ? d->accel_queues->n : 0;
}

int accel_queues_ours(const struct leond *d, unsigned worker)
{
	return worker < accel_queues_count(d) ? d->accel_queues->ours[worker] : -1;
}

const int *accel_queues_theirs(const struct leond *d)
{
	return d->accel_queues->theirs;
}

void accel_queues_drain(struct leond *d)
{
	uint8_t some[64];

	for (unsigned i = 0; i < accel_queues_count(d); i++)
		while (recv(d->accel_queues->theirs[i], some, sizeof(some), MSG_DONTWAIT) > 0)
			continue;
}

void accel_queues_set_ready(struct leond *d, bool ready)
{
	struct accel_queues *q = d->accel_queues;

	q->ready = ready;
	q->were_ready |= ready;
	/* What the process before had taken is not known yet; where hosts moved is, and they may
	 * have connections that it still has. */
	for (unsigned i = 0; i < SLOTS; i++) {
		q->way[i].aside = false;
		q->way[i].since = loop_now(d->loop);
	}
}

void accel_queues_look(struct leond *d, uint16_t slot, bool is_idle, mono_t now)
{
	struct accel_way *way;
	int64_t ms;

	if (slot >= SLOTS)
		return;
	way = &d->accel_queues->way[slot];
	ms = mono_sub_ms(now, way->since);
	if (way->aside ? is_idle || ms < ASIDE_MS : is_idle && ms < IDLE_MS)
		return;
	way->aside = is_idle;
	way->since = now;
}

bool accel_queues_aside(const struct leond *d, uint16_t slot)
{
	return slot < SLOTS && d->accel_queues->way[slot].aside;
}

void accel_queues_host_moved(struct leond *d, uint16_t slot, mono_t now)
{
	if (d->accel_queues && slot < SLOTS)
		d->accel_queues->way[slot].guest = now;
}

void accel_queues_forgot_hosts(struct leond *d, mono_t now)
{
	if (d->accel_queues)
		d->accel_queues->forgot = now;
}

static bool is_within(mono_t then, int64_t ms, mono_t now)
{
	return then.ns && mono_sub_ms(now, then) < ms;
}

bool accel_queues_have_forgotten(const struct leond *d, mono_t now)
{
	const struct accel_queues *q = d->accel_queues;

	return q && is_within(q->forgot, FORGOT_MS, now);
}

void accel_queues_came_with(struct leond *d, bool any_taken, mono_t now)
{
	if (any_taken && mono_sub_ms(now, d->accel_queues->opened) < GUEST_MS)
		d->accel_queues->guests = now;
}

void accel_queues_look_for_guests(struct leond *d, uint16_t slot, bool any_taken, mono_t now)
{
	struct accel_way *way;

	if (slot >= SLOTS || !any_taken)
		return;
	way = &d->accel_queues->way[slot];
	if (is_within(way->guest, GUEST_MS, now) ||
	    is_within(d->accel_queues->guests, GUEST_MS, now))
		way->needed = now;
}

bool accel_queues_are_ready(const struct leond *d)
{
	return d->accel_queues && d->accel_queues->ready;
}

bool accel_queues_await(const struct leond *d)
{
	const struct accel_queues *q = d->accel_queues;

	return q && d->conf->acceleration && !q->were_ready &&
	       mono_sub_ms(loop_now(d->loop), q->opened) < AWAIT_MS;
}

bool accel_queues_reach(const struct leond *d, uint16_t slot)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	return accel_queues_are_ready(d) && slot != SLOT_SELF && n && n->state != NODE_LEFT &&
	       n->has_record && n->rec.flags & RECORD_ACCELERATES;
}

bool accel_queues_follow(const struct leond *d, uint16_t slot)
{
	mono_t needed;

	if (accel_queues_reach(d, slot))
		return true;
	if (!accel_queues_are_ready(d) || slot >= SLOTS)
		return false;
	needed = d->accel_queues->way[slot].needed;
	return needed.ns && mono_sub_ms(loop_now(d->loop), needed) < AFTER_MS;
}

void accel_queues_fill_snap(const struct leond *d, struct snap *s)
{
	s->accelerator = accel_queues_are_ready(d);
	s->accel_awaited = accel_queues_await(d);
	for (uint16_t slot = 0; s->accelerator && slot < s->n_slots; slot++) {
		s->node[slot].accelerated = accel_queues_follow(d, slot);
		s->node[slot].accel_aside = accel_queues_aside(d, slot);
	}
}
