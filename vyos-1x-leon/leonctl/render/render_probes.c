// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `trace` and `ping`: results of real packets along the path in use.
 */
#include "render/render.h"
#include "show/cells.h"
#include "show/show.h"
#include "text/value.h"

int verdict_trace(struct jsonr_node *root)
{
	return value_bool(root, "complete") ? 0 : 1;
}

int verdict_ping(struct jsonr_node *root)
{
	return value_u64(root, "received") > 0 ? 0 : 1;
}

int render_trace(struct jsonr_node *root, FILE *out)
{
	show_table("trace", "hops", root, out);
	return verdict_trace(root);
}

int render_ping(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *list = jsonr_array(root, "replies");

	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *n = jsonr_at(list, i);

		fprintf(out, "%s: sequence %s, %s\n", text_node(root, "destination", "name"),
			text_number(n, "sequence"), cell_rtt_or_error(n, "rtt_us"));
	}
	show_text("{number sent} sent, {number received} received, {permille loss_permille} loss, "
		  "minimum/average/maximum {us min_us} / {us avg_us} / {us max_us}\n",
		  root, out);
	return verdict_ping(root);
}
