// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys of data to and from a peer across a session change. Control thread. Protocol 2.7.
 */
#pragma once

#include "proto/core.h"

/* p->cur is new. renewed: the peer was alive and has the same incarnation. */
void data_established(struct overlay *o, struct peer *p, bool renewed);
/* A message arrived in p->cur. */
void data_confirmed(struct overlay *o, struct peer *p);
/* p->cur is the previous session again. */
void data_went_back(struct overlay *o, struct peer *p);
void data_tick(struct overlay *o, struct peer *p, mono_t now);
void data_end(struct overlay *o, struct peer *p); /* the peer has no session any more */
void data_free(struct peer *p);
