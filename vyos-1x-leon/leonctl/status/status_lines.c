// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules of `leonctl status` for the lines of this node: a lost line, and a line without answers.
 * Pure.
 */
#include <string.h>

#include "status/status.h"

/* Single lost PINGs are no silence. */
#define SILENT_SECONDS 10

static void lost(struct status *s, struct jsonr_node *line)
{
	const char *interface = text_optional(line, "line_interface");

	status_add(s, "line-lost", STATUS_NOTE,
		   text_format("line %s cannot be used", text_str(line, "name")),
		   text_format("%s; the other line carries the data", text_str(line, "reason")),
		   "restore the interface or address of the line, or correct `line`",
		   text_format("ip address show%s%s", *interface ? " dev " : "", interface));
}

static bool is_silent(struct jsonr_node *pair)
{
	return (status_is(pair, "state", "silent") || status_is(pair, "state", "no-answer")) &&
	       (strcmp(text_number(pair, "answered_seconds"), UNKNOWN) == 0 ||
		value_u64(pair, "answered_seconds") > SILENT_SECONDS);
}

/* Returns a pair of the line if all pairs of the line are silent, else NULL. */
static struct jsonr_node *silent_pair(struct jsonr_node *pairs, const char *line)
{
	struct jsonr_node *found = NULL;

	for (size_t i = 0; i < jsonr_len(pairs); i++) {
		struct jsonr_node *pair = jsonr_at(pairs, i);

		if (!pair || !status_is(pair, "line", line))
			continue;
		if (!is_silent(pair))
			return NULL;
		found = pair;
	}
	return found;
}

static void silent(struct status *s, struct jsonr_node *line, struct jsonr_node *pair)
{
	const char *source = text_optional(line, "line_interface");

	if (!*source)
		source = text_optional(line, "address");
	status_add(
		s, "line-silent", STATUS_NOTE,
		text_format("no node answers over line %s", text_str(line, "name")),
		"the line failed, has no default route, or a firewall drops UDP on it; the other "
		"line carries the data",
		"check the line and its default route",
		text_format("ping -c 3 -I %s %s", source, status_bare(text_str(pair, "endpoint"))));
}

void status_find_lines(const struct status_input *in, struct status *s)
{
	struct jsonr_node *list = jsonr_array(in->lines, "lines"), *pair;
	bool started = value_u64(in->statistics, "uptime_seconds") > SILENT_SECONDS;

	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *line = jsonr_at(list, i);

		if (!line)
			continue;
		pair = silent_pair(jsonr_array(in->lines, "pairs"), text_str(line, "name"));
		if (status_is(line, "state", "lost"))
			lost(s, line);
		else if (pair && started)
			silent(s, line, pair);
	}
}
