// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UDP between a connection and leond: the socket of each connection, batches of datagrams from
 * leond, and of datagrams to leond. Only tls_link.c calls this file; main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct hub;
struct send_queue;

/* Opens a socket with an address of its own, connected to the sockets of leond. Returns the
 * descriptor and the address, or -errno. */
int leond_udp_open(struct hub *r, bool accepted, struct endpoint *local);
/* Moves a batch of datagrams to the queue. Returns the number of messages, at most RX_MESSAGES, or
 * -errno. */
int leond_udp_take(struct hub *r, int fd, struct send_queue *q);
/* Sends the frames to leond. Returns the number of bytes of complete frames, or -1 if the bytes are
 * no frames. */
long leond_udp_deliver(struct hub *r, int fd, const uint8_t *data, size_t len);
