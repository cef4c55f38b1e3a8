// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of the near host that are held while its connection is drained or returned. Part of
 * struct flow, called by flow.c; one thread.
 */
#pragma once

#include "flow.h"

typedef void (*way_fn)(void *arg, struct flow *f, const struct flow_frame *frame);

/*
 * Holds what is beyond the point. Its acknowledgement goes on, or two hosts that both send would
 * wait for each other; so does what is in front of the point: the far end may lack it.
 */
void flow_hold_beyond(struct flow *f, const struct flow_frame *frame, way_fn way);
/* In the order in which they came; way NULL: nowhere. */
void flow_let_go(struct flow *f, way_fn way);
