// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths of a live node. The rows of the document enter a latency database as received rows enter
 * that of the daemon. The paths in use enter the choices, and each choice then runs once, as in the
 * daemon.
 */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/jsonr.h"
#include "base/json/jsonw.h"
#include "base/mem.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"
#include "state/latency/latdb.h"
#include "state/tables/nodedb.h"

#define NODES_MAX    1024
#define DATABASE_MAX ((size_t)64 << 20) /* output limit of leonctl */
#define ERR_LEN	     512

struct live {
	unsigned n; /* slot 0 is the node that answered */
	struct member member[NODES_MAX];
	bool no_relay[NODES_MAX], unreceived[NODES_MAX];
	struct latdb *lat;
	struct conf *conf[2]; /* current rules, and rules after the change */
	/* Links by [from * n + to], before the conversion to rows. */
	struct lat_entry *link;
	char err[ERR_LEN];
};

static const mono_t now = { 3600 * NS_PER_S };

static bool fail(struct live *l, const char *what, const char *text)
{
	if (!l->err[0])
		snprintf(l->err, sizeof(l->err), "%s%s", what, text);
	return false;
}

/* --- reading --- */

static uint64_t number(struct jsonr_node *n, const char *key)
{
	uint64_t v = 0;

	/* Unknown values are null. */
	if (jsonr_has(n, key))
		jsonr_u64(n, key, 0, UINT64_MAX >> 1, &v);
	return v;
}

static bool yes(struct jsonr_node *n, const char *key)
{
	bool v = false;

	jsonr_bool(n, key, &v);
	return v;
}

static unsigned slot_of_id(const struct live *l, node_id_t id)
{
	unsigned i = 0;

	while (i < l->n && l->member[i].id != id)
		i++;
	return i;
}

static bool read_id(struct jsonr_node *n, const char *key, node_id_t *id)
{
	const char *text = NULL;

	return jsonr_str(n, key, &text) && node_id_parse(text, id) == 0;
}

static bool read_members(struct live *l, struct jsonr_node *root)
{
	struct jsonr_node *nodes = jsonr_array(root, "nodes"), *n;
	node_id_t self = NODE_ID_NONE;

	if (!read_id(root, "source", &self))
		return fail(l,
			    "has no `source`: it must come from `leonctl --json show latency` of "
			    "this release",
			    "");
	l->member[0].id = self;
	l->n = 1;
	for (size_t i = 0; (n = jsonr_at(nodes, i)); i++) {
		const char *name = NULL;
		node_id_t id = NODE_ID_NONE;
		unsigned slot;

		read_id(n, "node_id", &id);
		slot = id == self ? 0 : l->n;
		if (slot == NODES_MAX)
			return fail(l, "names too many nodes", "");
		l->n += slot > 0;
		l->member[slot].id = id;
		if (jsonr_has(n, "name") && jsonr_str(n, "name", &name))
			snprintf(l->member[slot].name, MEMBER_NAME_LEN, "%s", name);
		l->no_relay[slot] = yes(n, "transit_disabled");
		l->unreceived[slot] = yes(n, "unreceived");
	}
	return l->n > 1 || fail(l, "names no other node", "");
}

static void read_rows(struct live *l, struct jsonr_node *root)
{
	struct jsonr_node *rows = jsonr_array(root, "rows");

	l->link = x_calloc((size_t)l->n * l->n, sizeof(*l->link));
	for (size_t i = 0; i < jsonr_len(rows); i++) {
		struct jsonr_node *row = jsonr_at(rows, i), *entries = jsonr_array(row, "entries");
		node_id_t id = NODE_ID_NONE;
		unsigned from = 0, to;

		read_id(row, "origin", &id);
		from = slot_of_id(l, id);
		for (size_t k = 0; from < l->n && k < jsonr_len(entries); k++) {
			struct jsonr_node *e = jsonr_at(entries, k);

			read_id(e, "node", &id);
			to = slot_of_id(l, id);
			if (to == l->n)
				continue;
			l->link[from * l->n + to] = (struct lat_entry){
				.rtt_us = (uint32_t)number(e, "rtt_us"),
				.long_term_us = (uint32_t)number(e, "long_term_rtt_us"),
				.var_us = (uint32_t)number(e, "variation_us"),
				.loss_pm = (uint16_t)number(e, "loss_permille"),
				.mtu = (uint16_t)number(e, "mtu"),
				.up = yes(e, "up"),
				.silent = yes(e, "silent"),
			};
		}
	}
}

static void read_hops(const struct live *l, struct jsonr_node *hops, struct path *p)
{
	p->n_hops = 0;
	for (size_t i = 0; i < jsonr_len(hops) && i < LEON_HOPS_MAX; i++) {
		const char *text = NULL;
		node_id_t id;

		/* A path over a removed node is dropped, and the best path replaces it. */
		if (!jsonr_str_at(hops, i, &text) || node_id_parse(text, &id) != 0 ||
		    slot_of_id(l, id) == l->n) {
			p->n_hops = 0;
			return;
		}
		p->hop[p->n_hops++] = (uint16_t)slot_of_id(l, id);
	}
}

