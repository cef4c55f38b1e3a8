// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TAP device: opened with several queues, vnet headers and as many offloads as the kernel
 * grants. Owns the queue descriptors; workers read and write them directly. Opening, closing and
 * changing the device is for the control thread; what fails is logged here with the device's name.
 *
 * Every frame on a queue is behind a struct virtio_net_hdr of TAP_VNET_LEN bytes, also where no
 * offload was granted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define TAP_QUEUES_MAX	 8
#define TAP_VNET_LEN	 10 /* sizeof(struct virtio_net_hdr): without num_buffers */
#define TAP_NAME_MAX	 15
#define TAP_QUEUE_FRAMES 2000 /* wait in the device, where nobody chose another number */
/* gso_type of a UDP super-frame, absent from the headers of kernels before 6.2. */
#define TAP_GSO_UDP_L4 5

struct nl;

struct tap {
	char name[TAP_NAME_MAX + 1];
	int ifindex;
	/* Fewer than asked for where an existing device has a single queue. */
	unsigned n_queues;
	int fd[TAP_QUEUES_MAX]; /* non-blocking, one a worker */
	bool offload; /* checksums and TCP segmentation are left to us and may be left to the TAP */
	bool uso;     /* and UDP segmentation (Linux 6.2 and later) */
};

/*
 * Creates the device, or attaches to a persistent TAP of that name that nobody uses. 0 or -errno:
 * -EEXIST where the name belongs to a device of another type, -EBUSY where another process holds
 * it, -EPERM without CAP_NET_ADMIN. On failure nothing is left open.
 */
int tap_open(struct tap *t, struct nl *nl, const char *name, unsigned n_queues);
/* Does without offloads that were granted: a flag that is false turns its offload off. */
void tap_limit_offload(struct tap *t, bool tso, bool uso);
/* Whether the kernel hands over super-frames, where that was granted; else it cuts them before. */
void tap_pass_super(const struct tap *t, bool pass);
/* Closes the queues; a device that tap_open() created goes away with them. */
void tap_close(struct tap *t);

/* Device settings, through netlink. 0 or -errno. */
int tap_set_mac(const struct tap *t, struct nl *nl, struct mac mac);
int tap_set_mtu(const struct tap *t, struct nl *nl, uint32_t mtu);
int tap_set_up(const struct tap *t, struct nl *nl, bool up);

/* One frame out of the device, without any offload; for the few frames that are made here. 0 or
 * -errno. Any thread. */
int tap_send(int fd, const void *frame, size_t len);
