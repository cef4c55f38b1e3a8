// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links and paths that lose data although PINGs are answered. Called by link.c, probe.c, along.c
 * and paths.c, who see to what follows, on the control thread. Protocol 4.7, 6.
 */
#pragma once

#include "proto/core.h"

void loss_init(struct overlay *o, struct peer *p);
/* Counters for a PONG to the peer. */
void loss_fill(const struct overlay *o, const struct peer *p, struct msg_pong *m);
/* Datagrams with data that were sent to it along any path. */
uint32_t loss_path_tx(const struct overlay *o, const struct peer *p);
/* A PING is about to be sent, directly or along the path in use. */
uint32_t loss_link_mark(struct overlay *o, struct peer *p);
uint32_t loss_path_mark(struct overlay *o, struct peer *p);
/* These are true where paths are to be computed anew. */
bool loss_link_answer(struct overlay *o, struct peer *p, const struct probe *q,
		      const struct msg_pong *m);
bool loss_path_answer(struct overlay *o, struct peer *p, uint32_t data_tx,
		      const struct msg_pong *m);
/* What was counted while it was down says nothing. */
void loss_link_up(struct peer *p);
void loss_path_changed(struct peer *p);
/* Other relays are to be taken to the peer than those of the path in use. */
bool loss_distrust(struct overlay *o, struct peer *p, uint16_t loss_pm);
bool loss_is_distrusting(const struct overlay *o, const struct peer *p);
/* Marks those that are not to be taken, by slot. */
void loss_mark_relays(const struct overlay *o, const struct peer *p, bool *no_relay);
/* Makes a path through one of them dear. */
void loss_weigh(const struct overlay *o, const struct peer *p, struct path *path);
void loss_forget(struct overlay *o, uint16_t slot);
/* It was avoided for long enough. */
bool loss_link_expire(struct overlay *o, struct peer *p);
bool loss_path_expire(struct overlay *o, struct peer *p);
