// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers of leond as text: one function per command, which reads the root object of the answer and
 * writes to a stream. Pure except for the writing. Returns the exit code of leonctl: 0, or 1 if the
 * answer reports a failure (no reply to a ping).
 */
#pragma once

#include <stdio.h>

#include "base/json/jsonr.h"

typedef int (*render_fn)(struct jsonr_node *root, FILE *out);

/* The exit codes of the commands that have more than one. */
int verdict_reload(struct jsonr_node *root);
int verdict_ping(struct jsonr_node *root);
int verdict_trace(struct jsonr_node *root);

int render_paths(struct jsonr_node *root, FILE *out);
int render_policy(struct jsonr_node *root, FILE *out);
int render_routes(struct jsonr_node *root, FILE *out);
int render_latency(struct jsonr_node *root, FILE *out);
int render_ipsec(struct jsonr_node *root, FILE *out);
int render_queues(struct jsonr_node *root, FILE *out);
int render_acceleration(struct jsonr_node *root, FILE *out);
int render_acceleration_connections(struct jsonr_node *root, FILE *out);
int render_segments(struct jsonr_node *root, FILE *out);
int render_multicast(struct jsonr_node *root, FILE *out);
int render_fdb(struct jsonr_node *root, FILE *out);
int render_statistics(struct jsonr_node *root, FILE *out);
int render_identity(struct jsonr_node *root, FILE *out);
/* Ends a line with the addresses in the answer of `invite`. */
void render_seeds(struct jsonr_node *root, FILE *out);
int render_explain(struct jsonr_node *root, FILE *out);
int render_explain_connection(struct jsonr_node *root, FILE *out);
int render_trace(struct jsonr_node *root, FILE *out);
int render_ping(struct jsonr_node *root, FILE *out);
int render_invite(struct jsonr_node *root, FILE *out);
int render_reload(struct jsonr_node *root, FILE *out);
int render_reset_invitation(struct jsonr_node *root, FILE *out);
