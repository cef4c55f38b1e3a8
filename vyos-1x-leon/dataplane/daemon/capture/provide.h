// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The capture of a flow on this node, for the node that started it. Permission by `capture permit`,
 * records in bounded memory, answers to the messages CAPTURE-START, -READ and -LOOKUP. One capture
 * at a time. Its memory exists while the other node reads. Control thread. doc/decisions/084.
 */
#pragma once

#include "base/addr.h"

struct leond;
struct msg;
struct msg_clock;
struct snap_capture;

typedef void (*provide_answer_fn)(struct leond *d, node_id_t to, const struct msg *m);

/* A message from the node, which may be this node. `answer` is called during the call. */
void provide_message(struct leond *d, node_id_t from, const struct msg *m,
		     provide_answer_fn answer);
/* Clocks of the direct links with the smallest round-trip times, in order. Returns the number. */
unsigned provide_clocks(struct leond *d, struct msg_clock *clock, unsigned most);
void capture_fill_snap(const struct leond *d, struct snap_capture *out);
/* Ends a capture that the new configuration does not permit. */
void provide_apply_conf(struct leond *d);
void provide_stop(struct leond *d);
