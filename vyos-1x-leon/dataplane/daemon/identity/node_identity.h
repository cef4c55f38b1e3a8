// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Node-id and MAC of this node, from the configuration or the host. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"

struct conf;
struct nl;

/* Refuses a configuration that names no source of the node-id, with a sentence in err. */
bool identity_is_missing(const struct conf *c, char *err, size_t err_len);
/* Determines the node-id from the configuration or the host's addresses; -EADDRNOTAVAIL with a
 * sentence. */
int identity_decide(const struct conf *c, struct nl *nl, node_id_t *out, char *err, size_t err_len);
/* Determines a MAC that persists over restarts. */
struct mac identity_mac(const struct conf *c, node_id_t self);
