// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queues between the workers and leon-accel, and the latencies that decide on their use, see
 * leon_accel.h. Control thread.
 */
#include "daemon/accel/leon_accel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "io/tap.h"
#include "ipc/accel_queue.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"
#include "state/tables/nodedb.h"
#include "state/tables/snap.h"

/* IDLE_MS: time without interceptable connections of a node after which its TCP frames bypass
 * leon-accel. Connections have been released and requests answered by then. BYPASSED_MS: minimum
 * duration of the bypass, after which leon-accel has forgotten older state. */
#define IDLE_MS	    20000
#define BYPASSED_MS 5000
#define SLOTS	    NODEDB_SLOTS(CONF_NODES_LIMIT)
/* MIGRATED_MS: time for which the frames of a node are diverted after a host moved there, if
 * connections are intercepted. AFTER_MS: additional time, in which connections are released or
 * reset. */
#define MIGRATED_MS 60000
#define AFTER_MS    20000
/* Time for which a forgotten host may still have intercepted connections. */
#define FORGOT_MS 300000
/* A leon-accel without leond connects each second, and its inter-proxy connections end after 10
 * s. */
#define AWAIT_MS 5000

/* State of the TCP frames to and from a node. */
struct accel_slot {
	bool bypassed; /* The frames bypass leon-accel. */
	/* Start of the bypass. Without one: last time at which an interception was possible. */
	mono_t since;
	mono_t migrated_until; /* Time at which a host moved to the node. 0: no move. */
	mono_t needed; /* Last time at which the frames were needed for a moved host. 0: never. */
};

struct accel_queues {
	unsigned n;
	int ours[ACCEL_QUEUES_MAX], theirs[ACCEL_QUEUES_MAX];
	mono_t opened;
	bool ready;	 /* leon-accel has the queues. */
	bool were_ready; /* leon-accel has had the queues before. */
	/* Time since which hosts may have moved to any node. 0: none moved. */
	mono_t migrated;
	/* Last time at which hosts were forgotten with their LAN or node. 0: never. */
	mono_t forgot;
	struct accel_slot way[SLOTS]; /* By slot. */
};

void accel_queues_enlarge(int fd)
{
	int bytes = ACCEL_QUEUE_BYTES;

	/* Exceeds the system-wide limit if permitted. Otherwise the limit applies. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

int accel_queues_open(struct leond *d)
{
	struct accel_queues *q = x_new(struct accel_queues);

	d->states->accel_queues = q;
	q->opened = loop_now(d->loop);
	for (; q->n < d->tap->n_queues && q->n < ACCEL_QUEUES_MAX; q->n++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
			return -errno;
		q->ours[q->n] = pair[0];
		q->theirs[q->n] = pair[1];
		accel_queues_enlarge(pair[0]);
		accel_queues_enlarge(pair[1]);
	}
	return 0;
}

void accel_queues_free(struct leond *d)
{
	struct accel_queues *q = d->states->accel_queues;

	for (unsigned i = 0; q && i < q->n; i++) {
		close(q->ours[i]);
		close(q->theirs[i]);
	}
	x_free(d->states->accel_queues);
}

unsigned accel_queues_count(const struct leond *d)
{
	return d->states->accel_queues ? d->states->accel_queues->n : 0;
}

int accel_queues_worker_end(const struct leond *d, unsigned worker)
{
	return worker < accel_queues_count(d) ? d->states->accel_queues->ours[worker] : -1;
}

const int *accel_queues_accel_ends(const struct leond *d)
{
	return d->states->accel_queues->theirs;
}

void accel_queues_drain(struct leond *d)
{
	uint8_t some[64];

	for (unsigned i = 0; i < accel_queues_count(d); i++)
		while (recv(d->states->accel_queues->theirs[i], some, sizeof(some), MSG_DONTWAIT) >
		       0)
			continue;
}

void accel_queues_set_ready(struct leond *d, bool ready)
{
	struct accel_queues *q = d->states->accel_queues;

	q->ready = ready;
	q->were_ready |= ready;
	/* The connections of the previous process are not known yet. The moved hosts are known, and
	 * the new process may have connections of these hosts. */
	for (unsigned i = 0; i < SLOTS; i++) {
		q->way[i].bypassed = false;
		q->way[i].since = loop_now(d->loop);
	}
}

