// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show policy`: the classes of critical frames, the counters of copies and parities, and the two
 * paths to each node.
 */
#include <string.h>

#include "render/render.h"
#include "show/show.h"
#include "text/value.h"

/* --- classes of frames --- */

/* Prints "DSCP ef, cs5; " if the list has entries. */
static void print_list(FILE *out, const char *what, struct jsonr_node *list, const char **between)
{
	const char *s;

	if (!jsonr_len(list))
		return;
	fprintf(out, "%s%s", *between, what);
	for (size_t i = 0; i < jsonr_len(list) && jsonr_str_at(list, i, &s); i++)
		fprintf(out, "%s%s", i ? ", " : " ", s);
	*between = "; ";
}

static void print_services(FILE *out, struct jsonr_node *list, const char **between)
{
	for (size_t i = 0; i < jsonr_len(list); i++) {
		struct jsonr_node *n = jsonr_at(list, i);
		const char *port = text_number(n, "port");
		bool any = strcmp(port, UNKNOWN) == 0;

		fprintf(out, "%s%s%s%s", *between, text_str(n, "protocol"), any ? "" : " port ",
			any ? "" : port);
		*between = "; ";
	}
}

static void print_class(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *class = jsonr_object(root, "critical");
	const char *between = "";

	fputs("critical        ", out);
	print_list(out, "DSCP", jsonr_array(class, "dscp"), &between);
	print_list(out, "VLAN", jsonr_array(class, "vlan"), &between);
	print_list(out, "MAC", jsonr_array(class, "mac"), &between);
	print_list(out, "EtherType", jsonr_array(class, "ethertype"), &between);
	print_services(out, jsonr_array(class, "services"), &between);
	fputs(*between ? "\n" : "no frames\n", out);
}

static void print_terms(FILE *out, struct jsonr_node *root)
{
	const char *loss = text_permille(root, "loss_permille");
	const char *jitter = text_us(root, "jitter_us");
	bool by_loss = strcmp(loss, UNKNOWN) != 0, by_jitter = strcmp(jitter, UNKNOWN) != 0;

	fprintf(out, "budget          %s kbit/s of %s, %s %% of its reserve in use\n",
		text_number(root, "budget_kbits"),
		value_bool(root, "parity") ? "parities" : "second copies",
		text_number(root, "budget_used_percent"));
	fprintf(out, "longer path     by at most %s\n", text_us(root, "maximum_extra_delay_us"));
	if (by_loss || by_jitter)
		fprintf(out, "condition       the path in use has %s%s%s%s%s\n",
			by_loss ? loss : "", by_loss ? " loss" : "",
			by_loss && by_jitter ? " or " : "", by_jitter ? jitter : "",
			by_jitter ? " jitter" : "");
}

/* --- counters --- */

static void print_sent(FILE *out, struct jsonr_node *sent)
{
	fprintf(out,
		"sent            %s frames (%s): %s duplicated, %s single above the budget, %s "
		"single without a second path\n",
		text_number(sent, "frames"), text_bytes(sent, "bytes"),
		text_number(sent, "duplicated"), text_number(sent, "once_over_budget"),
		text_number(sent, "once_without_second_path"));
	fprintf(out, "second copies   %s, %s kbit/s on average\n", text_bytes(sent, "extra_bytes"),
		text_number(sent, "extra_kbits_mean"));
}

static void print_sent_parity(FILE *out, struct jsonr_node *sent)
{
	fprintf(out,
		"sent            %s frames (%s): %s with parity, %s of these above the budget, %s "
		"single\n",
		text_number(sent, "frames"), text_bytes(sent, "bytes"),
		text_number(sent, "with_parity"), text_number(sent, "once_over_budget"),
		text_number(sent, "once_without_second_path"));
	fprintf(out, "parities        %s, %s with headers, %s kbit/s on average\n",
		text_number(sent, "parities"), text_bytes(sent, "extra_bytes"),
		text_number(sent, "extra_kbits_mean"));
}

static void print_received_parity(FILE *out, struct jsonr_node *received)
{
	fprintf(out, "received        %s parities: %s frames recovered, %s unrecoverable\n",
		text_number(received, "parities"), text_number(received, "recovered"),
		text_number(received, "unrecoverable"));
}

static void print_received(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *received = jsonr_object(root, "received");

	if (value_u64(received, "parities"))
		print_received_parity(out, received);
	if (value_u64(received, "first") || !value_u64(received, "parities"))
		fprintf(out,
			"received        %s duplicated frames: %s second copies dropped, %s with one copy "
			"lost, %s too late\n",
			text_number(received, "first"), text_number(received, "second_dropped"),
			text_number(received, "lost_one"), text_number(received, "late"));
	fprintf(out, "counted since   %s ago\n", text_age(root, "counted_seconds"));
}

int render_policy(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *received = jsonr_object(root, "received");

	if (!value_bool(root, "duplicate") && !value_bool(root, "parity")) {
		fputs("Critical frames have no treatment: neither policy critical duplicate nor "
		      "parity is configured.\n",
		      out);
		/* Other nodes may send copies or parities to this node without a policy here. */
		if (value_u64(received, "first") || value_u64(received, "parities"))
			print_received(out, root);
		return 0;
	}
	print_class(out, root);
	print_terms(out, root);
	if (value_bool(root, "parity"))
		print_sent_parity(out, jsonr_object(root, "sent"));
	else
		print_sent(out, jsonr_object(root, "sent"));
	print_received(out, root);
	fputc('\n', out);
	show_table("show policy", "pairs", root, out);
	return 0;
}
