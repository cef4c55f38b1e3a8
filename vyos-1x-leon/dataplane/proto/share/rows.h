// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Latency rows: the own one to all, those of others into the database. Control thread. Protocol
 * 4.6, 5.3.
 */
#pragma once

#include "proto/core.h"

void rows_session_up(struct overlay *o, struct peer *p);
void rows_announce(void *arg, mono_t now);
/* Sends the complete own row to one peer. */
void rows_send_whole(struct overlay *o, struct peer *p);
void rows_take(struct overlay *o, struct peer *p, const struct msg_row *m);
/* Enters the sequence of the peer's own row from a PING or PONG. */
void rows_row_seq(struct overlay *o, struct peer *p, uint32_t row_seq);
/* Sequence of the own row to state to the peer; 0 while its first row is not sent. */
uint32_t rows_seq_for(const struct overlay *o, const struct peer *p);
