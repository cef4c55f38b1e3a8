// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cells of show.def, see cells.h. Pure except for the rotating buffers of value.h.
 */
#include "show/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "text/value.h"

const char *cell_node(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "name");
}

const char *cell_node_notes(struct jsonr_node *n, const char *key attr_unused)
{
	const char *left = text_age(n, "session_ends_seconds");
	char ends[64], *out = text_buffer();
	size_t at = 0;
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
		{ strcmp(text_str(n, "secret"), "other") == 0, ends },
		{ jsonr_object(n, "duplicate") != NULL, "node-id used twice" },
	};

	if (strcmp(left, UNKNOWN) == 0)
		snprintf(ends, sizeof(ends), "other secret");
	else
		snprintf(ends, sizeof(ends), "other secret, session ends in %s", left);
	out[0] = '\0';
	for (size_t i = 0; i < array_size(notes) && at < TEXT_MAX; i++)
		if (notes[i].holds)
			at += (size_t)snprintf(out + at, TEXT_MAX - at, "%s%s", at ? ", " : "",
					       notes[i].text);
	return out;
}

const char *cell_node_endpoint(struct jsonr_node *n, const char *key)
{
	char *out = text_buffer();

	snprintf(out, TEXT_MAX, "%s%s%s", text_str(n, key),
		 strcmp(text_str(n, "transport"), "tls") == 0 ? " (TLS)" : "",
		 value_bool(n, "behind_nat") ? " (NAT)" : "");
	return out;
}

const char *cell_peer_node(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "node_name");
}

const char *cell_transport(struct jsonr_node *n, const char *key)
{
	const char *in_use = text_str(n, key), *tls = text_optional(n, "tls_state");
	char *out = text_buffer();

	if (!*tls || strcmp(in_use, "tls") == 0)
		return in_use;
	if (strcmp(tls, "connected") == 0)
		snprintf(out, TEXT_MAX, "%s, backup tls", in_use);
	else
		snprintf(out, TEXT_MAX, "%s, tls %s", in_use, tls);
	return out;
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
	char *out = text_buffer();

	jsonr_str_at(list, 0, &first);
	if (jsonr_len(list) < 2)
		return first;
	snprintf(out, TEXT_MAX, "%s +%zu", first, jsonr_len(list) - 1);
	return out;
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
	struct jsonr_node *list = jsonr_array(n, key);
	static char text[512];
	size_t at = (size_t)snprintf(text, sizeof(text), "%s", value_bool(n, "here") ? "here" : "");

	for (size_t i = 0; i < jsonr_len(list) && at < sizeof(text); i++) {
		struct jsonr_node *node = jsonr_at(list, i);
		const char *name = text_str(node, jsonr_has(node, "name") ? "name" : "node_id");

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ", " : "", name);
	}
	return text;
}

const char *cell_receives(struct jsonr_node *n, const char *key)
{
	char *out = text_buffer();
	uint64_t lists = value_u64(n, key);

	if (!value_bool(n, "snooping"))
		return "all groups (no snooping)";
	if (!lists)
		return "all groups";
	snprintf(out, TEXT_MAX, "%s in %s and %s, all in others",
		 text_count(value_u64(n, "groups"), "group"), text_count(lists, "VLAN"),
		 lists == 1 ? "family" : "families");
	return out;
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
	char *out = text_buffer();

	if (!jsonr_has(n, "name"))
		return text_number(n, key);
	snprintf(out, TEXT_MAX, "%s (%s)", text_number(n, key), text_str(n, "name"));
	return out;
}

const char *cell_forwarder(struct jsonr_node *n, const char *key)
{
	return text_node(n, key, "forwarder_name");
}

const char *cell_ranges(struct jsonr_node *n, const char *key)
{
	struct jsonr_node *list = jsonr_array(n, key);
	static char text[2048];
	size_t at = 0;

	snprintf(text, sizeof(text), "%s", jsonr_has(n, key) && list ? "none" : "all");
	for (size_t i = 0; i < jsonr_len(list) && at < sizeof(text); i++) {
		struct jsonr_node *r = jsonr_at(list, i);
		unsigned long long first = value_u64(r, "first"), last = value_u64(r, "last");

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%llu", at ? ", " : "",
				       first);
		if (last > first && at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "-%llu", last);
	}
	return text;
}

const char *cell_percent(struct jsonr_node *n, const char *key)
{
	char *out = text_buffer();

	snprintf(out, TEXT_MAX, "%s %%", text_number(n, key));
	return out;
}

const char *cell_ratio(struct jsonr_node *n, const char *key)
{
	uint64_t permille = value_u64(n, key);
	char *out = text_buffer();

	if (!permille)
		return UNKNOWN;
	snprintf(out, TEXT_MAX, "%" PRIu64 ".%" PRIu64 ":1", permille / 1000,
		 permille % 1000 / 100);
	return out;
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
	char *out = text_buffer();

	snprintf(out, TEXT_MAX, "%s > %s", text_str(n, key), text_str(n, "to_name"));
	return out;
}

const char *cell_figure(struct jsonr_node *n, const char *key)
{
	const char *unit = text_optional(n, "unit");
	char *out = text_buffer();

	if (strcmp(unit, "us") == 0)
		return text_us(n, key);
	if (strcmp(unit, "bytes") == 0)
		return text_bytes(n, key);
	snprintf(out, TEXT_MAX, "%s %s", text_number(n, key), unit);
	return jsonr_has(n, "unit") ? out : "";
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
