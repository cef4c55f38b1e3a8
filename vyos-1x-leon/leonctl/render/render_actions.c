// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands with a sentence or finished text (`metrics`) as answer.
 */
#include "render/render.h"
#include "text/value.h"

int render_metrics(struct jsonr_node *root, FILE *out)
{
	fputs(text_str(root, "text"), out);
	return 0;
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

int render_reset_acceleration(struct jsonr_node *root, FILE *out)
{
	fprintf(out, "%s: %s TCP connections are released to their hosts\n",
		text_str(root, "interface"), text_number(root, "connections"));
	return 0;
}

int render_reset_fdb(struct jsonr_node *root, FILE *out)
{
	fprintf(out, "%s: %s FDB entries removed\n", text_str(root, "interface"),
		text_number(root, "removed"));
	return 0;
}

int render_reset_statistics(struct jsonr_node *root, FILE *out)
{
	fprintf(out, "%s: all statistics set to zero\n", text_str(root, "interface"));
	return 0;
}

int render_reset_node(struct jsonr_node *root, FILE *out)
{
	fprintf(out, "%s: %s FDB entries of %s removed, link probe started\n",
		text_str(root, "interface"), text_number(root, "removed"),
		text_node(root, "node_id", "name"));
	return 0;
}
