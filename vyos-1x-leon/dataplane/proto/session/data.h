// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which keys data to and from a peer uses while sessions change. Control thread. Protocol 2.7.
 */
#pragma once

#include "proto/core.h"

/* p->cur is new. renewed: the peer was alive and is the same run of it. */
void data_established(struct overlay *o, struct peer *p, bool renewed);
/* A message arrived in p->cur. */
void data_confirmed(struct overlay *o, struct peer *p);
/* p->cur is the session that was in use before. */
void data_went_back(struct overlay *o, struct peer *p);
void data_tick(struct overlay *o, struct peer *p, mono_t now);
void data_end(struct overlay *o, struct peer *p); /* there is no session any more */
void data_free(struct peer *p);
