// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links and paths with data loss despite answered PINGs. Called by link.c, probe.c, path_probe.c
 * and paths.c, which handle the consequences, on the control thread. Protocol 4.7, 6.
 */
#pragma once

#include "proto/core.h"

void loss_init(struct overlay *o, struct peer *p);
/* Fills in the counters of a PONG to the peer. */
void loss_fill(const struct overlay *o, const struct peer *p, struct msg_pong *m);
/* Number of data datagrams sent to the peer along any path. */
uint32_t loss_path_tx(const struct overlay *o, const struct peer *p);
/* Called before a PING, directly or along the path in use. */
uint32_t loss_link_mark(struct overlay *o, struct peer *p);
uint32_t loss_path_mark(struct overlay *o, struct peer *p);
/* The functions return true if paths must be recomputed. */
bool loss_link_answer(struct overlay *o, struct peer *p, const struct probe *q,
		      const struct msg_pong *m);
bool loss_path_answer(struct overlay *o, struct peer *p, uint32_t data_tx,
		      const struct msg_pong *m);
/* Discards the counters of the time in which the link was down. */
void loss_link_up(struct peer *p);
/* The link uses another pair of lines. */
void loss_line_changed(struct overlay *o, struct peer *p);
/* Data is lost on the link, although PINGs are answered. */
bool loss_on_link(const struct peer *p);
/* The cause of the loss of the link is gone. Returns true if paths must be recomputed. */
bool loss_link_forgive(struct overlay *o, struct peer *p);
void loss_path_changed(struct peer *p);
/* Excludes the relays of the path in use to the peer. */
bool loss_distrust(struct overlay *o, struct peer *p, uint16_t loss_pm);
bool loss_is_distrusting(const struct overlay *o, const struct peer *p);
/* Marks the excluded relays, by slot. */
void loss_mark_relays(const struct overlay *o, const struct peer *p, bool *no_relay);
/* Raises the cost of a path through an excluded relay. */
void loss_evaluate(const struct overlay *o, const struct peer *p, struct path *path);
void loss_forget(struct overlay *o, uint16_t slot);
/* Returns true if the exclusion has expired. */
bool loss_link_expire(struct overlay *o, struct peer *p);
bool loss_path_expire(struct overlay *o, struct peer *p);
