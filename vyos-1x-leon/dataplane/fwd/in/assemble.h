// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: frames that arrive as fragments, as two copies, or in blocks with parity. Each is delivered
 * once (to_segment.h), as soon as it is complete. Called by from_net.c with opened payloads. Owns
 * nothing: the parts wait in reasm.h, copies.h and recovery.h. Workers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "fwd/frame.h"

struct worker;

/* Payload of a data datagram for this node. The bytes must not change until deliver_flush(). */
struct opened_payload {
	struct arrived from;
	node_id_t node; /* source node */
	uint8_t *data;
	size_t len;
};

/* Payload of LEON_FRAGMENT. */
void assemble_fragment(struct worker *w, const struct opened_payload *p);
/* Payload of LEON_COPY: a frame, a fragment, or a parity. */
void assemble_copy(struct worker *w, const struct opened_payload *p);
