// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See show_paths.h. One thread.
 */
#include "show_paths.h"

static void write_known(struct jsonw *w, const char *key, bool known, uint64_t value)
{
	if (known)
		jsonw_u64(w, key, value);
	else
		jsonw_null(w, key);
}

static void write_path(struct jsonw *w, const struct member *member, unsigned to)
{
	const struct choice *c = &member[to].choice;
	char id[NODE_ID_STRLEN];

	jsonw_object(w, NULL);
	jsonw_str(w, "destination", node_id_format(member[to].id, id, sizeof(id)));
	jsonw_str(w, "name", member[to].name[0] ? member[to].name : NULL);
	jsonw_array(w, "hops");
	for (unsigned i = 0; i < c->path.n_hops; i++)
		jsonw_str(w, NULL, node_id_format(member[c->path.hop[i]].id, id, sizeof(id)));
	jsonw_end(w);
	write_known(w, "latency_us", path_works(&c->path), c->path.rtt_us);
	write_known(w, "direct_latency_us", path_works(&c->direct), c->direct.rtt_us);
	jsonw_str(w, "reason", choice_reason_name(c->reason));
	jsonw_end(w);
}

void show_paths_json(struct jsonw *w, const char *key, const struct member *member, unsigned n)
{
	jsonw_array(w, key);
	for (unsigned to = 1; to < n; to++)
		if (!member[to].gone)
			write_path(w, member, to);
	jsonw_end(w);
}

static const char *call(const struct member *m, char id[NODE_ID_STRLEN])
{
	return m->name[0] ? m->name : node_id_format(m->id, id, NODE_ID_STRLEN);
}

static void print_path(FILE *out, const struct member *member, unsigned to)
{
	const struct choice *c = &member[to].choice;
	char id[NODE_ID_STRLEN];

	fprintf(out, "%-20s", call(&member[to], id));
	if (!path_works(&c->path)) {
		fprintf(out, " no path\n");
		return;
	}
	fprintf(out, " %9.1f ms  direct %9.1f ms  via", c->path.rtt_us / 1000.0,
		c->direct.cost_us == COST_INFINITE ? 0 : c->direct.rtt_us / 1000.0);
	for (unsigned i = 0; i < c->path.n_hops; i++)
		fprintf(out, " %s", call(&member[c->path.hop[i]], id));
	fprintf(out, "\n");
}

void show_paths_table(FILE *out, const char *title, const struct member *member, unsigned n)
{
	fprintf(out, "%s\n", title);
	for (unsigned to = 1; to < n; to++)
		if (!member[to].gone)
			print_path(out, member, to);
}
