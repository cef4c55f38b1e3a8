// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens the TAP device, see tap.h. Control thread.
 */
#include "io/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "io/netlink/netlink.h"

/* Flags of Linux 6.2. The numbers are ABI; older headers lack them. */
#define OFFLOAD_USO4 0x20u
#define OFFLOAD_USO6 0x40u
#define QUEUE_FLAGS  (IFF_TAP | IFF_NO_PI | IFF_VNET_HDR)
#define OFFLOAD_TSO  (TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN)
#define OFFLOAD_USO  (OFFLOAD_USO4 | OFFLOAD_USO6)
/* Default queue length of a new TAP device. */
#define QUEUE_OF_THE_KERNEL 1000

_Static_assert(TAP_VNET_LEN == sizeof(struct virtio_net_hdr), "vnet header without num_buffers");

/* Checks whether the name can be used. Returns 0, or -errno after logging. */
static int check_existing(struct nl *nl, const char *name)
{
	struct nl_link link;
	int rc = nl_link_by_name(nl, name, &link);

	if (rc == -ENODEV)
		return 0;
	if (rc < 0) {
		log_error("tap", "cannot look up device: %s interface=%s", strerror(-rc), name);
		return rc;
	}
	if (strcmp(link.kind, "tun") != 0 || !link.tun_is_tap) {
		log_error("tap",
			  "name belongs to a device of another kind; remove the device or choose "
			  "another name interface=%s kind=%s",
			  name, link.kind[0] ? link.kind : "hardware");
		return -EEXIST;
	}
	if (link.tun_queues) {
		log_error("tap", "TAP is held by another process interface=%s queues=%u", name,
			  link.tun_queues);
		return -EBUSY;
	}
	return 0;
}

