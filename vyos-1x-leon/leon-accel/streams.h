// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The streams of one inter-proxy connection, by their numbers, and their turns on it (turns.h).
 * Called by peer.c, which owns them; pure but for conn_send() and conn_turn_over(). One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "pack.h"
#include "turns.h"

struct conn;
struct streams;

struct stream {
	uint32_t number;
	struct conn *conn;
	struct turn turn;
	struct pack_worth worth;
};

struct streams *streams_new(void);
void streams_free(struct streams *ss); /* NULL ok */
unsigned streams_count(const struct streams *ss);
/* NULL: there is none of that number. */
struct stream *streams_find(const struct streams *ss, uint32_t number);
void streams_bind(struct streams *ss, uint32_t number, struct conn *c);
void streams_unbind(struct streams *ss, uint32_t number);
/* fn may unbind the stream that it is called for, and no other. */
typedef void (*stream_fn)(struct conn *c, mono_t now);
void streams_each(struct streams *ss, stream_fn fn, mono_t now);

/* The stream has data to send: streams_serve() gives it its turns. */
void streams_add(struct streams *ss, uint32_t number);
/* It waits for its turn. */
bool streams_wait(const struct streams *ss, uint32_t number);
/* As long as there is room; the next call goes on behind the last. */
void streams_serve(struct streams *ss, bool (*has_room)(void *arg), void *arg);
