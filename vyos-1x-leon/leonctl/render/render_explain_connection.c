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

static void print_connection(struct jsonr_node *n, FILE *out)
{
	show_text("host here       {near}\n"
		  "far host        {far}, behind node {node}\n",
		  n, out);
	if (value_u64(n, "vlan"))
		show_text("vlan            {number vlan}\n", n, out);
	show_text("state           {state}\n", n, out);
	if (jsonr_has(n, "reason"))
		show_text("reason          {reason}: {reason_text}\n", n, out);
	else if (strcmp(text_str(n, "state"), "plain") == 0)
		fputs("reason          no check fails: its next frame begins an attempt\n", out);
	else
		fputs("reason          only a plain connection is checked\n", out);
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
		show_text("leon-accel follows no connection between {first} and {second}; TCP with "
			  "a near node goes past it.\n",
			  root, out);
	return 0;
}
