// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TAPs of leon-accel, see tun.h.
 */
#include "frames/tun.h"

#include <errno.h>
#include <fcntl.h>
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
#include "wire/bytes.h"
#include "wire/frame/eth.h"

#define MTU_MAX	       9000 /* the largest size of path MTU discovery (proto/measure/pmtu.c) */
#define TCP_V6_HDR_LEN 60

/* No host answers ARP or ND there. */
static int set_flags(const char *name)
{
	struct ifreq r = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFFLAGS, &r) < 0)
		rc = -errno;
	r.ifr_flags |= IFF_NOARP;
	if (rc == 0 && ioctl(fd, SIOCSIFFLAGS, &r) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static int open_device(struct tun *t, struct nl *nl, const char *name)
{
	struct nl_link link;
	int rc = tap_open(&t->tap, nl, name, 1);

	if (rc < 0)
		return rc;
	rc = set_flags(name);
	if (rc == 0)
		rc = nl_link_by_index(nl, t->tap.ifindex, &link);
	if (rc == 0)
		rc = nl_link_set_up(nl, t->tap.ifindex, true);
	if (rc < 0) {
		tap_close(&t->tap);
		return rc;
	}
	t->mac = link.mac;
	return 0;
}

int tun_open_lan(struct tun *t, struct nl *nl, const char *name, uint32_t number)
{
	int rc = open_device(t, nl, name);

	for (uint8_t family = 4; rc == 0 && family <= 6; family += 2) {
		rc = nl_all_is_local(nl, family, name, t->tap.ifindex, number);
		if (rc == 0)
			rc = nl_default_route(nl, family, t->tap.ifindex, number);
		/* A kernel without IPv6 has no IPv6 connections. */
		if (rc < 0 && family == 6)
			rc = 0;
	}
	if (rc < 0)
		tap_close(&t->tap);
	return rc;
}

int tun_open_interproxy(struct tun *t, struct nl *nl, const char *name, const struct ip_addr *own,
			uint8_t prefix_len)
{
	struct nl_addr addr = { .ip = *own, .prefix_len = prefix_len };
	int rc = open_device(t, nl, name);

	if (rc < 0)
		return rc;
	addr.index = t->tap.ifindex;
	rc = nl_link_set_mtu(nl, t->tap.ifindex, MTU_MAX);
	if (rc == 0)
		rc = nl_addr_add(nl, &addr, false);
	if (rc < 0)
		tap_close(&t->tap);
	return rc;
}

void tun_close(struct tun *t)
{
	tap_close(&t->tap);
}

int tun_fit_route(struct tun *t, struct nl *nl, const struct ip_addr *to, uint32_t mtu,
		  uint32_t first_segments)
{
	/* The MSS in a SYN is final, and paths may change, so the device has the largest MTU. */
	struct nl_route_tcp tcp = { min_of(mtu, (uint32_t)MTU_MAX), MTU_MAX - TCP_V6_HDR_LEN,
				    first_segments };

	return nl_host_route(nl, t->tap.ifindex, to, &tcp);
}

bool tun_write(const struct tun *t, const uint8_t *vnet, const uint8_t *frame, size_t len,
	       uint16_t l3)
{
	uint8_t eth[ETH_HDR_LEN] = { 0 };
	struct virtio_net_hdr h;
	struct iovec iov[] = { { &h, sizeof(h) },
			       { eth, sizeof(eth) },
			       { (void *)(uintptr_t)(frame + l3), len - l3 } };
	uint16_t tags = (uint16_t)(l3 - ETH_HDR_LEN);

	memcpy(&h, vnet, sizeof(h));
	if (h.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		h.csum_start = (uint16_t)(h.csum_start - tags);
	if (h.hdr_len)
		h.hdr_len = (uint16_t)(h.hdr_len - tags);
	memcpy(eth, t->mac.b, MAC_LEN);
	eth[MAC_LEN] = 2; /* An arbitrary address. */
	eth[2 * MAC_LEN - 1] = 1;
	put_u16(eth + 2 * MAC_LEN, frame[l3] >> 4 == 4 ? ETHERTYPE_V4 : ETHERTYPE_V6);
	return writev(t->tap.fd[0], iov, array_size(iov)) > 0;
}

static void tune(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		log_info("accel", "setting cannot be changed: %s %s: %s", path, value,
			 strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* The namespace needs TCP only. No member may give it an address, a route or an MTU. */
static void close_ipv6(void)
{
	tune("/proc/sys/net/ipv6/conf/all/accept_ra", "0");
	tune("/proc/sys/net/ipv6/conf/default/accept_ra", "0");
	tune("/proc/sys/net/ipv6/conf/all/accept_redirects", "0");
	tune("/proc/sys/net/ipv6/conf/default/accept_redirects", "0");
	tune("/proc/sys/net/ipv6/conf/all/autoconf", "0");
	tune("/proc/sys/net/ipv6/conf/default/autoconf", "0");
	tune("/proc/sys/net/ipv6/conf/all/accept_source_route", "-1");
	tune("/proc/sys/net/ipv6/conf/default/accept_source_route", "-1");
	/* Without a link-local address. */
	tune("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1");
	tune("/proc/sys/net/ipv4/conf/all/accept_redirects", "0");
	tune("/proc/sys/net/ipv4/conf/default/accept_redirects", "0");
}

void tun_tune(void)
{
	close_ipv6();
	tune("/proc/sys/net/ipv4/conf/all/rp_filter", "0");
	tune("/proc/sys/net/ipv4/conf/default/rp_filter", "0");
	/* A proxy socket has the address and the port of a far host, and that port may be
	 * reserved. */
	tune("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
	/* An idle inter-proxy connection keeps its window, and may have 1 s of 1 Gbit/s in
	 * flight. */
	tune("/proc/sys/net/ipv4/tcp_slow_start_after_idle", "0");
	tune("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
	/* leond detects a smaller path MTU within seconds. During this time the retransmission
	 * timer doubles, and an inter-proxy connection ends after 10 s. With probing, TCP sends
	 * 1024 bytes after three timeouts, and returns to the MTU of the route by larger probes. */
	tune("/proc/sys/net/ipv4/tcp_mtu_probing", "1");
	/* The window scale in a SYN follows from the largest receive buffer, BUFFERS_MAX. The
	 * largest send buffer is for proxy sockets: 1 MiB is 80 ms at 100 Mbit/s of a LAN. */
	tune("/proc/sys/net/ipv4/tcp_rmem", "4096 1048576 67108864");
	tune("/proc/sys/net/ipv4/tcp_wmem", "4096 65536 1048576");
}

/* --- headers of frames of another accelerator --- */

_Static_assert(ACCEL_VNET_LEN == sizeof(struct virtio_net_hdr), "vnet header");

/* A super-frame has a partial checksum, because each segment gets a checksum later. */
static bool is_super(const struct virtio_net_hdr *h, const struct eth_view *v,
		     const struct tcp_view *t)
{
	uint8_t type = v->ip_version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;

	return (h->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == type &&
	       h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && h->gso_size &&
	       t->payload_len <= (uint32_t)VNET_SEGMENTS_MAX * h->gso_size;
}

bool vnet_renew(uint8_t vnet[ACCEL_VNET_LEN], const struct eth_view *v, const struct tcp_view *t)
{
	struct virtio_net_hdr had, h = { 0 };

	memcpy(&had, vnet, sizeof(had));
	if (had.flags & ~(VIRTIO_NET_HDR_F_NEEDS_CSUM | VIRTIO_NET_HDR_F_DATA_VALID))
		return false;
	if (had.gso_type != VIRTIO_NET_HDR_GSO_NONE && !is_super(&had, v, t))
		return false;
	/* One segment is no super-frame. */
	if (had.gso_type != VIRTIO_NET_HDR_GSO_NONE && had.gso_size < t->payload_len) {
		h.gso_type = had.gso_type;
		h.gso_size = had.gso_size;
		h.hdr_len = (uint16_t)(v->l4_offset + t->hdr_len);
	}
	if (had.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
		h.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		h.csum_start = v->l4_offset;
		h.csum_offset = TCP_CHECKSUM;
	}
	memcpy(vnet, &h, sizeof(h));
	return true;
}
