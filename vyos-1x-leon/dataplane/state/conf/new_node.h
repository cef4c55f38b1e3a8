// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first configuration of a node, from a joining token (wire/message/token.h) and from the words
 * of a command line. Called by `leonctl init` and `leonctl join`, and by `invite` of the daemon to
 * check its token. Pure. The caller wipes the text, which contains the secret.
 */
#pragma once

#include <stddef.h>

#include "base/addr.h"
#include "wire/message/token.h"

struct new_node {
	const char *interface;
	node_id_t node_id;
	const char *name; /* node-name, or NULL */
	/* Unchecked words of conf.def, or NULL. Lists end with NULL. */
	const char *const *address, *const *source_address;
	const char *source_interface, *bridge;
	const char *tls_port;	     /* of the peers, for a network that blocks UDP */
	const struct token *overlay; /* VNI, secret and peers; without seeds the first node */
};

/* Returns leond.json(5) with one key per line; the caller wipes and frees it. NULL, with one
 * sentence in err, if conf_parse() refuses a value. */
char *new_node_text(const struct new_node *n, char *err, size_t err_len);
