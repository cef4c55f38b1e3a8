// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands that answer with a sentence, and `metrics`, which is text already.
 */
#include "render.h"
#include "value.h"

int render_metrics(struct jsonr_node *root, FILE *out)
{
	fputs(text_str(root, "text"), out);
	return 0;
}

int render_reload(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *warnings = jsonr_array(root, "warnings");
	const char *text;

	fprintf(out, "%s: %s\n", text_str(root, "interface"), text_str(root, "verdict"));
	for (size_t i = 0; i < jsonr_len(warnings) && jsonr_str_at(warnings, i, &text); i++)
		fprintf(out, "warning: %s\n", text);
	/* Nothing was applied then; `systemctl reload` is to fail. */
	return jsonr_len(jsonr_array(root, "restart_keys")) > 0 ? 1 : 0;
}

int render_reset_fdb(struct jsonr_node *root, FILE *out)
{
	fprintf(out, "%s: %s FDB entries removed\n", text_str(root, "interface"),
		text_number(root, "removed"));
	return 0;
}

int render_reset_statistics(struct jsonr_node *root, FILE *out)
{
	fprintf(out, "%s: statistics count from now on\n", text_str(root, "interface"));
	return 0;
}

int render_reset_node(struct jsonr_node *root, FILE *out)
{
	fprintf(out, "%s: %s FDB entries of %s removed, its link is probed\n",
		text_str(root, "interface"), text_number(root, "removed"),
		text_node(root, "node_id", "name"));
	return 0;
}
