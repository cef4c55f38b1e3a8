// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bounds of the bytes that a connection has acknowledged to one host and not delivered to the
 * other. conn.c calls it. One thread.
 */
#pragma once

#include <stdint.h>

struct conn;

/* Credit that the other end gets now, in bytes. It is at most the share of a connection and stays
 * within the budget of all. CREDIT_MIN is always granted. */
uint32_t credit_due(const struct conn *c);
/* Receive buffer of a proxy socket in bytes. It is as small as a LAN permits, because its content
 * must be carried before the connection can be released. It has room for the frames that are held:
 * the host would send them again otherwise. */
uint32_t credit_receive_window(const struct conn *c);
/* Send buffer of a proxy socket in bytes. */
uint32_t credit_send_buffer(const struct conn *c);
