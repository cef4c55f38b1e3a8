// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What leon-accel says of its connections (wire/accel_report.h): the last totals and nodes, the
 * events that follow from them, and questions about single connections, which it answers a page at
 * a time. Owned by struct leond; control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "wire/accel_report.h"

struct leond;

void accel_reports_open(struct leond *d);
/* Nobody who asked hears any more. */
void accel_reports_free(struct leond *d);

/* leon-accel has come, and gone; fd: the socket to it, until then. */
void accel_reports_here(struct leond *d, int fd);
void accel_reports_gone(struct leond *d);
/* A message from it. False where it makes no sense. */
bool accel_reports_take(struct leond *d, const void *data, size_t len);

/* leond refused a frame between accelerators: it is not of this node, which sent it. */
void accel_reports_foreign(struct leond *d, node_id_t id);

/* What it said last; NULL where it is not here or said nothing yet. */
const struct accel_totals *accel_reports_totals(const struct leond *d);
/* Of one node; false where there is nothing to say. */
bool accel_reports_node(const struct leond *d, node_id_t id, struct accel_node *out);

enum accel_answer {
	ACCEL_ANSWER_PAGE, /* some; others follow */
	ACCEL_ANSWER_LAST,
	ACCEL_ANSWER_NONE, /* leon-accel went, or is silent; nothing follows */
};
/* conn: n of them. Not called from within accel_reports_ask(). */
typedef void (*accel_answer_fn)(void *arg, enum accel_answer answer, const struct accel_conn *conn,
				unsigned n);
/* False where leon-accel is not here, or too many ask. */
bool accel_reports_ask(struct leond *d, accel_answer_fn fn, void *arg);
/* All connections are to be given back; false where it is not here. */
bool accel_reports_return(struct leond *d);
