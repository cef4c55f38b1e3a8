// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP sockets of the underlay, see tcp_socket.h. Control thread.
 */
#include "io/tcp_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Connections that wait for accept(); a flood of strangers gets no longer queue. */
#define BACKLOG 64

int socket_set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

int socket_bind(int fd, const struct ip_addr *source, uint8_t family, uint16_t port)
{
	struct endpoint ep = { .ip = *source, .port = port };
	struct sockaddr_storage ss;
	unsigned len;

	ep.ip.family = family;
	len = endpoint_to_sockaddr(&ep, &ss);
	return bind(fd, (const struct sockaddr *)&ss, len) < 0 ? -errno : 0;
}

int socket_bind_device(int fd, const char *device)
{
	return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)) < 0
		       ? -errno
		       : 0;
}

/* Applies the settings of the overlay, and binds the socket. */
static int prepare(int fd, const struct tcp_config *c, uint8_t family, uint16_t port)
{
	const struct ip_addr *source = family == 6 ? &c->source6 : &c->source4;
	int rc = 0;

	if (family == 6)
		rc = socket_set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (rc == 0 && c->fwmark)
		rc = socket_set_int(fd, SOL_SOCKET, SO_MARK, (int)c->fwmark);
	if (rc == 0 && c->device)
		rc = socket_bind_device(fd, c->device);
	if (rc == 0 && port)
		rc = socket_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (rc == 0 && (port || source->family))
		rc = socket_bind(fd, source, family, port);
	return rc;
}

static int new_socket(uint8_t family, int type)
{
	int fd = socket(family == 6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

int tcp_listen(const struct tcp_config *c, uint8_t family, uint16_t port)
{
	int fd = new_socket(family, SOCK_STREAM);
	int rc = fd < 0 ? fd : prepare(fd, c, family, port);

	if (rc == 0 && listen(fd, BACKLOG) < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int connect_to(const struct tcp_config *c, const struct endpoint *to, int type)
{
	int fd = new_socket(to->ip.family, type);
	int rc = fd < 0 ? fd : prepare(fd, c, to->ip.family, 0);
	struct sockaddr_storage ss;
	unsigned len = endpoint_to_sockaddr(to, &ss);

	if (rc == 0 && connect(fd, (const struct sockaddr *)&ss, len) < 0 && errno != EINPROGRESS)
		rc = -errno;
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

int tcp_connect(const struct tcp_config *c, const struct endpoint *to)
{
	return connect_to(c, to, SOCK_STREAM);
}

int udp_connect(const struct tcp_config *c, const struct endpoint *to)
{
	return connect_to(c, to, SOCK_DGRAM);
}

int socket_local(int fd, struct endpoint *local)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len) < 0)
		return -errno;
	return endpoint_from_sockaddr(&ss, local) < 0 ? -EINVAL : 0;
}
