// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The identity key in its file. Control thread.
 */
#pragma once

#include "daemon/leond.h"

/* Reads the identity key, or makes one where there is none. 0, or -errno with the reason logged:
 * there is no running without it. */
int identity_load(struct leond *d);
/* Makes a key in a file that is not there yet; text, with room for it: its public half in
 * hexadecimal. 0 or -errno. */
int identity_generate(const char *path, char *text);
void identity_hand_over(struct leond *d); /* to the overlay */
