// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `trace` and `ping`: results of real packets along the path in use. `reload`: the verdict and its
 * warnings.
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

/* The daemon applied nothing, so `systemctl reload` must fail. */
int verdict_reload(struct jsonr_node *root)
{
	return jsonr_len(jsonr_array(root, "restart_keys")) > 0 ? 1 : 0;
}

int render_reload(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *warnings = jsonr_array(root, "warnings");
	const char *text;

	fprintf(out, "%s: %s\n", text_str(root, "interface"), text_str(root, "verdict"));
	for (size_t i = 0; i < jsonr_len(warnings) && jsonr_str_at(warnings, i, &text); i++)
		fprintf(out, "warning: %s\n", text);
	return verdict_reload(root);
}
