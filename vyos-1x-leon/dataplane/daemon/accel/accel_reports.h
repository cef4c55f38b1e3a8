// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel about its connections (wire/accel_report.h): the last totals and nodes, the
 * events derived from them, and queries for single connections, which are answered page by page.
 * Owned by struct leond; control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "wire/accel_report.h"

struct leond;

void accel_reports_open(struct leond *d);
/* Cancels the query of a disconnected requester. */
void accel_reports_free(struct leond *d);

/* leon-accel has connected or disconnected. fd: its socket, valid until the disconnection. */
void accel_reports_here(struct leond *d, int fd);
void accel_reports_gone(struct leond *d);
/* Handles a message of leon-accel. Returns false if the message is invalid. */
bool accel_reports_take(struct leond *d, const void *data, size_t len);

/* leond refused a frame between accelerators, because the source is not the sending node. */
void accel_reports_foreign(struct leond *d, node_id_t id);

/* The last totals. NULL: not connected, or not received yet. */
const struct accel_totals *accel_reports_totals(const struct leond *d);
/* The last report about a node. Returns false without a report. */
bool accel_reports_node(const struct leond *d, node_id_t id, struct accel_node *out);

enum accel_answer {
	ACCEL_ANSWER_PAGE, /* A page of connections. More pages follow. */
	ACCEL_ANSWER_LAST,
	ACCEL_ANSWER_NONE, /* leon-accel has disconnected or does not answer. No page follows. */
};
/* `conn` has n connections. Not called from within accel_reports_request(). */
typedef void (*accel_answer_fn)(void *arg, enum accel_answer answer, const struct accel_conn *conn,
				unsigned n);
/* Starts a query. Returns false if leon-accel is not connected, or if there are too many
 * queries. */
bool accel_reports_request(struct leond *d, accel_answer_fn fn, void *arg);
/* Requests the release of all connections. Returns false if leon-accel is not connected. */
bool accel_reports_release(struct leond *d);
