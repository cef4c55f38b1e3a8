// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules of `leonctl status` for events. An event with an opposite is a finding until the opposite
 * comes. Other events are findings for ten minutes. Pure.
 */
#include <string.h>

#include "base/defs.h"
#include "status/status.h"

#define RECENT_SECONDS 600

struct rule {
	const char *event, *over; /* over: the opposite event; NULL: the event expires */
	enum status_level level;
	const char *why, *remedy, *command;
};

static const struct rule rules[] = {
	{ "source-lost", "source-restored", STATUS_PROBLEM,
	  "the address was removed from this host",
	  "add the address again, or correct `source-address`", "ip address show" },
	{ "data-loss", "data-loss-over", STATUS_PROBLEM,
	  "probes pass and data does not: a firewall, a policer or an MTU drops data",
	  "check the firewalls and the MTU of the link", "leonctl show nodes" },
	{ "local-loop", "local-loop-over", STATUS_PROBLEM, "the LAN of this node has a loop",
	  "enable spanning tree, or remove a cable", "leonctl show segments" },
	{ "critical-single-path", "critical-duplicated", STATUS_NOTE,
	  "`policy critical` needs two disjoint paths", NULL, "leonctl show policy" },
	{ "accelerator-lost", "accelerator-reached", STATUS_NOTE,
	  "leon-accel of the node ended, or the path to it failed", NULL,
	  "leonctl show acceleration" },
	{ "stranger", NULL, STATUS_NOTE,
	  "a node with this address has another secret, VNI or release, or the address is forged",
	  "correct the configuration of the node if the address is one of yours; a scan needs "
	  "nothing",
	  "leonctl show events" },
	{ "identity-not-trusted", NULL, STATUS_NOTE,
	  "the node has the secret, and its identity is not in `authentication trusted-identity`",
	  "add the identity if the node is one of yours", "leonctl show identity" },
	{ "identity-changed", NULL, STATUS_NOTE,
	  "the machine was replaced, or two machines have one node-id", NULL,
	  "leonctl show identity" },
	{ "unreadable", NULL, STATUS_PROBLEM, "the node runs another release",
	  "upgrade the older of the two nodes", "leond --version" },
	{ "table-full", NULL, STATUS_PROBLEM, "`member maximum` is reached",
	  "raise `member maximum`", "leonctl show nodes" },
	{ "fdb-full", NULL, STATUS_PROBLEM, "`fdb maximum` or `fdb maximum-per-vlan` is reached",
	  "raise the limit", "leonctl show fdb" },
	{ "mac-flapping", NULL, STATUS_PROBLEM,
	  "two hosts use one MAC address, or LANs of two nodes are connected", NULL,
	  "leonctl show fdb" },
	{ "lan-flapping", NULL, STATUS_PROBLEM, "the loop guard changes its state too often",
	  "check the switches of the LAN", "leonctl show segments" },
	{ "segment-mismatch", NULL, STATUS_PROBLEM,
	  "two nodes of one LAN have different segment ids",
	  "configure one `segment` id on both nodes", "leonctl show segments" },
	{ "guard-forged", NULL, STATUS_PROBLEM, "a host of the LAN forges loop-guard frames", NULL,
	  "leonctl show events" },
	{ "no-descriptors", NULL, STATUS_PROBLEM, "the limit of open files is reached",
	  "raise `LimitNOFILE` of the unit", "systemctl edit leond@" },
	{ "latency-asymmetry", NULL, STATUS_NOTE, "one of two measurements is wrong", NULL,
	  "leonctl show latency" },
};

static const struct rule *rule_of(const char *event)
{
	for (size_t i = 0; i < array_size(rules); i++)
		if (strcmp(rules[i].event, event) == 0)
			return &rules[i];
	return NULL;
}

static bool same(struct jsonr_node *a, struct jsonr_node *b, const char *key)
{
	return strcmp(text_str(a, key), text_str(b, key)) == 0;
}

/* An event about a path has the relay in `other`. Any relay stands for the path. An event about a
 * source has its address in `detail`. */
static bool is_same_object(struct jsonr_node *a, struct jsonr_node *b, const struct rule *r)
{
	return same(a, b, "node_id") && jsonr_is_str(a, "other") == jsonr_is_str(b, "other") &&
	       (strcmp(r->event, "source-lost") != 0 || same(a, b, "detail"));
}

/* leond reports no opposite for a node that is no member any more. */
static bool ends_node(struct jsonr_node *e, struct jsonr_node *later, const char *word)
{
	return (strcmp(word, "left") == 0 || strcmp(word, "forgotten") == 0) &&
	       same(e, later, "node_id");
}

/* A later event of this kind about the same object, or the opposite, replaces the event. */
static bool is_replaced(struct jsonr_node *list, size_t i, const struct rule *r)
{
	struct jsonr_node *later;
	struct jsonr_node *e = jsonr_at(list, i);

	for (size_t k = i + 1; (later = jsonr_at(list, k)); k++) {
		const char *word = text_str(later, "event");
		bool again = strcmp(word, r->event) == 0, over = r->over && !strcmp(word, r->over);

		if (strcmp(word, "started") == 0 || (r->over && ends_node(e, later, word)))
			return true;
		if ((again || over) && is_same_object(e, later, r) &&
		    (r->over || same(e, later, "text")))
			return true;
	}
	return false;
}

static void add(struct status *s, struct jsonr_node *e, const struct rule *r)
{
	status_add(s, r->event, r->level,
		   text_format("%s (%s ago)", text_str(e, "text"), text_age(e, "age_seconds")),
		   r->why, r->remedy, r->command);
}

void status_find_events(const struct status_input *in, struct status *s)
{
	struct jsonr_node *list = jsonr_array(in->events, "events"), *e;

	for (size_t i = 0; (e = jsonr_at(list, i)); i++) {
		const struct rule *r = rule_of(text_str(e, "event"));

		if (!r || (!r->over && value_u64(e, "age_seconds") > RECENT_SECONDS))
			continue;
		if (!is_replaced(list, i, r))
			add(s, e, r);
	}
}
