// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bounds of the acknowledged and undelivered bytes of a connection. Called by conn_socket.c.
 * Single-threaded.
 */
#pragma once

#include <stdint.h>

struct conn;

/* Credit in bytes that the other end gets now. At most the share of a connection, and within the
 * budget of all connections. CREDIT_MIN is always granted. */
uint32_t credit_due(const struct conn *c);
/* Receive buffer of a proxy socket in bytes. As small as a LAN permits, because the content must be
 * delivered before a release. The buffer has space for the held frames, which the host would
 * retransmit otherwise. */
uint32_t credit_receive_window(const struct conn *c);
/* Send buffer of a proxy socket in bytes. */
uint32_t credit_send_buffer(const struct conn *c);