void accel_queues_update(struct leond *d, uint16_t slot, bool is_idle, mono_t now)
{
	struct accel_slot *way;
	int64_t ms;

	if (slot >= SLOTS)
		return;
	way = &d->states->accel_queues->way[slot];
	ms = mono_sub_ms(now, way->since);
	if (way->bypassed ? is_idle || ms < BYPASSED_MS : is_idle && ms < IDLE_MS)
		return;
	way->bypassed = is_idle;
	way->since = now;
}

bool accel_queues_bypassed(const struct leond *d, uint16_t slot)
{
	return slot < SLOTS && d->states->accel_queues->way[slot].bypassed;
}

void accel_queues_host_moved(struct leond *d, uint16_t slot, mono_t now)
{
	if (d->states->accel_queues && slot < SLOTS)
		d->states->accel_queues->way[slot].migrated_until = now;
}

void accel_queues_hosts_forgotten(struct leond *d, mono_t now)
{
	if (d->states->accel_queues)
		d->states->accel_queues->forgot = now;
}

bool accel_queues_have_forgotten(const struct leond *d, mono_t now)
{
	const struct accel_queues *q = d->states->accel_queues;

	return q && mono_is_recent(q->forgot, FORGOT_MS, now);
}

void accel_queues_inherited(struct leond *d, bool any_intercepted, mono_t now)
{
	if (any_intercepted && mono_sub_ms(now, d->states->accel_queues->opened) < MIGRATED_MS)
		d->states->accel_queues->migrated = now;
}

void accel_queues_find_migrated(struct leond *d, uint16_t slot, bool any_intercepted, mono_t now)
{
	struct accel_slot *way;

	/* The hosts of this node need no path. */
	if (slot >= SLOTS || slot == SLOT_SELF || !any_intercepted)
		return;
	way = &d->states->accel_queues->way[slot];
	if (mono_is_recent(way->migrated_until, MIGRATED_MS, now) ||
	    mono_is_recent(d->states->accel_queues->migrated, MIGRATED_MS, now))
		way->needed = now;
}

bool accel_queues_are_ready(const struct leond *d)
{
	return d->states->accel_queues && d->states->accel_queues->ready;
}

bool accel_queues_await(const struct leond *d)
{
	const struct accel_queues *q = d->states->accel_queues;

	return q && d->conf->acceleration && !q->were_ready &&
	       mono_sub_ms(loop_now(d->loop), q->opened) < AWAIT_MS;
}

bool accel_queues_reach(const struct leond *d, uint16_t slot)
{
	const struct node *n = nodedb_at(overlay_nodes(d->overlay), slot);

	return accel_queues_are_ready(d) && slot != SLOT_SELF && n && n->state != NODE_LEFT &&
	       n->has_record && n->rec.flags & RECORD_ACCELERATES;
}

bool accel_queues_track(const struct leond *d, uint16_t slot)
{
	mono_t needed;

	if (accel_queues_reach(d, slot))
		return true;
	if (!accel_queues_are_ready(d) || slot >= SLOTS)
		return false;
	needed = d->states->accel_queues->way[slot].needed;
	return mono_is_recent(needed, AFTER_MS, loop_now(d->loop));
}

void accel_queues_fill_snap(const struct leond *d, struct snap *s)
{
	s->accelerator = accel_queues_are_ready(d);
	s->accel_awaited = accel_queues_await(d);
	for (uint16_t slot = 0; s->accelerator && slot < s->n_slots; slot++) {
		s->node[slot].accelerated = accel_queues_track(d, slot);
		s->node[slot].accel_bypassed = accel_queues_bypassed(d, slot);
	}
}

/* --- latencies --- */

uint32_t accel_latency_us(const struct overlay *o, uint16_t slot)
{
	const struct choice *ch = overlay_choice(o, slot);

	if (!ch || !path_works(&ch->path))
		return 0;
	return max_of(ch->path.rtt_us, 1u);
}

bool accel_latency_is_near(const struct overlay *o, const struct conf *c, uint16_t slot,
			   uint32_t percent)
{
	const struct accel_settings *s = &c->accel;
	uint64_t rtt_us = accel_latency_us(o, slot);

	return c->acceleration && (s->mode == ACCEL_MOVED || s->mode == ACCEL_LATENCY) && rtt_us &&
	       rtt_us * 100 < (uint64_t)s->threshold_us * percent;
}
