// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: reports of a worker to the control thread through two rings: control datagrams, and all
 * other reports, so that neither displaces the other. A full ring drops and counts. Producers are
 * workers; fwd_next_report() is the only consumer.
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
