// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl capture`, see run.h. The first signal ends the capture, and the records so far are
 * written. capture_file.c aligns the clocks of the nodes, and sorts by time.
 */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/json/jsonw.h"
#include "base/mem.h"
#include "base/text.h"
#include "live/live.h"
#include "text/text.h"

#define READ_MS 200
/* Reads after a signal: time for the last records. */
#define LAST_READS 25

static volatile sig_atomic_t ended;

static void on_end(int signo attr_unused)
{
	ended = 1;
}

/* --- start --- */

static bool add_number(const struct target *t, struct jsonw *w, const char *name)
{
	const char *s;
	char *end;

	if (!target_option(t, name, &s))
		return true;
	if (*s >= '0' && *s <= '9' && strlen(s) < 10) {
		jsonw_u64(w, name, strtoul(s, &end, 10));
		if (!*end)
			return true;
	}
	target_complain(t, "--%s: \"%.40s\" is no number", name, s);
	return false;
}

static char *arguments_of(const struct target *t, const char *filter)
{
	const struct target_given *node = NULL;
	struct jsonw *w = jsonw_new();
	char *out = NULL;
	bool good = true;

	jsonw_object(w, NULL);
	jsonw_str(w, "filter", filter);
	good &= add_number(t, w, "seconds") && add_number(t, w, "bytes") &&
		add_number(t, w, "snap");
	jsonw_array(w, "nodes");
	while ((node = target_next_option(t, "node", node)))
		jsonw_str(w, NULL, node->value);
	jsonw_end(w);
	jsonw_end(w);
	if (good)
		out = x_strdup(jsonw_text(w, NULL));
	jsonw_free(w);
	return out;
}

/* --- answers --- */

static void copy_text(struct jsonr_node *n, const char *key, char *out, size_t len)
{
	snprintf(out, len, "%s", text_optional(n, key));
}

/* Returns 0 or an exit code. */
static int start(struct target *t, const char *filter, struct captured *c)
{
	int code = target_find(t);
	struct jsonr *doc;
	char *arguments;

	if (code >= 0)
		return code;
	arguments = arguments_of(t, filter);
	if (!arguments)
		return EXIT_USAGE;
	code = 0;
	doc = target_ask(t, "capture start", arguments, NULL, &code);
	free(arguments);
	if (!doc)
		return code;
	c->snap = (uint32_t)value_u64(jsonr_root(doc), "snap");
	jsonr_free(doc);
	return 0;
}

/* --- records --- */

/* Returns false if the nodes are not those of this capture. */
static bool take_nodes(struct captured *c, struct jsonr_node *list)
{
	size_t n = jsonr_len(list);

	if (c->node && n != c->n_nodes)
		return false;
	c->node = x_realloc(c->node, n + 1, sizeof(*c->node));
	for (size_t i = 0; i < n; i++) {
		struct captured_node *node = &c->node[i];
		struct jsonr_node *row = jsonr_at(list, i);

		memset(node, 0, sizeof(*node));
		copy_text(row, "node_id", node->id, sizeof(node->id));
		copy_text(row, "name", node->name, sizeof(node->name));
		copy_text(row, "state", node->state, sizeof(node->state));
		copy_text(row, "by", node->by, sizeof(node->by));
		node->frames = value_u64(row, "frames");
		node->lost = value_u64(row, "lost");
		node->aligned = jsonr_has(row, "clock_offset_us");
		node->offset_us = (uint32_t)value_u64(row, "clock_offset_us");
		node->error_us = (uint32_t)value_u64(row, "clock_error_us");
	}
	c->n_nodes = n;
	return true;
}

static size_t node_index(const struct captured *c, const char *id)
{
	size_t i = 0;

	while (i < c->n_nodes && strcmp(c->node[i].id, id) != 0)
		i++;
	return i;
}

static void take_path(struct captured_frame *f, struct jsonr_node *list)
{
	const char *s;

	for (size_t i = 0; i < jsonr_len(list) && f->n_path < CAPTURE_PATH_MAX; i++)
		if (jsonr_str_at(list, i, &s))
			snprintf(f->path[f->n_path++], NODE_ID_STRLEN, "%s", s);
}

