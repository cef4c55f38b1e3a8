// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: a batch of datagrams from the underlay: checked, then handed to the control thread, to the
 * next hop, or to the local segment. Workers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "io/udp.h"

struct worker;

/* Reads and processes one batch of this socket; sending and writing are worker_end()'s. True where
 * more may wait. */
bool from_net(struct worker *w, int fd);
/* How many messages the next batch is to have, when `n` of the one before, which was for so many,
 * were so many bytes. */
unsigned from_net_messages(unsigned before, unsigned n, size_t bytes);
/* One message, of one or several datagrams. */
void from_net_message(struct worker *w, const struct udp_rx_msg *m);
