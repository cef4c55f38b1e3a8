// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers of leond as text: one function per command, which reads the root object of the answer and
 * writes to a stream. Pure except for the writing.
 */
#pragma once

#include <stdio.h>

#include "base/json/jsonr.h"

typedef void render_fn(struct jsonr_node *root, FILE *out);
/* The exit codes of answers that can report a failure, such as no reply to a ping: 0 or 1. */
typedef int verdict_fn(struct jsonr_node *root);

verdict_fn verdict_reload, verdict_ping, verdict_trace;
render_fn render_paths, render_policy, render_routes, render_latency, render_ipsec, render_queues;
render_fn render_acceleration, render_acceleration_connections, render_segments, render_multicast;
render_fn render_fdb, render_statistics, render_identity, render_explain, render_explain_connection;
render_fn render_trace, render_ping, render_invite, render_reload, render_reset_invitation;
/* Ends a line with the addresses in the answer of `invite`. */
render_fn render_seeds;
