// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show policy`: the classes of critical frames, the counters of copies and parities, and the two
 * paths to each node.
 */
#include <string.h>

#include "render/render.h"
#include "show/show.h"
#include "text/text.h"

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
	struct jsonr_node *n;

	for (size_t i = 0; (n = jsonr_at(list, i)); i++) {
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
	show_text("longer path     by at most {us maximum_extra_delay_us}\n", root, out);
	if (by_loss || by_jitter)
		fprintf(out, "condition       the path in use has %s%s%s%s%s\n",
			by_loss ? loss : "", by_loss ? " loss" : "",
			by_loss && by_jitter ? " or " : "", by_jitter ? jitter : "",
			by_jitter ? " jitter" : "");
}

/* --- counters --- */

static const char copies[] =
	"sent            {number frames} frames ({bytes bytes}): {number duplicated} duplicated, "
	"{number once_over_budget} single above the budget, {number once_without_second_path} single "
	"without a second path\n"
	"second copies   {bytes extra_bytes}, {number extra_kbits_mean} kbit/s on average\n";
static const char parities[] =
	"sent            {number frames} frames ({bytes bytes}): {number with_parity} with parity, "
	"{number once_over_budget} of these above the budget, {number once_without_second_path} "
	"single\n"
	"parities        {number parities}, {bytes extra_bytes} with headers, "
	"{number extra_kbits_mean} kbit/s on average\n";

static void print_received(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *received = jsonr_object(root, "received");

	if (value_u64(received, "parities"))
		show_text("received        {number parities} parities: {number recovered} frames "
			  "recovered, {number unrecoverable} unrecoverable\n",
			  received, out);
	if (value_u64(received, "first") || !value_u64(received, "parities"))
		show_text(
			"received        {number first} duplicated frames: {number second_dropped} "
			"second copies dropped, {number lost_one} with one copy lost, "
			"{number late} too late\n",
			received, out);
	show_text("counted since   {seconds counted_seconds} ago\n", root, out);
}

void render_policy(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *received = jsonr_object(root, "received");

	if (!value_bool(root, "duplicate") && !value_bool(root, "parity")) {
		fputs("Critical frames have no treatment: neither policy critical duplicate nor "
		      "parity is configured.\n",
		      out);
		/* Other nodes may send copies or parities to this node without a policy here. */
		if (value_u64(received, "first") || value_u64(received, "parities"))
			print_received(out, root);
		return;
	}
	print_class(out, root);
	print_terms(out, root);
	show_text(value_bool(root, "parity") ? parities : copies, jsonr_object(root, "sent"), out);
	print_received(out, root);
	fputc('\n', out);
	show_table("show policy", "pairs", root, out);
}
