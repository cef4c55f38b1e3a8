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
	fprintf(out, "%s sent, %s received, %s loss, minimum/average/maximum %s / %s / %s\n",
		text_number(root, "sent"), text_number(root, "received"),
		text_permille(root, "loss_permille"), text_us(root, "min_us"),
		text_us(root, "avg_us"), text_us(root, "max_us"));
	return verdict_ping(root);
}
