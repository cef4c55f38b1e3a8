// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers to fetches, queued and paced. Owns the queue; control thread. Protocol 4.4.
 */
#pragma once

#include "proto/core.h"

void answer_init(struct overlay *o);
void answer_fetch(struct overlay *o, struct peer *p, const struct msg_fetch *m);
void answer_free(struct overlay *o);
