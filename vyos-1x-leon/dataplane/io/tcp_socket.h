// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TCP sockets of the underlay (listening sockets, connection attempts) and connected UDP sockets,
 * with source address, device and firewall mark of the overlay. All are non-blocking. Control
 * thread; never logs.
 */
#pragma once

#include <stdint.h>

#include "base/addr.h"

struct tcp_config {
	struct ip_addr source4, source6; /* family 0: any address */
	const char *device;		 /* SO_BINDTODEVICE: interface or VRF, or NULL */
	uint32_t fwmark;
};

/* Listens on the port for one family, 4 or 6. Returns the descriptor or -errno. */
int tcp_listen(const struct tcp_config *c, uint8_t family, uint16_t port);
/* Begins a connection. Returns the descriptor, which becomes writable at the end of the attempt, or
 * -errno. */
int tcp_connect(const struct tcp_config *c, const struct endpoint *to);
/* Returns a UDP socket that exchanges datagrams with one endpoint, or -errno. */
int udp_connect(const struct tcp_config *c, const struct endpoint *to);
/* Reads the own address and port of a bound or connected socket. Returns 0 or -errno. */
int socket_local(int fd, struct endpoint *local);

/* Parts of any socket of the underlay. Each returns 0 or -errno. */
int socket_set_int(int fd, int level, int name, int value);
int socket_bind(int fd, const struct ip_addr *source, uint8_t family, uint16_t port);
int socket_bind_device(int fd, const char *device);
