// SPDX-License-Identifier: GPL-2.0-or-later
/* Cells of show.def. Pure except for the rotating buffers of text.h. */
#include "show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "text/text.h"

const char *cell_node(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "name");
}

const char *cell_node_notes(struct jsonr_node *n, const char *key attr_unused)
{
	const char *left = text_age(n, "session_ends_seconds");
	const struct {
		bool holds;
		const char *text;
	} notes[] = {
		{ value_bool(n, "transit_disabled"), "no transit" },
		{ value_u64(n, "data_loss_permille") > 0, "loses data" },
		{ strcmp(text_str(n, "lan"), "blocked") == 0, "LAN blocked" },
		{ strcmp(text_str(n, "lan"), "down") == 0, "LAN down" },
		{ strcmp(text_str(n, "encryption"), "none") == 0, "not encrypted" },
		{ strcmp(text_str(n, "protected"), "ipsec") == 0, "ipsec" },
		{ strcmp(text_str(n, "secret"), "other") == 0,
		  strcmp(left, UNKNOWN) == 0
			  ? "other secret"
			  : text_format("other secret, session ends in %s", left) },
		{ jsonr_object(n, "duplicate") != NULL, "node-id used twice" },
	};
	char *out = text_buffer();

	out[0] = '\0';
	for (size_t i = 0; i < array_size(notes); i++)
		if (notes[i].holds)
			text_add(out, TEXT_MAX, ", ", notes[i].text);
	return out;
}

const char *cell_node_endpoint(struct jsonr_node *n, const char *key)
{
	return text_format("%s%s%s", text_str(n, key),
			   strcmp(text_str(n, "transport"), "tls") == 0 ? " (TLS)" : "",
			   value_bool(n, "behind_nat") ? " (NAT)" : "");
}

const char *cell_peer_node(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "node_name");
}

const char *cell_transport(struct jsonr_node *n, const char *key)
{
	const char *in_use = text_str(n, key), *tls = text_optional(n, "tls_state");

	if (!*tls || strcmp(in_use, "tls") == 0)
		return in_use;
	if (strcmp(tls, "connected") == 0)
		return text_format("%s, backup tls", in_use);
	return text_format("%s, tls %s", in_use, tls);
}

const char *cell_why_not(struct jsonr_node *n, const char *key)
{
	return text_optional(n, jsonr_has(n, key) ? key : "reason");
}

const char *cell_expires(struct jsonr_node *n, const char *key)
{
	return jsonr_is_str(n, key) ? text_str(n, key) : "never";
}

const char *cell_exported(struct jsonr_node *n, const char *key)
{
	struct jsonr_node *list = jsonr_array(n, key);
	const char *first = "";

	jsonr_str_at(list, 0, &first);
	if (jsonr_len(list) < 2)
		return first;
	return text_format("%s +%zu", first, jsonr_len(list) - 1);
}

const char *cell_fdb_notes(struct jsonr_node *n, const char *key attr_unused)
{
	bool local = value_bool(n, "local"), frozen = value_bool(n, "frozen");

	if (local)
		return frozen ? "local, frozen" : "local";
	return frozen ? "frozen" : "";
}

const char *cell_listeners(struct jsonr_node *n, const char *key)
{
	struct jsonr_node *list = jsonr_array(n, key), *node;
	static char text[512];

	snprintf(text, sizeof(text), "%s", value_bool(n, "here") ? "here" : "");
	for (size_t i = 0; (node = jsonr_at(list, i)); i++) {
		text_add(text, sizeof(text), ", ",
			 text_str(node, jsonr_has(node, "name") ? "name" : "node_id"));
	}
	return text;
}

const char *cell_receives(struct jsonr_node *n, const char *key)
{
	uint64_t lists = value_u64(n, key);

	if (!value_bool(n, "snooping"))
		return "all groups (no snooping)";
	if (!lists)
		return "all groups";
	return text_format("%s in %s and %s, all in others",
			   text_count(value_u64(n, "groups"), "group"), text_count(lists, "VLAN"),
			   lists == 1 ? "family" : "families");
}

