// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The identity key file. Control thread.
 */
#pragma once

struct leond;

/* Reads the identity key, or creates it if the file is missing. Returns 0, or -errno after logging;
 * leond must not run then. */
int identity_load(struct leond *d);
/* Creates a key in a new file and writes its public half in hexadecimal to `text`. Returns 0 or
 * -errno. */
int identity_generate(const char *path, char *text);
void identity_hand_over(struct leond *d); /* passes the key to the overlay */