static int open_queue(const char *name, short flags, struct ifreq *ifr)
{
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	*ifr = (struct ifreq){ .ifr_flags = flags };
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	if (ioctl(fd, TUNSETIFF, ifr) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

/* Opens the first queue; uses a single queue if the existing device has only one. */
static int open_first(struct tap *t, const char *name, unsigned *wanted)
{
	struct ifreq ifr;
	int fd = open_queue(name, (short)(QUEUE_FLAGS | IFF_MULTI_QUEUE), &ifr);

	if (fd == -EINVAL) {
		fd = open_queue(name, QUEUE_FLAGS, &ifr);
		if (fd >= 0 && *wanted > 1) {
			log_warn("tap", "TAP has a single queue for a single worker interface=%s",
				 name);
			*wanted = 1;
		}
	}
	if (fd < 0)
		return fd;
	memcpy(t->name, ifr.ifr_name, sizeof(t->name));
	t->name[TAP_NAME_MAX] = 0;
	return fd;
}

static int set_vnet(const struct tap *t)
{
	int len = TAP_VNET_LEN;

	for (unsigned i = 0; i < t->n_queues; i++)
		if (ioctl(t->fd[i], TUNSETVNETHDRSZ, &len) < 0)
			return -errno;
	return 0;
}

static int set_offload(const struct tap *t, struct tap_offload o)
{
	unsigned long flags = (o.checksum ? TUN_F_CSUM : 0) | (o.tso ? OFFLOAD_TSO : 0) |
			      (o.uso ? OFFLOAD_USO : 0);

	return ioctl(t->fd[0], TUNSETOFFLOAD, flags);
}

/* Requests offloads from the largest set to the smallest and accepts the set that the kernel
 * grants. The device works without any. */
static void request_offload(struct tap *t)
{
	const struct tap_offload all = { true, true, true }, no_uso = { true, true, false };
	const struct tap_offload none = { 0 };

	if (set_offload(t, all) == 0) {
		t->granted = all;
	} else if (set_offload(t, no_uso) == 0) {
		t->granted = no_uso;
		log_info("tap",
			 "kernel has no UDP segmentation offload for TAP, as before "
			 "Linux 6.2; works without interface=%s",
			 t->name);
	} else {
		log_warn("tap", "kernel refuses TAP offloads, throughput suffers: %s interface=%s",
			 strerror(errno), t->name);
		set_offload(t, none);
	}
	t->used = t->granted;
	t->super = true;
}

/*
 * Sets the queue length of the device. Frames queue in the device while the worker is busy. The
 * kernel's default is shorter than the burst of a sender of small frames in one scheduling turn.
 * This queue fills only if this host is the bottleneck: the backlog of a slow link is behind the
 * sockets. A queue length set by an operator is kept.
 */
static void lengthen_queue(const struct tap *t)
{
	struct ifreq ifr = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", t->name);
	if (fd < 0)
		return;
	if (ioctl(fd, SIOCGIFTXQLEN, &ifr) == 0 && ifr.ifr_qlen == QUEUE_OF_THE_KERNEL) {
		ifr.ifr_qlen = TAP_QUEUE_FRAMES;
		if (ioctl(fd, SIOCSIFTXQLEN, &ifr) < 0)
			log_warn("tap", "cannot lengthen the queue: %s interface=%s",
				 strerror(errno), t->name);
	}
	close(fd);
}

static const char *hint_of(int rc)
{
	if (rc == -EACCES)
		return " (the user of leond cannot open /dev/net/tun; udev sets mode 0666)";
	return rc == -ENOENT ? " (no /dev/net/tun: run `modprobe tun`)" : "";
}

int tap_open(struct tap *t, struct nl *nl, const char *name, unsigned n_queues)
{
	struct nl_link link;
	struct ifreq ifr;
	int rc;

	*t = (struct tap){ 0 };
	n_queues = min_of(max_of(n_queues, 1u), (unsigned)TAP_QUEUES_MAX);
	if (!*name || strlen(name) > TAP_NAME_MAX) {
		log_error("tap", "interface name must have 1 to %d characters interface=%s",
			  TAP_NAME_MAX, name);
		return -EINVAL;
	}
	rc = check_existing(nl, name);
	if (rc < 0)
		return rc;
	rc = open_first(t, name, &n_queues);
	while (rc >= 0) {
		t->fd[t->n_queues++] = rc;
		if (t->n_queues == n_queues)
			break;
		rc = open_queue(t->name, (short)(QUEUE_FLAGS | IFF_MULTI_QUEUE), &ifr);
	}
	if (rc >= 0)
		rc = set_vnet(t);
	if (rc >= 0)
		rc = nl_link_by_name(nl, t->name, &link);
	if (rc < 0) {
		log_error("tap", "cannot open TAP: %s%s interface=%s", strerror(-rc), hint_of(rc),
			  name);
		tap_close(t);
		return rc;
	}
	t->ifindex = link.index;
	request_offload(t);
	lengthen_queue(t);
	return 0;
}

/* The kernel accepts every subset of the granted offloads. */
static void apply_offload(const struct tap *t)
{
	set_offload(t, (struct tap_offload){ .checksum = t->used.checksum,
					     .tso = t->used.tso && t->super,
					     .uso = t->used.uso && t->super });
}

void tap_use_offload(struct tap *t, struct tap_offload wanted)
{
	t->used.checksum = t->granted.checksum && wanted.checksum;
	t->used.tso = t->granted.tso && wanted.tso && t->used.checksum;
	t->used.uso = t->granted.uso && wanted.uso && t->used.checksum;
	apply_offload(t);
}

void tap_pass_super(struct tap *t, bool pass)
{
	if (pass == t->super)
		return;
	t->super = pass;
	apply_offload(t);
}

void tap_close(struct tap *t)
{
	for (unsigned i = 0; i < t->n_queues; i++)
		close(t->fd[i]);
	*t = (struct tap){ 0 };
}

int tap_send(int fd, const void *frame, size_t len)
{
	struct virtio_net_hdr plain = { 0 };
	struct iovec iov[2] = { { &plain, sizeof(plain) }, { (void *)(uintptr_t)frame, len } };

	return writev(fd, iov, array_size(iov)) < 0 ? -errno : 0;
}