static void read_paths(struct live *l, struct jsonr_node *root)
{
	struct jsonr_node *paths = jsonr_array(root, "paths"), *p;

	for (size_t i = 0; (p = jsonr_at(paths, i)); i++) {
		struct choice *c;
		node_id_t id = NODE_ID_NONE;

		read_id(p, "destination", &id);
		if (slot_of_id(l, id) == l->n)
			continue;
		c = &l->member[slot_of_id(l, id)].choice;
		read_hops(l, jsonr_array(p, "hops"), &c->path);
		c->since = mono_add_ms(now, -(int64_t)number(p, "since_ms"));
	}
}

/* The rules of the document, overridden by the command line. The daemon's parser reads them, so
 * ranges and errors are those of a configuration. */
static bool read_rules(struct live *l, struct jsonr_node *root, const struct options *o)
{
	struct jsonr_node *rules = jsonr_object(root, "rules");
	const char *key;
	uint32_t value;
	size_t at = 0;

	for (unsigned i = 0; i < array_size(l->conf); i++) {
		char err[ERR_LEN] = "", *text = options_conf(o, rules, i, err, sizeof(err));

		l->conf[i] = text ? conf_parse(text, strlen(text), err, sizeof(err)) : NULL;
		free(text);
		if (!l->conf[i])
			return fail(l, err, "");
	}
	while ((key = conf_next_number(l->conf[0], "path", &at, &value)))
		if (!jsonr_has(rules, key))
			jsonr_fail(rules ? rules : root,
				   "lacks the rule %s: the document must come from `leonctl --json "
				   "show latency` of this release",
				   key);
	return true;
}

static bool read_document(struct live *l, const char *text, size_t len, const struct options *o)
{
	struct jsonr *r = jsonr_parse(text, len, DATABASE_MAX);

	if (jsonr_root(r) && read_members(l, jsonr_root(r)) && read_rules(l, jsonr_root(r), o)) {
		read_rows(l, jsonr_root(r));
		read_paths(l, jsonr_root(r));
	}
	if (jsonr_error(r))
		fail(l, "", jsonr_error(r));
	jsonr_free(r);
	return !l->err[0];
}

/* --- the database --- */

static uint16_t by_id(void *arg, node_id_t id)
{
	const struct live *l = arg;
	unsigned slot = slot_of_id(l, id);

	return slot < l->n ? (uint16_t)slot : SLOT_NONE;
}

static void set_row(struct live *l, unsigned from)
{
	struct msg_row m = { .origin = l->member[from].id, .incarnation = 1, .seq = 1 };
	unsigned entries = 0;

	m.parts = (uint16_t)((l->n - 1 + MSG_ROW_MAX - 1) / MSG_ROW_MAX);
	for (unsigned to = 0; to < l->n; to++) {
		const struct lat_entry *e = &l->link[from * l->n + to];

		if (to == from)
			continue;
		if (from == SLOT_SELF) {
			latdb_set(l->lat, (uint16_t)to, e);
			continue;
		}
		m.entry[m.n++] = (struct row_entry){ l->member[to].id, *e };
		if (m.n < MSG_ROW_MAX && ++entries < l->n - 1)
			continue;
		entries += m.n == MSG_ROW_MAX;
		latdb_merge(l->lat, (uint16_t)from, &m, by_id, l);
		m.part++;
		m.n = 0;
	}
}

/* --- changes --- */

static unsigned member_called(const struct live *l, const char *text, size_t len)
{
	char name[MEMBER_NAME_LEN];
	unsigned i = 0;
	node_id_t id;

	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	if (node_id_parse(name, &id) == 0)
		return slot_of_id(l, id);
	while (i < l->n && strcmp(l->member[i].name, name) != 0)
		i++;
	return i;
}

static void unlink_member(struct live *l, unsigned slot)
{
	for (unsigned i = 0; i < l->n; i++) {
		l->link[slot * l->n + i] = (struct lat_entry){ 0 };
		l->link[i * l->n + slot] = (struct lat_entry){ 0 };
	}
}

/* Adds a node with these round-trip times in ms to all nodes, in the order of the document. */
static bool add_member(struct live *l, const char *text)
{
	unsigned n = l->n + 1;
	struct lat_entry *link = x_calloc((size_t)n * n, sizeof(*link));
	const char *at = text;

	for (unsigned a = 0; a < l->n; a++) {
		struct lat_entry e = { .mtu = 1400, .up = true };
		char *end;
		double ms = strtod(at, &end);

		if (end == at || !(ms > 0 && ms <= 60000) || *end != (a + 1 < l->n ? ',' : 0) ||
		    n > NODES_MAX) {
			free(link);
			return fail(l, "expected one time in ms to each node in with:", text);
		}
		at = end + 1;
		e.rtt_us = e.long_term_us = (uint32_t)(ms * 1000);
		link[a * n + l->n] = link[l->n * n + a] = e;
		for (unsigned b = 0; b < l->n; b++)
			link[a * n + b] = l->link[a * l->n + b];
	}
	free(l->link);
	l->link = link;
	l->member[l->n].id = UINT32_MAX - l->n;
	snprintf(l->member[l->n].name, MEMBER_NAME_LEN, "new-%u", l->n);
	l->n = n;
	return true;
}

