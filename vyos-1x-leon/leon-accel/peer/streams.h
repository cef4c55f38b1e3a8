// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The streams of an inter-proxy connection, by number, and the turns (drr.h). Owned and called by
 * peer_link.c; pure. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "peer/pack.h"
#include "peer/drr.h"

struct conn;
struct streams;

struct stream {
	uint32_t number;
	struct conn *conn;
	struct drr_entry turn;
	struct pack_benefit benefit;
};

struct streams *streams_new(void);
void streams_free(struct streams *ss); /* NULL has no effect */
unsigned streams_count(const struct streams *ss);
/* NULL: unknown number. */
struct stream *streams_find(const struct streams *ss, uint32_t number);
void streams_bind(struct streams *ss, uint32_t number, struct conn *c);
void streams_unbind(struct streams *ss, uint32_t number);
/* fn may unbind only the given stream. */
typedef void (*stream_fn)(struct conn *c, mono_t now);
void streams_each(struct streams *ss, stream_fn fn, mono_t now);

/* The stream has data to send: streams_serve() gives turns to the stream. */
void streams_add(struct streams *ss, uint32_t number);
/* Reports whether the stream waits for a turn. */
bool streams_wait(const struct streams *ss, uint32_t number);
struct streams_calls {
	bool (*has_room)(void *arg);
	void *arg; /* of has_room */
	/* Sends at most `max` bytes. Returns the number of bytes on the inter-proxy connection. */
	size_t (*send)(struct conn *c, size_t max);
	void (*turn_over)(struct conn *c); /* All data has been sent. */
};
/* Serves the streams while there is free space. The next call continues with the next stream. */
void streams_serve(struct streams *ss, const struct streams_calls *calls);
