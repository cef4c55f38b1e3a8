// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes of state of one connection, for flow.c (steps and messages) and flow_frames.c (frames of
 * the hosts). Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "flow/flow.h"

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
/* Reports whether this node is the leader. */
bool flow_leads(const struct flow *f);
/* Changes the stream. 0: none. */
void flow_set_stream(struct flow *f, uint32_t stream);
