// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens UDP sockets, sends single datagrams and reads the error queue, see udp.h. Control thread,
 * except udp_error_next(): workers call it on their own sockets.
 */
#include "io/udp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "io/tcp_socket.h"

#define DEFAULT_BUFFER (4 << 20)
/* Retries of a send that failed with the pending error of an earlier datagram. */
#define PENDING_ERRORS 8
#define NO_DEVICE      "lo"

/* Requests a buffer of `bytes`, beyond the system limit if CAP_NET_ADMIN permits. Returns the
 * granted size. */
static int set_buffer(int fd, int force, int plain, int bytes)
{
	socklen_t len = sizeof(bytes);

	if (socket_set_int(fd, SOL_SOCKET, force, bytes) < 0)
		socket_set_int(fd, SOL_SOCKET, plain, bytes);
	if (getsockopt(fd, SOL_SOCKET, plain, &bytes, &len) < 0)
		return 0;
	return bytes;
}

/* Without the device, the loopback device reaches nobody and receives nothing from outside. */
static int bind_device_or_none(int fd, const char *device)
{
	int rc = socket_bind_device(fd, device);

	return rc == -ENODEV ? socket_bind_device(fd, NO_DEVICE) : rc;
}

/* Mandatory options, set before the bind. */
static int set_required(int fd, bool v6, const struct udp_config *c)
{
	int level = v6 ? IPPROTO_IPV6 : IPPROTO_IP;
	int rc = 0;

	if (v6)
		rc = socket_set_int(fd, level, IPV6_V6ONLY, 1);
	/* Sets DF on every datagram and ignores the kernel's path MTU, because leond probes the
	 * path MTU. */
	if (rc == 0)
		rc = socket_set_int(fd, level, v6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER,
				    v6 ? IPV6_PMTUDISC_PROBE : IP_PMTUDISC_PROBE);
	if (rc == 0)
		rc = socket_set_int(fd, level, v6 ? IPV6_RECVERR : IP_RECVERR, 1);
	/* Receives the ECN field of the outer header, which decapsulation copies (RFC 6040). */
	if (rc == 0)
		rc = socket_set_int(fd, level, v6 ? IPV6_RECVTCLASS : IP_RECVTOS, 1);
	if (rc == 0 && c->late)
		rc = socket_set_int(fd, level, v6 ? IPV6_FREEBIND : IP_FREEBIND, 1);
	if (rc < 0 || !c->device)
		return rc;
	return c->late ? bind_device_or_none(fd, c->device) : socket_bind_device(fd, c->device);
}

/* Optional offloads. Reports an offload only if all sockets have it. */
static void set_wanted(struct udp *u, int fd, int buffer_bytes)
{
	int rcv = set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
	int snd = set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);

	u->rcvbuf = u->rcvbuf ? min_of(u->rcvbuf, rcv) : rcv;
	u->sndbuf = u->sndbuf ? min_of(u->sndbuf, snd) : snd;
	if (socket_set_int(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1) < 0)
		u->timestamps = false;
	if (socket_set_int(fd, IPPROTO_UDP, UDP_GRO, 1) < 0)
		u->gro = false;
	/* A segment size of 0 has no effect and fails if the option is unknown (before Linux
	 * 4.18). */
	if (socket_set_int(fd, IPPROTO_UDP, UDP_SEGMENT, 0) < 0)
		u->gso = false;
}

/*
 * With SO_REUSEPORT a second daemon of the same user would share the port silently, and each would
 * receive half of the datagrams. A bind without the option fails if any socket holds the port, so
 * it comes first; it also chooses the port if none is configured. Returns 0 and the port, or
 * -errno.
 */
static int try_exclusive(const struct udp_config *c, bool v6, uint16_t *port)
{
	struct endpoint ep;
	int fd, rc;

	if (c->shared && *port)
		return 0;
	fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = set_required(fd, v6, c);
	if (rc == 0)
		rc = socket_bind(fd, v6 ? &c->source6 : &c->source4, v6 ? 6 : 4, *port);
	if (rc == 0)
		rc = socket_local(fd, &ep);
	if (rc == 0)
		*port = ep.port;
	close(fd);
	return rc;
}

static int open_socket(struct udp *u, const struct udp_config *c, bool v6)
{
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = set_required(fd, v6, c);
	if (rc == 0)
		rc = socket_set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (rc == 0)
		rc = socket_bind(fd, v6 ? &c->source6 : &c->source4, v6 ? 6 : 4, u->port);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	set_wanted(u, fd, c->buffer_bytes ? c->buffer_bytes : DEFAULT_BUFFER);
	return fd;
}

