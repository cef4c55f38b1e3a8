// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The streams of an inter-proxy connection, by number, and the turns (drr.h). Owned by a peer.
 * Pure; single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "peer/pack.h"
#include "peer/drr.h"

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
