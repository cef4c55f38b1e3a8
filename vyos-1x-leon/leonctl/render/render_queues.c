// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show queues`: a table of the backlog between the TAP and the overlay. leonctl only.
 */
#include <stdio.h>

#include "render/render.h"
#include "show/show.h"
#include "text/value.h"

/* Prints the result of `shaper automatic`. */
static void print_bottleneck(struct jsonr_node *line, FILE *out)
{
	if (!value_bool(line, "automatic"))
		return;
	if (!value_u64(line, "limit_kbits")) {
		fprintf(out, "shaper automatic: %s, no limit.\n\n", text_str(line, "state"));
		return;
	}
	fprintf(out,
		"shaper automatic: %s, limit %s kbit/s, verified rate of the access link %s "
		"kbit/s, queueing delay %s.\n\n",
		text_str(line, "state"), text_number(line, "limit_kbits"),
		text_number(line, "capacity_kbits"), text_us(line, "queue_us"));
}

/* Prints the reason why frames queue on this node. */
static void print_rates(struct jsonr_node *root, FILE *out)
{
	bool to_hops = jsonr_len(jsonr_array(root, "next_hops")) > 0;

	if (value_u64(root, "shaper_egress_kbits"))
		fprintf(out, "Shaped to %s kbit/s.\n\n", text_number(root, "shaper_egress_kbits"));
	if (value_u64(root, "shaper_ingress_kbits"))
		fprintf(out, "All senders together may send %s kbit/s to this node.\n\n",
			text_number(root, "shaper_ingress_kbits"));
	if (to_hops)
		fputs("Traffic to each next hop is limited to its rate.\n\n", out);
	if (!to_hops && !value_u64(jsonr_object(root, "bottleneck"), "limit_kbits"))
		fputs("Frames from the local segment queue here only while bulk flows have a backlog.\n\n",
		      out);
}

int render_queues(struct jsonr_node *root, FILE *out)
{
	print_bottleneck(jsonr_object(root, "bottleneck"), out);
	print_rates(root, out);
	show_answer("show queues", root, out);
	return 0;
}
