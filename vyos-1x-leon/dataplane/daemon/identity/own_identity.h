// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Identity of this node, and the invitations that it issued. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "base/mono.h"

struct conf;
struct leond;
struct nl;

/* --- node_identity.c: node-id and MAC --- */
/* Refuses a configuration that names no source of the node-id, with a sentence in err. */
bool identity_is_missing(const struct conf *c, char *err, size_t err_len);
/* Determines the node-id from the configuration or the host's addresses; -EADDRNOTAVAIL with a
 * sentence. */
int identity_decide(const struct conf *c, struct nl *nl, node_id_t *out, char *err, size_t err_len);
/* Determines a MAC that persists over restarts. */
struct mac identity_mac(const struct conf *c, node_id_t self);

/* --- identity_file.c: the identity key --- */
/* Reads the identity key, or creates it if the file is missing. Returns 0, or -errno after logging;
 * leond must not run then. */
int identity_load(struct leond *d);
/* Creates a key in a new file and writes its public half in hexadecimal to `text`. Returns 0 or
 * -errno. */
int identity_generate(const char *path, char *text);
void identity_hand_over(struct leond *d); /* passes the key to the overlay */

/* --- identity_file.c: invitations --- */
/* The issued invitations, beside the identity file: leon0.invitations for leon0.identity; mode
 * 0600, because it has the values of the tokens. */

/* Fills the list of the overlay. A file that is damaged, or that others can read, is ignored with a
 * warning: its tokens are refused. */
void invitations_load(struct leond *d);
/* Writes the list. Returns 0 or -errno after it logged the failure. */
int invitations_save(struct leond *d);
/* Removes expired invitations, with an event for each unused one. */
void invitations_second(struct leond *d, mono_t now);
