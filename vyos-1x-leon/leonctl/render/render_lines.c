// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show lines`: the lines of this node, then the pairs of lines to other nodes. leonctl only.
 */
#include "base/defs.h"
#include "render/render.h"
#include "text/table.h"
#include "text/value.h"

static const char *text_pair_node(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "name");
}

static const struct table_column lines[] = {
	LEFT("LINE", "name", text_str),		 LEFT("NUMBER", "number", text_number),
	LEFT("ADDRESS", "address", text_str),	 LEFT("INTERFACE", "line_interface", text_str),
	LEFT("STATE", "state", text_str),	 RIGHT("LINKS", "links", text_number),
	LEFT("REASON", "reason", text_optional),
};

static const struct table_column pairs[] = {
	LEFT("NODE", "node_id", text_pair_node),
	LEFT("LINE", "line", text_str),
	LEFT("PEER LINE", "peer_line", text_number),
	LEFT("ADDRESS", "endpoint", text_str),
	LEFT("STATE", "state", text_str),
	RIGHT("RTT", "rtt_us", text_us),
	RIGHT("VARIATION", "variation_us", text_us),
	RIGHT("LOSS", "loss_permille", text_permille),
	RIGHT("RATE kbit/s", "rate_kbits", text_number),
	RIGHT("IN USE", "in_use_seconds", text_age),
};

int render_lines(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *of_peers = jsonr_array(root, "pairs");

	table_show(out, lines, array_size(lines), jsonr_array(root, "lines"), NULL,
		   "this node has one line");
	if (!jsonr_len(of_peers))
		return 0;
	fputc('\n', out);
	table_show(out, pairs, array_size(pairs), of_peers, NULL, NULL);
	return 0;
}
