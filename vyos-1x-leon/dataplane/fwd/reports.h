// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: what a worker tells the control thread, through two rings of its own: control datagrams,
 * and everything else, so that neither can crowd out the other. A full ring drops and counts.
 * Producers are workers; the one consumer is fwd_next_report().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "fwd/fwd.h"

struct worker;
struct ring;

/* The same report is posted again after this time, where the control thread did not take it in. */
#define REPORT_HOLD_NS (100 * NS_PER_MS)
/* Between two FWD_FOREIGN of a worker. */
#define FOREIGN_GAP_NS (50 * NS_PER_MS)

/* --- worker --- */
void report_control(struct worker *w, const struct endpoint *from, mono_t rx, const uint8_t *data,
		    size_t len);
/* Learns where the frame came from. False: it is not to be forwarded, for it speaks in the name of
 * a host that is frozen at another node. */
bool learn_source(struct worker *w, const struct eth_view *v, uint16_t slot);
void report_learn(struct worker *w, uint16_t vlan, struct mac mac, uint16_t slot);
void report_neigh(struct worker *w, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		  uint16_t slot, bool router);
void report_accel_foreign(struct worker *w, uint16_t slot);
void report_cannot_forward(struct worker *w, uint16_t source_slot, node_id_t source, node_id_t next,
			   node_id_t destination);
void report_guard(struct worker *w, const uint8_t *frame, size_t len);
/* Dropped, for nobody has listened to this VLAN yet: somebody should. */
void report_vlan(struct worker *w, uint16_t vlan);
/* A flooded frame came a second time: the loop guard should ask. */
void report_doubt(struct worker *w, uint16_t vlan);
void report_suspect(struct worker *w, const struct endpoint *ep, int error, bool local);
void report_foreign(struct worker *w, const struct endpoint *from, bool other_version);

/* --- control thread --- */
/* Oldest report of a ring; the ring's record stays held until report_release(). */
bool report_take(struct ring *ring, struct fwd_report *r);
void report_release(struct ring *ring);
