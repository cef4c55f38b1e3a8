// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: what a worker tells the control thread, through two rings of its own: control datagrams,
 * and everything else, so that neither can crowd out the other. A full ring drops and counts.
 * Producers are workers; the one consumer is fwd_next_event().
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

/* The same news is posted again after this time, where the control thread did not take it in. */
#define EVENT_HOLD_NS (100 * NS_PER_MS)
/* Between two FWD_FOREIGN of a worker. */
#define FOREIGN_GAP_NS (50 * NS_PER_MS)

/* --- worker --- */
void event_control(struct worker *w, const struct endpoint *from, mono_t rx, const uint8_t *data,
		   size_t len);
/* Learns where the frame came from. False: it is not to be forwarded, for it speaks in the name of
 * a host that is frozen at another node. */
bool event_source(struct worker *w, const struct eth_view *v, uint16_t slot);
void event_learn(struct worker *w, uint16_t vlan, struct mac mac, uint16_t slot);
void event_neigh(struct worker *w, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		 uint16_t slot, bool router);
void event_cannot_forward(struct worker *w, uint16_t source_slot, node_id_t source, node_id_t next,
			  node_id_t destination);
void event_guard(struct worker *w, const uint8_t *frame, size_t len);
/* Dropped, for nobody has listened to this VLAN yet: somebody should. */
void event_vlan(struct worker *w, uint16_t vlan);
void event_suspect(struct worker *w, const struct endpoint *ep, int error, bool local);
void event_foreign(struct worker *w, const struct endpoint *from, bool other_version);

/* --- control thread --- */
/* Oldest event of a ring; the ring's record stays held until event_release(). */
bool event_take(struct ring *r, struct fwd_event *ev);
void event_release(struct ring *r);
