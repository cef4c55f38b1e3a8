// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Held frames of the near host, during a drain or a release. Part of struct flow, called by flow.c;
 * single-threaded.
 */
#pragma once

#include "flow/flow.h"

typedef void (*pass_fn)(struct flow *f, const struct flow_frame *frame);

/*
 * Holds the bytes beyond the point. The acknowledgement of the frame is passed on, or two hosts
 * that both send would wait for each other. The bytes in front of the point are passed on, because
 * the far end may lack them.
 */
void flow_hold_beyond(struct flow *f, const struct flow_frame *frame, pass_fn way);
/* Raises an older TSval in a message of the queue. */
void flow_raise_ts(const struct flow_frame *frame, uint32_t ts_val);
/* Passes the frames on in order, with the newest TSval of the host. way NULL: discards the
 * frames. */
void flow_pass_held(struct flow *f, pass_fn way);
