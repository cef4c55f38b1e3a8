// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parts of flow.c, for the files of flow/: changes of state, held frames, comparison of views.
 * Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "flow/flow.h"
#include "wire/accel.h"

/* --- flow_base.c: changes of state of one connection --- */

void flow_enter(struct flow *f, enum flow_state state, mono_t now);
/* Send a message without a body, the near point, and a REFUSE of the stream. */
void flow_notify(struct flow *f, uint8_t type);
void flow_notify_point(struct flow *f, uint8_t type);
void flow_notify_refusal(struct flow *f, uint32_t stream, enum accel_refusal reason);
/* Reports whether the connection is drained and this node is not bound. */
bool flow_can_be_called_off(const struct flow *f);
/* Ends the attempt, with and without a REFUSE to the other node. */
void flow_give_up(struct flow *f, enum accel_refusal reason, mono_t now);
void flow_refuse(struct flow *f, enum accel_refusal reason, mono_t now);
/* The connection is released for both nodes. */
void flow_finish_return(struct flow *f, mono_t now);
/* Reports whether a segment has a property that no proxy socket preserves. */
bool flow_is_foreign(const struct tcp_view *t);

/* Performs the next step if due. */
void flow_step(struct flow *f, mono_t now);
/* Starts the release of a connection with an unsupported feature. Returns true if a release is in
 * progress. */
bool flow_returns(struct flow *f, mono_t now);

/* --- flow_hold.c ---
 * Held frames of the near host, during a drain or a release. Part of struct flow, called by flow.c;
 * single-threaded.
 */

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

/* --- flow_end.c ---
 * Comparison of the views of two nodes of the hosts of a connection. A node makes the proxy socket
 * from its own view, so a difference would make the connection hang. Section 9 of protocol.md has
 * the rules. Pure; called by flow.c.
 */

struct accel_view agree_view(const struct flow_end *near, const struct flow_end *far);

/*
 * Compares the view of the other node with the view of this node. `drained`: in the other view,
 * both hosts have acknowledged all data (ACCEPT). Otherwise only the near host of the other node is
 * idle (OFFER). Returns the reason of a difference, or ACCEL_NOT_NOW if the views agree.
 */
enum accel_refusal agree_differ(const struct accel_view *mine, const struct accel_view *theirs,
				bool drained);

/* Copies the options of the SYNs that only the other node saw. */
void agree_learn(struct flow_end *near, struct flow_end *far, const struct accel_view *theirs);
