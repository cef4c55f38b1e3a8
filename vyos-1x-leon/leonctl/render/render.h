// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers of leond as text: one function per command, which reads the root object of the answer and
 * writes to a stream. Pure except for the writing.
 */
#pragma once

#include <stdio.h>

#include "base/json/jsonr.h"

typedef void (*render_fn)(struct jsonr_node *root, FILE *out);

/* The exit codes of answers that can report a failure, such as no reply to a ping: 0 or 1. */
typedef int (*verdict_fn)(struct jsonr_node *root);
int verdict_reload(struct jsonr_node *root);
int verdict_ping(struct jsonr_node *root);
int verdict_trace(struct jsonr_node *root);

void render_paths(struct jsonr_node *root, FILE *out);
void render_policy(struct jsonr_node *root, FILE *out);
void render_routes(struct jsonr_node *root, FILE *out);
void render_latency(struct jsonr_node *root, FILE *out);
void render_ipsec(struct jsonr_node *root, FILE *out);
void render_queues(struct jsonr_node *root, FILE *out);
void render_acceleration(struct jsonr_node *root, FILE *out);
void render_acceleration_connections(struct jsonr_node *root, FILE *out);
void render_segments(struct jsonr_node *root, FILE *out);
void render_multicast(struct jsonr_node *root, FILE *out);
void render_fdb(struct jsonr_node *root, FILE *out);
void render_statistics(struct jsonr_node *root, FILE *out);
void render_identity(struct jsonr_node *root, FILE *out);
/* Ends a line with the addresses in the answer of `invite`. */
void render_seeds(struct jsonr_node *root, FILE *out);
void render_explain(struct jsonr_node *root, FILE *out);
void render_explain_connection(struct jsonr_node *root, FILE *out);
void render_trace(struct jsonr_node *root, FILE *out);
void render_ping(struct jsonr_node *root, FILE *out);
void render_invite(struct jsonr_node *root, FILE *out);
void render_reload(struct jsonr_node *root, FILE *out);
void render_reset_invitation(struct jsonr_node *root, FILE *out);
