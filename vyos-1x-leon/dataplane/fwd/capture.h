// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records for the capture of a flow (snap.capture, doc/decisions/084). Callers test
 * snap.capture.on, so a node without a capture pays a branch. Source and destination see the frame.
 * A relay cannot open a sealed datagram and records its nonce, by which the source recognises it.
 * Each worker has a ring of fixed size; the control thread reads it (fwd_next_captured()).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/flow_capture.h"

struct worker;

#define CAPTURE_RING_BYTES (1u << 20)

struct fwd_captured {
	struct capture_record r; /* RELAYED and CAPTURE_SEALED: of any flow, without the frame */
	uint8_t bytes[CAPTURE_SNAP_MAX];
};

/* A frame at the TAP. source: node at which the frame entered the overlay. */
void capture_frame(struct worker *w, enum capture_place place, node_id_t source,
		   const uint8_t *data, size_t len);
/* A relayed data datagram. payload: behind header and link value. */
void capture_relayed(struct worker *w, const struct leon_hdr *h, const uint8_t *payload,
		     size_t len);
/* Keeps the payload of a datagram that will be sealed, because sealing overwrites it. Returns its
 * length; the payload is in w->spare until capture_sent(). */
size_t capture_hold(struct worker *w, const uint8_t *head, size_t head_len, const uint8_t *body,
		    size_t body_len);
/* The sealed datagram with the held payload is ready for transmission. */
void capture_sent(struct worker *w, const uint8_t *datagram, size_t len, size_t held);
/* A datagram in clear. The head is behind the header. */
void capture_clear(struct worker *w, const uint8_t *datagram, size_t hdr_len, size_t head_len,
		   const uint8_t *body, size_t body_len);
