// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command table and what is made of it: help and requests.
 */
#include "commands.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/jsonw.h"
#include "base/mem.h"

#define COUNT_MAX 100

static const struct ctl_command table[] = {
	{ "show nodes", ARG_NONE, render_nodes, "nodes of the overlay and the links to them" },
	{ "show peers", ARG_NONE, render_peers, "configured peers: reached or not, and why not" },
	{ "show paths", ARG_NONE, render_paths, "path in use to each node, with its latency" },
	{ "show policy", ARG_NONE, render_policy,
	  "critical frames: what was done for them, and their two paths" },
	{ "show routes", ARG_NONE, render_routes,
	  "routes exported to the kernel, and what is not" },
	{ "show ipsec", ARG_NONE, render_ipsec,
	  "addresses that are sent to, and if IPsec protects" },
	{ "show latency", ARG_NONE, render_latency, "latency database: all measured links" },
	{ "show fdb", ARG_NONE, render_fdb, "MAC addresses and the nodes they are behind" },
	{ "show statistics", ARG_NONE, render_statistics, "counters, drops, offloads, loop guard" },
	{ "show events", ARG_NONE, render_events, "what happened, oldest first" },
	{ "show identity", ARG_NONE, render_identity,
	  "identity key of this node, and those of others" },
	{ "explain path", ARG_NODE, render_explain,
	  "why this path to NODE, and what else there is" },
	{ "trace", ARG_NODE, render_trace, "send a packet to each hop of the path to NODE" },
	{ "ping", ARG_NODE_COUNT, render_ping, "send COUNT packets (default 5) to NODE" },
	{ "metrics", ARG_NONE, render_metrics, "everything as Prometheus text" },
	{ "invite", ARG_ADDRESSES, render_invite,
	  "a token by which a machine joins; it is a secret" },
	{ "reload", ARG_NONE, render_reload, "apply the changed configuration file" },
	{ "reset fdb", ARG_NONE, render_reset_fdb, "forget all learned MAC addresses" },
	{ "reset statistics", ARG_NONE, render_reset_statistics, "count from zero" },
	{ "reset node", ARG_NODE, render_reset_node,
	  "forget what was learned behind NODE, probe it" },
};

/* Number of argv words that the command's words match, 0 where they do not. */
static int match(const char *words, int argc, const char *const *argv)
{
	int n = 0;

	while (*words) {
		size_t len = strcspn(words, " ");

		if (n == argc || strlen(argv[n]) != len || strncmp(argv[n], words, len) != 0)
			return 0;
		n++;
		words += len;
		words += strspn(words, " ");
	}
	return n;
}

const struct ctl_command *command_find(int argc, const char *const *argv, int *used)
{
	for (size_t i = 0; i < array_size(table); i++) {
		*used = match(table[i].words, argc, argv);
		if (*used)
			return &table[i];
	}
	return NULL;
}

static const char *argument_text(enum command_argument a)
{
	switch (a) {
	case ARG_NODE:
		return " NODE";
	case ARG_NODE_COUNT:
		return " NODE [COUNT]";
	case ARG_ADDRESSES:
		return " [ADDRESS ...]";
	case ARG_NONE:
		break;
	}
	return "";
}

void command_help(FILE *f)
{
	char left[64];

	fputs("commands (NODE is a node-id or a node-name):\n", f);
	for (size_t i = 0; i < array_size(table); i++) {
		snprintf(left, sizeof(left), "%s%s", table[i].words,
			 argument_text(table[i].argument));
		fprintf(f, "  %-22s %s\n", left, table[i].help);
	}
}

/* Digits only, 1..COUNT_MAX. */
static bool parse_count(const char *s, uint64_t *out)
{
	uint64_t v = 0;

	if (!*s || strlen(s) > 3)
		return false;
	for (; *s; s++) {
		if (!isdigit((unsigned char)*s))
			return false;
		v = v * 10 + (uint64_t)(*s - '0');
	}
	*out = v;
	return v >= 1 && v <= COUNT_MAX;
}

static void write_addresses(struct jsonw *w, int argc, const char *const *argv)
{
	jsonw_array(w, "seeds");
	for (int i = 0; i < argc; i++)
		jsonw_str(w, NULL, argv[i]);
	jsonw_end(w);
}

static bool write_arguments(struct jsonw *w, const struct ctl_command *c, int argc,
			    const char *const *argv, char *err, size_t err_len)
{
	int most = c->argument == ARG_NONE ? 0 : c->argument == ARG_NODE ? 1 : 2;
	uint64_t count;

	if (c->argument == ARG_ADDRESSES) {
		write_addresses(w, argc, argv);
		return true;
	}
	if (argc > most) {
		snprintf(err, err_len, "%s: unexpected argument \"%s\"", c->words, argv[most]);
		return false;
	}
	if (most == 0)
		return true;
	if (argc == 0) {
		snprintf(err, err_len, "%s: which node? usage: leonctl %s%s", c->words, c->words,
			 argument_text(c->argument));
		return false;
	}
	jsonw_str(w, "node", argv[0]);
	if (argc < 2)
		return true;
	if (!parse_count(argv[1], &count)) {
		snprintf(err, err_len, "%s: count must be a number from 1 to %d", c->words,
			 COUNT_MAX);
		return false;
	}
	jsonw_u64(w, "count", count);
	return true;
}

char *command_request(const struct ctl_command *c, int argc, const char *const *argv, char *err,
		      size_t err_len)
{
	struct jsonw *w = jsonw_new();
	char *text = NULL;
	size_t len;

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_str(w, "command", c->words);
	jsonw_object(w, "arguments");
	if (write_arguments(w, c, argc, argv, err, err_len)) {
		jsonw_end(w);
		jsonw_end(w);
		text = x_strdup(jsonw_text(w, &len));
	}
	jsonw_free(w);
	return text;
}