static bool change(struct live *l, const struct change *c)
{
	const char *colon = strchr(c->text, ':');
	unsigned a, b;

	switch (c->kind) {
	case CHANGE_SET:
		return true; /* conf[1] holds the change */
	case CHANGE_WITH:
		return add_member(l, c->text);
	case CHANGE_WITHOUT:
		a = member_called(l, c->text, strlen(c->text));
		if (a == 0 || a >= l->n)
			return fail(l, "expected the name or node-id of another node in without:",
				    c->text);
		l->member[a].gone = true;
		unlink_member(l, a);
		return true;
	case CHANGE_CUT:
		a = colon ? member_called(l, c->text, (size_t)(colon - c->text)) : l->n;
		b = colon ? member_called(l, colon + 1, strlen(colon + 1)) : l->n;
		if (a >= l->n || b >= l->n || a == b)
			return fail(l, "expected two names or node-ids in cut:", c->text);
		l->link[a * l->n + b].up = false;
		l->link[b * l->n + a].up = false;
		return true;
	}
	return false;
}

/* --- paths --- */

static void run_choices(struct live *l, const struct conf *conf, mono_t at)
{
	struct choice_params cp = choice_params_of(conf);
	struct path_params pp = { .maximum_relays = conf->maximum_relays,
				  .relay_cost_us = conf->relay_cost_us,
				  .no_relay = l->no_relay,
				  .unreceived = l->unreceived };
	struct path *best = x_calloc(l->n, sizeof(*best)),
		    *long_term = x_calloc(l->n, sizeof(*best));

	l->lat = latdb_new();
	for (unsigned from = 0; from < l->n; from++)
		set_row(l, from);
	path_compute(l->lat, &pp, SLOT_SELF, (uint16_t)l->n, best);
	pp.by_long_term = true;
	path_compute(l->lat, &pp, SLOT_SELF, (uint16_t)l->n, long_term);
	pp.by_long_term = false;
	for (unsigned to = 1; to < l->n; to++) {
		struct choice *c = &l->member[to].choice;
		struct path direct = { .n_hops = 1, .hop = { (uint16_t)to } };

		path_evaluate(l->lat, &pp, SLOT_SELF, &direct);
		if (c->path.n_hops)
			path_evaluate(l->lat, &pp, SLOT_SELF, &c->path);
		c->long_term = long_term[to];
		path_evaluate(l->lat, &pp, SLOT_SELF, &c->long_term);
		choice_run(c, &best[to], &direct, &cp, at);
	}
	free(best);
	free(long_term);
	latdb_free(l->lat);
}

/* `table` may be NULL. */
static void answer(struct live *l, const struct conf *conf, mono_t at, struct jsonw *w,
		   const char *key, FILE *table, const char *title)
{
	run_choices(l, conf, at);
	show_paths_json(w, key, l->member, l->n);
	if (table)
		show_paths_table(table, title, l->member, l->n);
}

bool database_answer(const char *text, size_t len, const struct options *o, struct jsonw *w,
		     FILE *table, char *err, unsigned err_len)
{
	struct live *l = x_new(struct live);
	bool ok = read_document(l, text, len, o);

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	if (ok)
		answer(l, l->conf[0], now, w, "paths", table, "paths");
	for (unsigned i = 0; ok && i < o->n_changes; i++)
		ok = change(l, &o->change[i]);
	/* No path waits for a hold-down from before the change. */
	if (ok && o->n_changes)
		answer(l, l->conf[1], mono_add_ms(now, l->conf[1]->hold_time_ms), w, "what_if",
		       table, "\nwith the change");
	jsonw_end(w);
	snprintf(err, err_len, "%s", l->err);
	conf_free(l->conf[0]);
	conf_free(l->conf[1]);
	free(l->link);
	free(l);
	return ok;
}

int database_run(const struct options *o)
{
	size_t len;
	char *text = options_file(o->database, &len), err[ERR_LEN] = "cannot be read";
	char *lines = NULL;
	FILE *table = open_memstream(&lines, &(size_t){ 0 });
	struct jsonw *w = jsonw_new();
	bool ok = text && database_answer(text, len, o, w, table, err, ERR_LEN);

	fclose(table);
	if (ok)
		printf("%s%s", o->json ? jsonw_text(w, NULL) : lines, o->json ? "\n" : "");
	if (!ok)
		fprintf(stderr, "leonsim: %s: %s\n", o->database, err);
	jsonw_free(w);
	free(lines);
	free(text);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
