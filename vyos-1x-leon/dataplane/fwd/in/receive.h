// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of datagrams from the underlay, in their order. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/frame.h"
#include "io/udp.h"
#include "wire/datagram/leon.h"

struct worker;

/* --- from_net.c: checks, then the control thread, the next hop or the local segment --- */

/* Reads and processes a batch of the socket; worker_end() sends and writes. Returns true if more
 * may be pending. */
bool from_net(struct worker *w, int fd);
/* Returns the number of messages of the next batch, after `n` messages with the given number of
 * bytes. */
unsigned from_net_messages(unsigned before, unsigned n, size_t bytes);
/* Delivers datagrams that no longer wait for their order, at the end of a batch. */
void from_net_end(struct worker *w);
/* Processes a message of one or several datagrams. */
void from_net_message(struct worker *w, const struct udp_rx_msg *m);

/* --- incoming.c: the link value of the previous hop and, at the destination, the seal --- */

/* Checks the link value of a data datagram, or of any datagram to be relayed, from the address of
 * node `previous` (a slot). Returns false and counts a wrong or missing value. */
bool incoming_link(struct worker *w, const struct leon_hdr *h, const uint8_t *data,
		   uint16_t previous);

/* Opens a datagram at the destination in place. payload: bytes behind the header; pointer and
 * length become those of the text. Returns false and counts if the datagram is refused. */
bool incoming_open(struct worker *w, const struct leon_hdr *h, uint16_t source, const uint8_t *data,
		   uint8_t **payload, size_t *len);

/* --- relay.c: a datagram for another node to the next hop of its header --- */

/* source_slot: of the source node. class: of the received IP header. The bytes must not change
 * until the flush. Returns the slot of the next hop; SLOT_NONE if the datagram was dropped
 * (counted). */
uint16_t relay(struct worker *w, const struct leon_hdr *h, uint16_t source_slot, uint8_t *data,
	       size_t len, uint8_t class);

/* --- assemble.c: frames of fragments, copies, or blocks with parity --- */

/* Payload of LEON_FRAGMENT. */
void assemble_fragment(struct worker *w, const struct arrived *p);
/* Payload of LEON_COPY: a frame, a fragment, or a parity. */
void assemble_copy(struct worker *w, const struct arrived *p);

/* --- to_segment.c: a frame at the destination node: checks, learning, delivery --- */

void local_frame(struct worker *w, const struct arrived *a);
