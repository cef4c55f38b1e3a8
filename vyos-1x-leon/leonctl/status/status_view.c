// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Findings of `leonctl status` as text and as JSON.
 */
#include "base/json/jsonw.h"

#include <string.h>
#include "show/show.h"
#include "status/status.h"

/* --- the list of findings --- */

bool status_is(struct jsonr_node *n, const char *key, const char *word)
{
	return strcmp(text_str(n, key), word) == 0;
}

void status_add(struct status *s, const char *id, enum status_level level, const char *what,
		const char *why, const char *remedy, const char *command)
{
	struct status_diagnosis *f = s->n < STATUS_MAX ? &s->diagnosis[s->n++] : &s->not_listed;

	s->n_more += f == &s->not_listed;
	s->n_problems += level == STATUS_PROBLEM;
	*f = (struct status_diagnosis){ .id = id, .level = level, .remedy = remedy };
	snprintf(f->what, sizeof(f->what), "%s", what);
	snprintf(f->why, sizeof(f->why), "%s", why);
	snprintf(f->command, sizeof(f->command), "%s", command ? command : "");
}

const char *status_bare(const char *endpoint)
{
	const char *colon = strrchr(endpoint, ':');
	size_t n = colon ? (size_t)(colon - endpoint) : strlen(endpoint);

	if (*endpoint == '[' && n > 1)
		return text_format("%.*s", (int)(n - 2), endpoint + 1);
	return text_format("%.*s", (int)n, endpoint);
}

enum { EXIT_PROBLEMS = 2 };

static void head(const struct status_input *in, const struct status *s, FILE *out)
{
	unsigned notes = s->n + s->n_more - s->n_problems;

	fprintf(out, "%s: ", text_str(in->statistics, "interface"));
	if (s->n_problems)
		fputs(text_count(s->n_problems, "problem"), out);
	else
		fputs("all well", out);
	if (notes)
		fprintf(out, ", %s", text_count(notes, "note"));
	show_text("\n  node   {node node_id}, VNI {number vni}, UDP port {number port}\n"
		  "  leond  {daemon_version}, up {seconds uptime_seconds}\n",
		  in->statistics, out);
	fprintf(out, "  nodes  %u of %u reachable\n", s->nodes_reachable, s->nodes);
	fprintf(out, "  peers  %u of %u reached\n", s->peers_reached, s->peers);
}

static void findings(const struct status *s, enum status_level level, FILE *out)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct status_diagnosis *f = &s->diagnosis[i];

		if (f->level != level)
			continue;
		fprintf(out, "\n%s: %s\n  why: %s\n", level == STATUS_NOTE ? "note" : "problem",
			f->what, f->why);
		if (f->remedy)
			fprintf(out, "  do:  %s\n", f->remedy);
		if (f->command[0])
			fprintf(out, "  run: %s\n", f->command);
	}
}

int status_text(const struct status_input *in, const struct status *s, FILE *out)
{
	head(in, s, out);
	findings(s, STATUS_PROBLEM, out);
	findings(s, STATUS_NOTE, out);
	if (s->n_more)
		fprintf(out, "\n%u further findings are not listed.\n", s->n_more);
	return s->n_problems ? EXIT_PROBLEMS : 0;
}

static void copy_str(struct jsonw *w, struct jsonr_node *from, const char *key)
{
	const char *text = NULL;

	jsonr_str(from, key, &text);
	jsonw_str(w, key, text);
}

static void list(struct jsonw *w, const struct status *s, enum status_level level, const char *key)
{
	jsonw_array(w, key);
	for (unsigned i = 0; i < s->n; i++) {
		const struct status_diagnosis *f = &s->diagnosis[i];

		if (f->level != level)
			continue;
		jsonw_object(w, NULL);
		jsonw_str(w, "id", f->id);
		jsonw_str(w, "what", f->what);
		jsonw_str(w, "why", f->why);
		jsonw_str(w, "remedy", f->remedy);
		jsonw_str(w, "command", f->command[0] ? f->command : NULL);
		jsonw_end(w);
	}
	jsonw_end(w);
}

int status_json(const struct status_input *in, const struct status *s, FILE *out)
{
	struct jsonw *w = jsonw_new();

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	copy_str(w, in->statistics, "interface");
	jsonw_bool(w, "well", s->n_problems == 0);
	copy_str(w, in->statistics, "node_id");
	copy_str(w, in->statistics, "name");
	jsonw_u64(w, "vni", value_u64(in->statistics, "vni"));
	jsonw_u64(w, "port", value_u64(in->statistics, "port"));
	copy_str(w, in->statistics, "daemon_version");
	jsonw_u64(w, "uptime_seconds", value_u64(in->statistics, "uptime_seconds"));
	jsonw_u64(w, "nodes", s->nodes);
	jsonw_u64(w, "nodes_reachable", s->nodes_reachable);
	jsonw_u64(w, "peers", s->peers);
	jsonw_u64(w, "peers_reached", s->peers_reached);
	list(w, s, STATUS_PROBLEM, "problems");
	list(w, s, STATUS_NOTE, "notes");
	jsonw_u64(w, "not_listed", s->n_more);
	jsonw_end(w);
	fprintf(out, "%s\n", jsonw_text(w, NULL));
	jsonw_free(w);
	return s->n_problems ? EXIT_PROBLEMS : 0;
}
