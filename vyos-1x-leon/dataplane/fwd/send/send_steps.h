// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of frames from this node to a node, up to the datagram that tx.c sends. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "fwd/frame.h"
#include "fwd/fwd.h"
#include "fwd/send/send_state.h"
#include "fwd/worker.h"
#include "state/tables/snap.h"
#include "wire/frame/ecn.h"
#include "wire/frame/eth.h"

struct coding_block;
struct lane;
struct worker;

/* --- encap.c ---
 * Steps: a frame to a node. A frame that fits the path MTU is sent whole behind a LEON header. A
 * super-frame is segmented, a larger frame is split, a small frame is bundled. Workers.
 */

/*
 * Sends the frame to the routed node of the slot by the end of the batch. The transmission is
 * counted. copy: a flooded copy, not a frame for a host there. last: the frame is not needed
 * afterwards, so the header may precede it in place.
 */
void encap_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last);
/* Sends the frame alone and at once along the lane. own: the frame is not needed afterwards.
 * Returns false if nothing was sent (counted, unless the frame is duplicated). */
bool encap_alone(struct worker *w, const struct frame *f, const struct lane *lane, bool own);
/* Sends a frame (f->accel) from the local accelerator to the accelerator of the node. */
void encap_accel(struct worker *w, const struct frame *f, uint16_t slot);

/* Minimum payload of a fragment; a path with less is unusable. */
#define FRAG_UNIT_MIN 64

/* Sends a frame in fragments that fit the lane. The body must not change until the flush; the head
 * is copied. Returns false and counts if it is not sent. */
bool frag_send(struct worker *w, const struct lane *lane, const struct pieces *p, uint8_t flags);

/* --- critical.c ---
 * Step: a critical frame (state/tables/policy.h) to a node. The frame is sent along two paths if
 * the snapshot has two and the budget permits, or in a block with parity (protect.c). Otherwise it
 * is sent once. Critical frames are never bundled, and do not wait. The two datagrams have
 * different counters, because a counter for two headers would reveal the authentication key.
 * Workers.
 */

/* Returns true if the frame from the local segment is critical. */
static inline bool critical_is(const struct worker *w, const struct frame *f)
{
	const struct policy *p = w->snap->policy;

	return unlikely(p != NULL) && policy_matches(&p->critical, f->data, f->len, &f->v);
}

/* Like encap_send(). */
void critical_send(struct worker *w, struct frame *f, uint16_t slot, bool copy, bool last);
static inline void send_unicast(struct worker *w, struct frame *f, uint16_t slot, bool copy,
				bool last)
{
	if (unlikely(f->critical))
		critical_send(w, f, slot, copy, last);
	else
		encap_send(w, f, slot, copy, last);
}

/* --- outgoing.c ---
 * A data datagram to a node, built from a head and a separate body, and sealed if required:
 * the last step before tx. In clear, the body is referenced; sealed, both are encrypted into the
 * worker's scratch buffer in one pass. The datagrams of a super-frame are therefore contiguous and
 * leave as one message. Workers.
 */

/* Path parameters for the datagrams of a frame. */
struct lane {
	const struct snap_node *node;
	size_t room; /* payload budget for a frame, or a fragment with its header */
	/* The datagrams are duplicated as kind LEON_COPY: counter of the first; a split frame uses
	 * the following counters too. */
	bool twice;
	uint64_t counter;
	bool bulk; /* datagrams other than fragments may be distributed, spread.c */
	/* With `twice`: the datagrams are sent once, as symbols of this block. */
	struct coding_block *block;
};

struct outgoing {
	const struct snap_node *node;
	bool twice; /* this and the next two as in struct lane */
	uint64_t counter;
	struct coding_block *block;
	bool bulk;		   /* as in struct lane; ends as LEON_F_SPREAD */
	uint8_t kind, flags;	   /* in addition to the flags of the security policy */
	unsigned frames;	   /* frames that are lost with the datagram */
	size_t head_len, body_len; /* at most the payload budget of the lane together */
	/* Set by outgoing_begin(). */
	uint8_t *start; /* start of the LEON header */
};

/*
 * Begins the datagram *o. Returns the address for the first head_len bytes behind the header; NULL
 * if nothing can be sent (counted). May flush.
 */
uint8_t *outgoing_begin(struct worker *w, struct outgoing *o);
/* Completes the datagram. In clear the body must not change until the flush. Returns false and
 * counts an unsent datagram. */
bool outgoing_end(struct worker *w, const struct outgoing *o, const void *body);

/* Sends one frame that fits the path. own: the frame is not needed afterwards, so the header may
 * precede the frame in place in node->hdr_len free bytes. Otherwise the frame must not change until
 * the flush. bulk: as in struct lane. Returns false and counts if the frame is not sent. */
bool outgoing_frame(struct worker *w, const struct snap_node *node, uint8_t flags, uint8_t *data,
		    size_t len, bool own, bool bulk);

/* --- protect.c ---
 * Step: blocks of critical frames, and their parities (wire/datagram/parity.h). The frames travel
 * along the first path of a pair as they arrive. A block ends after PARITY_FRAMES symbols or
 * PROTECT_NS, and its parities follow along the second path. Workers.
 */

/* Maximum duration of a block, and so of the wait for its parities. */
#define PROTECT_NS (10 * NS_PER_MS)

/* Returns the block of a node. */
struct coding_block *protect_block(struct worker *w, uint16_t slot);
/* Begins a frame of this number of symbols, at most PARITY_FRAMES: a block has all of them. */
void protect_begin_frame(struct worker *w, struct coding_block *b, unsigned symbols);
/* End of the oldest block; MONO_NEVER: none is open. */
mono_t protect_due(const struct worker *w);
/* Ends the blocks that are due. */
void protect_end_due(struct worker *w);

/* --- marking.c ---
 * Traffic class (DSCP and ECN) of datagrams: from the inner frame, from the relayed datagram, or
 * from the configuration; and ECN decapsulation. Workers.
 */

/* Traffic class as header bits; with this bit set, the DSCP of the socket is used
 * (`parameters`). */
#define CLASS_OF_SOCKET 0x100

enum fwd_tier tier_of_dscp(uint8_t dscp);
uint16_t marking_of_frame(const struct snap *s, const struct frame *f);
/* class: of the received datagram. A CE mark of the previous link is kept (RFC 6040). */
uint16_t marking_of_relayed(const struct snap *s, uint8_t kind, uint8_t class);
/* Applies the ECN marks of its datagrams to a frame from the overlay. Returns false and counts if
 * the frame must be dropped because it is not ECN-capable. */
bool marking_arrives(struct worker *w, uint8_t *data, size_t len, const struct eth_view *v,
		     enum ecn outer);
/* Header bits for a socket of this family. */
static inline uint8_t marking_bits(const struct snap *s, uint16_t class, bool v6)
{
	uint8_t socket = v6 ? s->marking.tclass : s->marking.tos;

	return class & CLASS_OF_SOCKET ? (uint8_t)(socket | (class & ECN_MASK)) : (uint8_t) class;
}

/* --- marking.c: MSS of TCP SYNs ---
 * Step: lowers the MSS of TCP SYNs so that the segments of the connection fit the path without
 * splitting. Applied in both directions, because the MSS of a SYN limits the opposite direction.
 * Workers.
 */

/* slot: the node at the far end; SLOT_NONE: all nodes, the smallest path MTU counts. */
void clamp(struct worker *w, uint8_t *data, size_t len, const struct eth_view *v, bool partial,
	   uint16_t slot);
