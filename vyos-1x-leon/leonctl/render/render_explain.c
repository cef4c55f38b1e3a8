// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `explain path`: reason of the path, costs of the candidates by component, conditions of a change.
 */
#include <stdlib.h>
#include <string.h>

#include "render/render.h"
#include "show/show.h"
#include "text/text.h"

/* True if candidate `to` or an earlier candidate, up to link `upto`, has the same link. */
static bool seen_before(struct jsonr_node *list, size_t to, size_t upto, struct jsonr_node *link)
{
	for (size_t i = 0; i <= to; i++) {
		struct jsonr_node *links = jsonr_array(jsonr_at(list, i), "links");
		size_t n = i == to ? upto : jsonr_len(links);

		for (size_t k = 0; k < n; k++) {
			struct jsonr_node *other = jsonr_at(links, k);

			if (strcmp(text_str(other, "from"), text_str(link, "from")) == 0 &&
			    strcmp(text_str(other, "to"), text_str(link, "to")) == 0)
				return true;
		}
	}
	return false;
}

static void print_beside_load(struct jsonr_node *link, const char *field, const char *verb,
			      const char *what, FILE *out)
{
	if (value_u64(link, field))
		fprintf(out, "%s > %s %s %s %s\n", text_str(link, "from_name"),
			text_str(link, "to_name"), verb, text_us(link, field), what);
}

/* Prints links of this node with self-induced queueing, which is no reason for a change of path.
 * Links with an RTT that also increased are printed too, and may be a reason. */
static void print_loads(struct jsonr_node *list, FILE *out)
{
	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *link = jsonr_at(jsonr_array(jsonr_at(list, i), "links"), 0);

		if (seen_before(list, i, 0, link))
			continue;
		print_beside_load(link, "own_load_us", "took",
				  "more due to own load (self-induced queueing): not counted", out);
		print_beside_load(link, "persistent_us", "is",
				  "longer than minutes ago, in addition to the own load: counted",
				  out);
	}
}

/* Prints each link of the candidates once. */
static void print_links(struct jsonr_node *list, FILE *out)
{
	unsigned n_columns;
	struct table_column *columns = show_columns("explain path", "links", &n_columns);
	struct table *t = table_new(columns, n_columns);

	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *links = jsonr_array(jsonr_at(list, i), "links");

		for (size_t k = 0; k < jsonr_len(links); k++)
			if (!seen_before(list, i, k, jsonr_at(links, k)))
				table_row(t, jsonr_at(links, k), NULL);
	}
	fputs("\nLinks (cost = RTT + variation / 4 + loss cost)\n", out);
	table_print(t, out);
	table_free(t);
	free(columns);
	print_loads(list, out);
}

static void print_change(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *p = jsonr_object(root, "rules");
	uint64_t hold_ms = value_u64(root, "hold_remaining_ms");

	fputs("\nTo change\n", out);
	if (jsonr_has(root, "cost_to_beat_us"))
		show_text("another path must cost at most {us cost_to_beat_us}: better than the "
			  "one in use by {number rules.threshold} % and, unless it is the direct "
			  "path, by {us rules.threshold-minimum}\n",
			  root, out);
	else
		fputs("no path is in use: the first path that works is used at once\n", out);
	if (jsonr_has(root, "requirements"))
		show_text("{requirements}\n", root, out);
	if (hold_ms > 0)
		fprintf(out,
			"voluntary changes wait for another %.1f s (hold-time %.0f s), unless the "
			"path in use costs more than twice the wanted path\n",
			(double)hold_ms / 1000, (double)value_u64(p, "hold-time"));
	fprintf(out, "at most %s, each costs %s; a broken path is replaced at once\n",
		text_count(value_u64(p, "maximum-relays"), "relay"), text_us(p, "relay-cost"));
}

void render_explain(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *list = jsonr_array(root, "candidates");

	show_text("From {source_name} to {node destination}\n"
		  "in use          for {seconds since_seconds} (since {since}), selected by: "
		  "{chosen_by}, ",
		  root, out);
	fprintf(out, "%s\n", text_count(value_u64(root, "changes"), "change"));
	show_text("last decision   {reason}: {reason_text}\n", root, out);
	if (jsonr_len(jsonr_array(root, "avoided_names")))
		show_text(
			"avoided relays  {list avoided_names}: loss of data on paths through these "
			"nodes\n",
			root, out);
	fputs("\nCandidates\n", out);
	show_table("explain path", "candidates", root, out);
	print_links(list, out);
	if (jsonr_len(jsonr_array(root, "excluded_relays")))
		fputs("\nExcluded relays\n", out);
	show_table("explain path", "excluded_relays", root, out);
	print_change(root, out);
}
