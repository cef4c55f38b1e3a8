// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `explain connection` as text: the checks of leon-accel, in order, with their figures. leonctl
 * only.
 */
#include <stdio.h>
#include <string.h>

#include "render/render.h"
#include "show/show.h"
#include "text/value.h"

static void print_reason(struct jsonr_node *n, FILE *out)
{
	if (jsonr_has(n, "reason"))
		fprintf(out, "reason          %s: %s\n", text_str(n, "reason"),
			text_str(n, "reason_text"));
	else if (strcmp(text_str(n, "state"), "plain") == 0)
		fputs("reason          no check fails: its next frame begins an attempt\n", out);
	else
		fputs("reason          only a plain connection is checked\n", out);
}

static void print_connection(struct jsonr_node *n, FILE *out)
{
	fprintf(out, "host here       %s\n", text_str(n, "near"));
	fprintf(out, "far host        %s, behind node %s\n", text_str(n, "far"),
		text_str(n, "node"));
	if (value_u64(n, "vlan"))
		fprintf(out, "vlan            %s\n", text_number(n, "vlan"));
	fprintf(out, "state           %s\n", text_str(n, "state"));
	print_reason(n, out);
	show_below("explain connection", "checks", n, out);
}

int render_explain_connection(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *answer = jsonr_object(root, "accelerator");
	struct jsonr_node *list = jsonr_array(answer, "connections");

	for (size_t i = 0; i < jsonr_len(list); i++) {
		if (i)
			fputc('\n', out);
		print_connection(jsonr_at(list, i), out);
	}
	if (!jsonr_len(list))
		fprintf(out,
			"leon-accel follows no connection between %s and %s; TCP with a near node "
			"goes past it.\n",
			text_str(root, "first"), text_str(root, "second"));
	return 0;
}