static int open_family(struct udp *u, const struct udp_config *c, bool v6)
{
	int *fd = v6 ? u->fd6 : u->fd4;
	int rc = try_exclusive(c, v6, &u->port);

	for (unsigned i = 0; rc >= 0 && i < u->n; i++) {
		rc = open_socket(u, c, v6);
		if (rc >= 0)
			fd[i] = rc;
	}
	return min_of(rc, 0);
}

static const char *hint_of(int rc, bool v6)
{
	switch (-rc) {
	case EACCES:
		return " (a port below net.ipv4.ip_unprivileged_port_start needs "
		       "CAP_NET_BIND_SERVICE)";
	case EADDRNOTAVAIL:
		if (v6)
			return " (source-address is not an address of this host, or its duplicate "
			       "address detection is pending or has failed, see `ip -6 address`)";
		return " (source-address is not an address of this host; behind NAT remove "
		       "source-address, or use the private address, and set node-id)";
	case EADDRINUSE:
		return " (another program uses the port, see `ss -ulnp`; a second overlay needs "
		       "another `port`)";
	default:
		return "";
	}
}

static void report_failure(const struct udp_config *c, bool v6, int rc)
{
	char addr[IP_STRLEN] = "any";
	const struct ip_addr *source = v6 ? &c->source6 : &c->source4;

	if (source->family)
		ip_format(source, addr, sizeof(addr));
	log_error("udp", "cannot open socket: %s%s family=%s address=%s port=%u%s%s", strerror(-rc),
		  hint_of(rc, v6), v6 ? "ipv6" : "ipv4", addr, c->port, c->device ? " device=" : "",
		  c->device ? c->device : "");
}

int udp_open(struct udp *u, const struct udp_config *c)
{
	int rc = c->v4 || c->v6 ? 0 : -EAFNOSUPPORT;
	bool v6 = false;

	*u = (struct udp){ .n = min_of(max_of(c->n, 1u), (unsigned)UDP_SOCKETS_MAX),
			   .port = c->port,
			   .gso = true,
			   .gro = true,
			   .timestamps = true };
	for (unsigned i = 0; i < UDP_SOCKETS_MAX; i++)
		u->fd4[i] = u->fd6[i] = -1;
	if (c->v4)
		rc = open_family(u, c, false);
	if (c->v6 && rc == 0) {
		v6 = true;
		rc = open_family(u, c, true);
	}
	if (rc < 0) {
		report_failure(c, v6, rc);
		udp_close(u);
	}
	u->gro_used = u->gro;
	return rc;
}

/* Sets all options, also after a failure. Returns the first failure. */
static int mark_socket(int fd, bool v6, const struct udp_marking *m)
{
	/* The kernel accepts -1 for the host's default of hops and refuses 0. */
	const struct {
		const char *what;
		int level, name, value;
	} all[] = { { "fwmark", SOL_SOCKET, SO_MARK, (int)m->fwmark },
		    { "parameters.ip.tos", IPPROTO_IP, IP_TOS, m->tos },
		    { "parameters.ip.ttl", IPPROTO_IP, IP_TTL, m->ttl ? m->ttl : -1 },
		    { "parameters.ip.df", IPPROTO_IP, IP_MTU_DISCOVER,
		      m->df_unset ? IP_PMTUDISC_DONT : IP_PMTUDISC_PROBE },
		    { "parameters.ipv6.tclass", IPPROTO_IPV6, IPV6_TCLASS, m->tclass },
		    { "parameters.ipv6.hoplimit", IPPROTO_IPV6, IPV6_UNICAST_HOPS,
		      m->hoplimit ? m->hoplimit : -1 } };
	int rc = 0;

	for (size_t i = 0; i < array_size(all); i++) {
		int r = all[i].level == (v6 ? IPPROTO_IP : IPPROTO_IPV6)
				? 0
				: socket_set_int(fd, all[i].level, all[i].name, all[i].value);

		if (r < 0)
			log_error("udp", "%s cannot be set: %s", all[i].what, strerror(-r));
		rc = rc ? rc : r;
	}
	return rc;
}

int udp_set_marking(struct udp *u, const struct udp_marking *m)
{
	int rc = 0, r;

	u->marking = *m;
	for (unsigned i = 0; i < u->n; i++) {
		r = u->fd4[i] >= 0 ? mark_socket(u->fd4[i], false, m) : 0;
		rc = rc ? rc : r;
		r = u->fd6[i] >= 0 ? mark_socket(u->fd6[i], true, m) : 0;
		rc = rc ? rc : r;
	}
	return rc;
}

void udp_use_gro(struct udp *u, bool on)
{
	on = on && u->gro;
	if (on == u->gro_used)
		return;
	for (unsigned i = 0; i < u->n; i++) {
		if (u->fd4[i] >= 0)
			socket_set_int(u->fd4[i], IPPROTO_UDP, UDP_GRO, on);
		if (u->fd6[i] >= 0)
			socket_set_int(u->fd6[i], IPPROTO_UDP, UDP_GRO, on);
	}
	u->gro_used = on;
}

