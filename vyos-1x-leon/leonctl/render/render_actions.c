// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `reload`: the verdict and its warnings.
 */
#include "render/render.h"
#include "text/value.h"

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
