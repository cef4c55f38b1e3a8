// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The configuration of one interface on this host: files, systemd unit, and the common steps of
 * `init` and `join`. Called by init.c, join.c and leave.c; leonctl only.
 */
#pragma once

#include <stdbool.h>

#include "base/addr.h"
#include "client/target.h"
#include "wire/message/token.h"

#define SITE_PATH_LEN 128

/* The interface of -i, or leon0. */
const char *site_interface(const struct target *t);
/* /etc/leon/INTERFACE.json */
void site_config_path(const char *interface, char path[SITE_PATH_LEN]);

/* True if systemd is the service manager of this host. */
bool site_has_systemd(void);
/* Runs `systemctl VERB --now leond@INTERFACE`. Prints the reason and returns false at an error. */
bool site_systemctl(const struct target *t, const char *verb, const char *interface);

struct site {
	const char *interface;
	char path[SITE_PATH_LEN];
	node_id_t node_id;
	char name[64];
};
/* Does the checks of site_write() without the secret, and writes nothing. Returns an exit code, 0
 * for success, after it printed the reason of a failure. */
int site_check(const struct target *t, const struct token *overlay);
/* Writes the configuration of a new node with the options of the command line. With --print, prints
 * the file instead. Returns an exit code, 0 for success, after it printed the reason of a failure.
 * */
int site_write(const struct target *t, const struct token *overlay, struct site *out);
/* Starts the unit, now and at each boot, and prints that it runs, or how to start leond without
 * systemd. Returns an exit code, 0 for success, after it printed the reason of a failure. */
int site_start(const struct target *t, const struct site *s);
/* redeem.c: requests the secret of a one-time token from the inviting member; blocks for some
 * seconds. Fills the secret of the token. Returns an exit code, 0 for success, after it printed the
 * reason of a failure. */
int redeem_token(const struct target *t, struct token *token);
/* "fujisawa (240.1.2.3)", in a buffer of text/text.h */
const char *site_label(const struct site *s);
