// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: TCP frames that pass leon-accel on their way, and what comes back from it. A frame that is
 * diverted is gone for this batch; leon-accel hands it back, changed or not, or keeps it. Only
 * called where the snapshot says that there is an accelerator. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrived;
struct delivery;
struct eth_view;
struct frame;
struct worker;

/* Room for what is read of the queue in one batch; empty where there is no queue. */
struct accel_rx {
	uint8_t *arena;
};
void accel_rx_init(struct accel_rx *rx);
void accel_rx_fini(struct accel_rx *rx);

/* A frame from the TAP for the node of a slot; true where it was diverted (or lost to a full
 * queue). */
bool accel_from_tap(struct worker *w, const struct frame *f, uint16_t slot);
/* A frame from the TAP for a host that is on its LAN too, and goes nowhere: it may be of a
 * connection whose host moved here while it was taken. */
void accel_sees(struct worker *w, const struct frame *f);
/* A frame from that node for the local segment; true where it was diverted, or lost. */
bool accel_from_node(struct worker *w, uint16_t slot, const struct delivery *d,
		     const struct eth_view *v);
/* A frame from the accelerator of that node. */
void accel_from_peer(struct worker *w, const struct arrived *a, uint8_t *data, size_t len);
/* Source: what leon-accel handed back. */
bool from_accel(struct worker *w, int fd);
