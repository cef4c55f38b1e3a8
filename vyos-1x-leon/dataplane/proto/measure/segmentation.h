// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UDP segmentation of data on a direct link: if data is lost, a trial decides whether segmentation
 * is the cause. Called by link.c, probe.c and the top floor, on the control thread.
 * doc/decisions/074.
 */
#pragma once

#include "proto/core.h"

/* Called before a PING. */
void segmentation_ping(const struct overlay *o, const struct peer *p, struct probe *q);
/* Enters the answer. Returns true if segmentation is convicted now. Called after loss.c. */
bool segmentation_answer(struct overlay *o, struct peer *p, const struct probe *q,
			 const struct msg_pong *m);
/* Returns true during a trial, which needs frequent probes. */
bool segmentation_is_on_trial(const struct peer *p);
void segmentation_expire(struct overlay *o, struct peer *p); /* called once a second */
/* The link comes up, also after another node had the slot, or goes down, which ends a trial. */
void segmentation_link_up(struct overlay *o, const struct peer *p);
void segmentation_link_down(struct overlay *o, struct peer *p);
/* A change of the key ends trials and convictions. */
void segmentation_configure(struct overlay *o, const struct conf *old);
