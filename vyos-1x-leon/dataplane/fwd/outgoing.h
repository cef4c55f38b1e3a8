// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: one data datagram to a node, put together from a head that is written here and a body that
 * lies elsewhere, and sealed where policy says so: the last step before tx. In clear the body is
 * pointed at; sealed, both are encrypted into the worker's scratch in one pass. Datagrams of a
 * super-frame so lie one behind the other there and leave as one message. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/snap.h"

struct worker;

struct outgoing {
	const struct snap_node *node;
	uint8_t *start; /* the LEON header */
	size_t head_len, body_len;
};

/*
 * Begins a datagram of this kind, with these flags besides those of policy. Returns where the
 * first head_len bytes behind the header are to be written, NULL where nothing can be sent
 * (counted). head_len + body_len is at most node->room. May flush.
 */
uint8_t *outgoing_begin(struct worker *w, struct outgoing *o, const struct snap_node *node,
			uint8_t kind, uint8_t flags, size_t head_len, size_t body_len);
/* Completes it; in clear, the body has to stay as it is until the flush. */
void outgoing_end(struct worker *w, const struct outgoing *o, const void *body);

/* A whole datagram with the header in front of the payload, where node->hdr_len bytes are free to
 * use. For what is not needed afterwards. */
void outgoing_whole(struct worker *w, const struct snap_node *node, uint8_t kind, uint8_t flags,
		    uint8_t *payload, size_t len);

/* One frame by itself, which fits. own: it is not needed afterwards, so the header may be written in
 * front of it; else it has to stay as it is until the flush. */
void outgoing_frame(struct worker *w, const struct snap_node *node, uint8_t flags, uint8_t *data,
		    size_t len, bool own);
