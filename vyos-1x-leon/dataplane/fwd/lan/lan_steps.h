// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of frames from and to the local segment. A step that refuses a frame counts it. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "fwd/frame.h"
#include "fwd/fwd.h"
#include "fwd/tap/tap_frames.h"
#include "fwd/worker.h"

struct ring;
struct worker;

/* --- loop_checks.c: state of the VLAN, split horizon, repetition of flooded frames --- */

/* Returns false for a tagged frame that a bridge would treat as a frame of another VLAN. */
bool tag_passes(struct worker *w, const struct eth_view *v);
/* Reports a guard frame from the TAP, which has no EtherType. Returns false for any other frame. */
bool guard_taken(struct worker *w, const struct frame *f);
/* Returns false if the loop guard blocks the VLAN. */
bool lan_passes(struct worker *w, uint16_t vlan);
/* Split horizon by LAN: returns true for a frame from a node of the local LAN, because the frame
 * was on this LAN already. The rule ends every loop, independent of the forwarder. */
bool is_from_own_lan(struct worker *w, uint16_t slot, uint16_t vlan);
/* Returns true for a looped flooded frame: the origin (slot, SLOT_SELF for the LAN) differs from
 * the recent origin, or the frame repeats too often. */
bool is_looped(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
	       uint16_t slot);

/* --- snoop.c: queries, joined groups and multicast routers (decisions/077) --- */

/* Inspects a frame from the node of this slot (SLOT_SELF: from the TAP). Returns true for a frame
 * that must not be delivered to the LAN; counted. */
bool snoop(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
	   uint16_t slot);
/* Inspects a frame of a VLAN in which this node does not forward. */
void snoop_closed(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		  uint16_t slot);

/* --- suppress.c: neighbors of ARP and neighbor discovery, and local answers --- */

/* Inspects a frame from the node of this slot (SLOT_SELF: from the TAP). Cheap for frames other
 * than ARP and ND. */
void neighbor_learn(struct worker *w, const uint8_t *data, size_t len, const struct eth_view *v,
		    uint16_t slot);
/* Returns true if the frame from the TAP was a request and was answered locally. */
bool neighbor_answer(struct worker *w, const struct frame *f);

/* --- translate.c ---
 * Step: maps the VLAN of a frame to its segment towards the overlay, and the segment to a VLAN
 * towards the LAN. No other step of the packet path knows segments. Idle without a mapping.
 * Workers.
 */

bool translate_to_segment(struct worker *w, struct frame *f);
bool translate_to_vlan(struct worker *w, struct delivery *d, uint8_t flags);

/* Called before the frame's length is used; the view keeps the VLAN of this node. Returns false and
 * counts if the VLAN has no segment. */
static inline bool translate_out(struct worker *w, struct frame *f)
{
	return likely(!w->snap->segments) || translate_to_segment(w, f);
}
/* flags: LEON_FLAGS_FRAME of the frame. Returns false and counts if this node does not serve the
 * segment. */
static inline bool translate_in(struct worker *w, struct delivery *d, uint8_t flags)
{
	return likely(!w->snap->segments && !(flags & LEON_F_SEGMENT)) ||
	       translate_to_vlan(w, d, flags);
}

/* --- reports.c ---
 * Reports of a worker to the control thread through two rings: control datagrams, and all
 * other reports, so that neither displaces the other. A full ring drops and counts. Producers are
 * workers; fwd_next_report() is the only consumer.
 */

/* A report without effect may be repeated after this time. */
#define REPORT_HOLD_NS (100 * NS_PER_MS)
/* Minimum interval of FWD_FOREIGN of a worker. */
#define FOREIGN_GAP_NS (50 * NS_PER_MS)

/* --- worker --- */
void report_control(struct worker *w, const struct endpoint *from, mono_t rx, const uint8_t *data,
		    size_t len);
/* Learns the source of the frame. FDB_FROZEN: the MAC is frozen at another node, and the frame is
 * dropped and counted. */
enum fdb_seen learn_source(struct worker *w, const struct eth_view *v, uint16_t slot);
void report_learn(struct worker *w, uint16_t vlan, struct mac mac, uint16_t slot);
void report_neigh(struct worker *w, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		  uint16_t slot, enum neigh_role role);
void report_accel_foreign(struct worker *w, uint16_t slot);
/* A message about multicast groups, with type FWD_MULTICAST. */
void report_multicast(struct worker *w, const struct fwd_report *r);
void report_cannot_forward(struct worker *w, uint16_t source_slot, node_id_t source, node_id_t next,
			   node_id_t destination);
void report_guard(struct worker *w, const uint8_t *frame, size_t len);
/* FWD_VLAN: the frame was dropped because the loop guard does not listen to this VLAN yet.
 * FWD_REPETITION: a flooded frame arrived twice, and the loop guard should probe. */
void report_of_vlan(struct worker *w, enum fwd_report_type type, uint16_t vlan);
void report_send_error(struct worker *w, const struct endpoint *ep, int error, bool local);
void report_foreign(struct worker *w, const struct endpoint *from, bool other_version,
		    uint8_t wire);

/* --- control thread --- */
/* Returns the oldest report of a ring; its record is held until ring_release(). */
bool report_take(struct ring *ring, struct fwd_report *r);
