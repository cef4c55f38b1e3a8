// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a batch of datagrams from the underlay: checks, then the control thread, the next hop or
 * the local segment. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "io/udp.h"

struct worker;

/* Reads and processes a batch of the socket; worker_end() sends and writes. Returns true if more
 * may be pending. */
bool from_net(struct worker *w, int fd);
/* Returns the number of messages of the next batch, after `n` messages with the given number of
 * bytes. */
unsigned from_net_messages(unsigned before, unsigned n, size_t bytes);
/* Delivers datagrams that no longer wait for their order, at the end of a batch. */
void from_net_end(struct worker *w);
/* Processes a message of one or several datagrams. */
void from_net_message(struct worker *w, const struct udp_rx_msg *m);
