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
	show_text(value_u64(line, "limit_kbits")
			  ? "shaper automatic: {state}, limit {number limit_kbits} kbit/s, verified "
			    "rate of the access link {number capacity_kbits} kbit/s, queueing delay "
			    "{us queue_us}.\n\n"
			  : "shaper automatic: {state}, no limit.\n\n",
		  line, out);
}

/* Prints the reason why frames queue on this node. */
static void print_rates(struct jsonr_node *root, FILE *out)
{
	bool to_hops = jsonr_len(jsonr_array(root, "next_hops")) > 0;

	if (value_u64(root, "shaper_egress_kbits"))
		show_text("Shaped to {number shaper_egress_kbits} kbit/s.\n\n", root, out);
	if (value_u64(root, "shaper_ingress_kbits"))
		show_text("All senders together may send {number shaper_ingress_kbits} kbit/s to "
			  "this node.\n\n",
			  root, out);
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