void udp_close(struct udp *u)
{
	for (unsigned i = 0; i < u->n; i++) {
		if (u->fd4[i] >= 0)
			close(u->fd4[i]);
		if (u->fd6[i] >= 0)
			close(u->fd6[i]);
		u->fd4[i] = u->fd6[i] = -1;
	}
	u->n = 0;
}

static int replace_socket(struct udp *u, const struct udp_config *c, int *fd, bool v6)
{
	int fresh, rc;

	if (*fd < 0)
		return 0;
	fresh = open_socket(u, c, v6);
	if (fresh < 0)
		return fresh;
	/* Workers send by the new socket at once. */
	mark_socket(fresh, v6, &u->marking);
	rc = dup3(fresh, *fd, O_CLOEXEC) < 0 ? -errno : 0;
	close(fresh);
	return rc;
}

int udp_reopen(struct udp *u, const struct udp_config *c)
{
	int rc = 0, r;

	for (unsigned i = 0; i < u->n; i++) {
		r = replace_socket(u, c, &u->fd4[i], false);
		rc = rc ? rc : r;
		r = replace_socket(u, c, &u->fd6[i], true);
		rc = rc ? rc : r;
	}
	u->gro_used = u->gro;
	return rc;
}

/* control: control messages, or NULL. */
static int send_to(int fd4, int fd6, const struct endpoint *to, const void *data, size_t len,
		   void *control, size_t control_len)
{
	struct sockaddr_storage ss;
	/* sendmsg() does not write to the data; the type is not const because recvmsg() shares the
	 * structure. */
	struct iovec iov = { (void *)(uintptr_t)data, len };
	struct msghdr m = { .msg_name = &ss,
			    .msg_namelen = endpoint_to_sockaddr(to, &ss),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = control_len };
	int fd = to->ip.family == 6 ? fd6 : to->ip.family ? fd4 : -1, err = 0;

	if (fd < 0)
		return -EAFNOSUPPORT;
	/* With IP_RECVERR the next call on the socket reports an ICMP error about any earlier
	 * datagram, for any destination. The report clears the error. */
	for (int i = 0; i < PENDING_ERRORS; i++) {
		if (sendmsg(fd, &m, MSG_NOSIGNAL) >= 0)
			return 0;
		err = errno;
		if (err == EAGAIN || err == ENOBUFS || err == EINVAL || err == EPERM)
			break;
	}
	return -err;
}

int udp_send(int fd4, int fd6, const struct endpoint *to, const void *data, size_t len)
{
	return send_to(fd4, fd6, to, data, len, NULL, 0);
}

int udp_send_class(int fd4, int fd6, const struct endpoint *to, const void *data, size_t len,
		   uint8_t class)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int))] = { 0 };

	udp_put_class((struct cmsghdr *)control, to->ip.family == 6, class);
	return send_to(fd4, fd6, to, data, len, control, sizeof(control));
}

/* Extracts the extended error and the MTU from the control messages; returns false if there is
 * none. */
static bool read_extended(struct msghdr *mh, struct udp_error *e)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		struct sock_extended_err ee;

		if (!(c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) &&
		    !(c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
			continue;
		if (c->cmsg_len < CMSG_LEN(sizeof(ee)))
			continue;
		memcpy(&ee, CMSG_DATA(c), sizeof(ee));
		if (ee.ee_origin != SO_EE_ORIGIN_ICMP && ee.ee_origin != SO_EE_ORIGIN_ICMP6 &&
		    ee.ee_origin != SO_EE_ORIGIN_LOCAL)
			continue;
		e->error = (int)ee.ee_errno;
		e->mtu = ee.ee_errno == EMSGSIZE ? ee.ee_info : 0;
		return true;
	}
	return false;
}

bool udp_error_next(int fd, struct udp_error *e)
{
	/* Bounds the drain: a remote host may cause errors as fast as they are read. */
	for (int i = 0; i < 64; i++) {
		_Alignas(struct cmsghdr) uint8_t control[256];
		struct sockaddr_storage ss = { 0 };
		uint8_t payload[1];
		struct iovec iov = { payload, sizeof(payload) };
		struct msghdr mh = { .msg_name = &ss,
				     .msg_namelen = sizeof(ss),
				     .msg_iov = &iov,
				     .msg_iovlen = 1,
				     .msg_control = control,
				     .msg_controllen = sizeof(control) };
		int pending;
		socklen_t len = sizeof(pending);

		if (recvmsg(fd, &mh, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
			/* The queue is empty, but the pending error would still raise EPOLLERR. */
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &pending, &len);
			return false;
		}
		*e = (struct udp_error){ 0 };
		if (read_extended(&mh, e) && endpoint_from_sockaddr(&ss, &e->to) == 0)
			return true;
	}
	return false;
}
