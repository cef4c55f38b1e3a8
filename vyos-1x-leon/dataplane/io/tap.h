// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TAP device, opened with several queues, vnet headers and all offloads that the kernel grants.
 * Owns the queue descriptors; workers read and write them directly. The control thread opens,
 * closes and changes the device. Failures are logged here with the name of the device.
 *
 * A struct virtio_net_hdr of TAP_VNET_LEN bytes precedes every frame of a queue, also without any
 * granted offload.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"

#define TAP_QUEUES_MAX	 8
#define TAP_VNET_LEN	 10 /* sizeof(struct virtio_net_hdr) without num_buffers */
#define TAP_NAME_MAX	 15
#define TAP_QUEUE_FRAMES 2000 /* default queue length of the device in frames */
/* gso_type of a UDP super-frame; headers before Linux 6.2 lack it. */
#define TAP_GSO_UDP_L4 5

struct nl;

/* Offloads of both directions. Segmentation requires partial checksums. */
struct tap_offload {
	bool checksum;
	bool tso; /* TCP segmentation */
	bool uso; /* UDP segmentation (Linux 6.2 and later) */
};

struct tap {
	char name[TAP_NAME_MAX + 1];
	int ifindex;
	/* Smaller than the requested number if an existing device has a single queue. */
	unsigned n_queues;
	int fd[TAP_QUEUES_MAX]; /* non-blocking, one per worker */
	struct tap_offload granted, used;
	bool super; /* super-frames from the kernel, if `used` has a segmentation */
};

/*
 * Creates the device, or attaches to an unused persistent TAP of this name. Returns 0 or -errno:
 * -EEXIST: the name belongs to a device of another type; -EBUSY: another process holds the device;
 * -EPERM: CAP_NET_ADMIN is missing. Nothing stays open after a failure.
 */
int tap_open(struct tap *t, struct nl *nl, const char *name, unsigned n_queues);
/* Uses the wanted offloads that the kernel granted. Any time. */
void tap_use_offload(struct tap *t, struct tap_offload wanted);
/* Enables or disables super-frames from the kernel, if their segmentation is used. Without offloads
 * the kernel segments before the device. */
void tap_pass_super(struct tap *t, bool pass);
/* Closes the queues. A device created by tap_open() disappears with the queues. */
void tap_close(struct tap *t);

/* Writes a frame to the host side without any offload, for the few frames of leond. Returns 0 or
 * -errno. Any thread. */
int tap_send(int fd, const void *frame, size_t len);
