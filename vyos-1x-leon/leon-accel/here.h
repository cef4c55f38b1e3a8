// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both hosts of a connection on the LAN here, since one of them moved while it was taken: the
 * stand-ins tell them from one port what each of them still lacks of the other. Called by away.c
 * and conns.c. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

struct conn;
struct here_frame;
struct here {
	bool turn;     /* of the far host, or of the near one */
	bool is_open;  /* that host may be spoken to */
	bool is_asked; /* both hosts were asked for this turn */
	mono_t turned;
	struct here_frame *first[2], **end[2]; /* for each, until it is its turn */
	size_t kept;
};

/* Of a conn that is new, or whose far host has come here. */
void here_begin(struct conn *c, mono_t now);
void here_free(struct conn *c);
/* For one of the two, in the name of the other. */
void here_send(struct conn *c, bool to_far, const uint8_t *vnet, const uint8_t *frame, size_t len);
void here_tick(struct conn *c, mono_t now);