static void take_record(struct captured *c, struct jsonr_node *row)
{
	struct captured_frame f = { .clock_us = (uint32_t)value_u64(row, "at_us"),
				    .len = (uint32_t)value_u64(row, "length") };
	char id[NODE_ID_STRLEN];
	const char *hex = "";

	copy_text(row, "node", id, sizeof(id));
	copy_text(row, "place", f.place, sizeof(f.place));
	jsonr_bool(row, "sealed", &f.sealed);
	jsonr_str(row, "frame", &hex);
	take_path(&f, jsonr_array(row, "path"));
	f.node = node_index(c, id);
	f.n = (uint32_t)(strlen(hex) / 2);
	if (f.node == c->n_nodes)
		return;
	f.data = x_calloc(1, f.n + 1u);
	if (hex_parse(hex, f.data, f.n) < 0)
		f.n = 0;
	x_double(c->frame, c->n_frames, c->room);
	c->frame[c->n_frames++] = f;
}

/* Reads the records since the last call. Returns -1 to continue, 0 at the end, or an exit code. */
static int read_records(struct target *t, struct captured *c)
{
	int code = 0;
	struct jsonr *doc = target_ask(t, "capture read", "{}", NULL, &code);
	struct jsonr_node *root = doc ? jsonr_root(doc) : NULL, *list;
	bool over = false, same;

	if (!doc)
		return code;
	c->clock_us = (uint32_t)value_u64(root, "clock_us");
	c->wall_us = (int64_t)value_u64(root, "wall_us");
	same = take_nodes(c, jsonr_array(root, "nodes"));
	list = same ? jsonr_array(root, "records") : NULL;
	for (size_t i = 0; i < jsonr_len(list); i++)
		take_record(c, jsonr_at(list, i));
	jsonr_bool(root, "over", &over);
	if (!same || jsonr_error(doc)) {
		target_complain(t, "invalid answer of leond: %s",
				jsonr_error(doc) ? jsonr_error(doc)
						 : "the nodes are of another capture");
		over = true;
		code = EXIT_NO_ANSWER;
	}
	jsonr_free(doc);
	return over ? code : -1;
}

static void set_signals(void)
{
	struct sigaction end = { .sa_handler = on_end };

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
}

static int collect(struct target *t, struct captured *c)
{
	unsigned left = LAST_READS;
	bool stopped = false;
	int code;

	while ((code = read_records(t, c)) < 0 && left) {
		if (ended && !stopped) {
			int unused;

			jsonr_free(target_ask(t, "capture stop", "{}", NULL, &unused));
			stopped = true;
		}
		left -= stopped;
		poll(NULL, 0, READ_MS);
	}
	return max_of(code, 0);
}

/* --- output --- */

/* Returns true if the former content is gone. EINVAL: a pipe or device. */
static bool empty(FILE *f)
{
	return f == stdout || ftruncate(fileno(f), 0) == 0 || errno == EINVAL;
}

static int write_file(const struct target *t, const struct captured *c, const char *path, FILE *f)
{
	if (empty(f)) {
		if (path)
			captured_write(c, f);
		else
			captured_list(c, f);
		/* main() checks the standard output. */
		if (f == stdout || (fflush(f) == 0 && !ferror(f)))
			return 0;
	}
	target_complain(t, "%s: %s", path, strerror(errno));
	return EXIT_REFUSED;
}

/* Opens the file before the capture, so that a wrong path costs no capture. A capture that is
 * refused keeps the content. */
static FILE *open_output(const struct target *t, const char **path)
{
	FILE *f;

	*path = NULL;
	if (!target_option(t, "write", path))
		return stdout;
	if (strcmp(*path, "-") == 0) {
		if (!isatty(STDOUT_FILENO))
			return stdout;
		target_complain(t, "pcapng is not for a terminal: write to a file or a pipe");
		return NULL;
	}
	f = fopen(*path, "ae");
	if (!f)
		target_complain(t, "%s: %s", *path, strerror(errno));
	return f;
}

int capture_run(struct target *t, const char *filter)
{
	struct captured c = { 0 };
	const char *path;
	FILE *f = open_output(t, &path);
	int code, written;

	if (!f)
		return EXIT_USAGE;
	set_signals();
	code = start(t, filter, &c);
	if (!code) {
		code = collect(t, &c);
		captured_align(&c);
		written = write_file(t, &c, path, f);
		code = written ? written : code;
		if (!captured_report(&c, stderr) && !code)
			code = EXIT_REFUSED;
		if (path)
			fprintf(stderr, "%zu records of %zu nodes\n", c.n_frames, c.n_nodes);
	}
	if (f != stdout)
		fclose(f);
	captured_free(&c);
	return code;
}
