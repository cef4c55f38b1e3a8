// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file of issued invitations, beside the identity file: leon0.invitations for leon0.identity.
 * Mode 0600, because it has the values of the tokens. Control thread.
 */
#pragma once

#include "base/mono.h"

struct leond;

/* Fills the list of the overlay. A file that is damaged, or that others can read, is ignored with a
 * warning: its tokens are refused. */
void invitations_load(struct leond *d);
/* Writes the list. Returns 0 or -errno after it logged the failure. */
int invitations_save(struct leond *d);
/* Removes expired invitations, with an event for each unused one. */
void invitations_second(struct leond *d, mono_t now);
