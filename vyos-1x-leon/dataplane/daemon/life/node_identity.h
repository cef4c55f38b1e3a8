// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The node-id and the MAC of this node, from the configuration or the host. Control thread.
 */
#pragma once

#include "daemon/leond.h"

/* node-id from the configuration or the host's addresses; -EADDRNOTAVAIL with a sentence. */
int identity_decide(const struct conf *c, struct nl *nl, node_id_t *out, char *err, size_t err_len);
/* A MAC that stays the same over restarts. */
struct mac identity_mac(const struct conf *c, node_id_t self);
