// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Node-id and MAC of this node, from the configuration or the host. Control thread.
 */
#pragma once

#include <stddef.h>

#include "base/addr.h"

struct conf;
struct nl;

/* The refusal of a configuration without a source of the node-id. */
#define IDENTITY_MISSING                                                                           \
	"node-id: missing; set node-id, an IPv4 source-address, a source-interface, or an IPv4 "   \
	"address of the first line"

/* Determines the node-id from the configuration or the host's addresses; -EADDRNOTAVAIL with a
 * sentence. */
int identity_decide(const struct conf *c, struct nl *nl, node_id_t *out, char *err, size_t err_len);
/* Determines a MAC that persists over restarts. */
struct mac identity_mac(const struct conf *c, node_id_t self);