const char *cell_why(struct jsonr_node *n, const char *key)
{
	static const struct {
		const char *reason, *text;
	} known[] = {
		{ "preference", "highest preference" },
		{ "rank", "hash rank of this VLAN" },
		{ "holding", "previous forwarder is still active" },
		{ "no-path", "this node reaches no other site" },
		{ "stall", "this node stalled" },
		{ "silence", "no other node is ready" },
	};
	const char *reason = text_str(n, key);

	for (size_t i = 0; i < array_size(known); i++)
		if (strcmp(reason, known[i].reason) == 0)
			return known[i].text;
	return reason;
}

const char *cell_segment(struct jsonr_node *n, const char *key)
{
	if (!jsonr_has(n, "name"))
		return text_number(n, key);
	return text_format("%s (%s)", text_number(n, key), text_str(n, "name"));
}

const char *cell_forwarder(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "forwarder_name");
}

const char *cell_ranges(struct jsonr_node *n, const char *key)
{
	struct jsonr_node *list = jsonr_array(n, key), *r;
	static char text[2048];

	if (!jsonr_len(list))
		return jsonr_has(n, key) && list ? "none" : "all";
	text[0] = '\0';
	for (size_t i = 0; (r = jsonr_at(list, i)); i++) {
		uint64_t first = value_u64(r, "first"), last = value_u64(r, "last");

		text_add(text, sizeof(text), ", ",
			 last > first ? text_format("%" PRIu64 "-%" PRIu64, first, last)
				      : text_number(r, "first"));
	}
	return text;
}

const char *cell_percent(struct jsonr_node *n, const char *key)
{
	return text_format("%s %%", text_number(n, key));
}

const char *cell_ratio(struct jsonr_node *n, const char *key)
{
	uint64_t v = value_u64(n, key);

	return v ? text_format("%" PRIu64 ".%" PRIu64 ":1", v / 1000, v % 1000 / 100) : UNKNOWN;
}

const char *cell_seconds(struct jsonr_node *n, const char *key)
{
	return text_thousandths(n, key, "s");
}

const char *cell_joules(struct jsonr_node *n, const char *key)
{
	return text_thousandths(n, key, "J");
}

const char *cell_watts(struct jsonr_node *n, const char *key)
{
	return text_thousandths(n, key, "W");
}

const char *cell_reached(struct jsonr_node *n, const char *key)
{
	return value_bool(n, key) ? "reached" : UNKNOWN;
}

const char *cell_tagged(struct jsonr_node *n, const char *key)
{
	return value_u64(n, key) ? text_number(n, key) : "";
}

const char *cell_cost_or_down(struct jsonr_node *n, const char *key)
{
	return jsonr_has(n, key) ? text_us(n, key) : "down";
}

const char *cell_both_ends(struct jsonr_node *n, const char *key)
{
	return text_format("%s > %s", text_str(n, key), text_str(n, "to_name"));
}

const char *cell_figure(struct jsonr_node *n, const char *key)
{
	const char *unit = text_optional(n, "unit");

	if (strcmp(unit, "us") == 0)
		return text_us(n, key);
	if (strcmp(unit, "bytes") == 0)
		return text_bytes(n, key);
	return jsonr_has(n, "unit") ? text_format("%s %s", text_number(n, key), unit) : "";
}

const char *cell_verdict(struct jsonr_node *n, const char *key)
{
	return value_bool(n, key) ? "passes" : "fails";
}

const char *cell_failure(struct jsonr_node *n, const char *key)
{
	return value_bool(n, "passed") ? "" : text_str(n, key);
}

const char *cell_rtt_or_error(struct jsonr_node *n, const char *key)
{
	return jsonr_has(n, key) ? text_us(n, key) : text_str(n, "error");
}
