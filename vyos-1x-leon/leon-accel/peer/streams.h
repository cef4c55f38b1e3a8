// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The streams of an inter-proxy connection, by number, and the turns. Owned by a peer.
 * Pure; single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "peer/pack.h"

/* --- turns of the streams ---
 * Deficit round robin (Shreedhar and Varghese, 1995) among the streams of an inter-proxy
 * connection. As in RFC 8290, a formerly idle stream is served first, for a single quantum. A
 * sparse stream does not wait for a round of all bulk streams. Pure; single-threaded.
 */

/* Bytes of a turn: 5 ms at 50 Mbit/s, so a round of 64 streams takes a third of a second. */
#define DRR_QUANTUM (32 << 10)

/* A stream, embedded in the owner. Zero: idle. */
struct drr_entry {
	struct drr_entry *prev, *next;
	long deficit; /* remaining bytes of the round */
	bool is_listed, is_new;
};

struct drr {
	struct drr_entry *new_streams, *old_streams;
};

/* The stream has data to send. No effect if it is listed already. */
void drr_add(struct drr *ts, struct drr_entry *t);
/* The stream is about to disappear. No effect if it is not listed. */
void drr_remove(struct drr *ts, struct drr_entry *t);
/* The stream to serve now, with a deficit above 0. NULL: no stream has data. */
struct drr_entry *drr_next(struct drr *ts);
/* The stream of drr_next() has sent that number of bytes. 0: no more data. */
void drr_sent(struct drr *ts, struct drr_entry *t, size_t bytes);

struct conn;
struct stream_entry;

struct stream {
	uint32_t number;
	struct conn *conn;
	struct drr_entry turn;
	struct pack_benefit benefit;
};

/* Initial state: all zero. */
struct streams {
	struct stream_entry *by_number;
	struct drr drr; /* The streams that have data to send. */
};

void streams_free(struct streams *ss);
unsigned streams_count(const struct streams *ss);
/* NULL: unknown number. */
struct stream *streams_find(const struct streams *ss, uint32_t number);
void streams_bind(struct streams *ss, uint32_t number, struct conn *c);
void streams_unbind(struct streams *ss, uint32_t number);
/* fn may unbind only the given stream. */
typedef void (*stream_fn)(struct conn *c, mono_t now);
void streams_each(struct streams *ss, stream_fn fn, mono_t now);

/* Reports whether the stream waits for a turn. */
bool streams_wait(const struct streams *ss, uint32_t number);
