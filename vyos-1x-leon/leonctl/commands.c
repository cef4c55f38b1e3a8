// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command table, and the help and requests that are generated from the table.
 */
#include "commands.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/jsonw.h"
#include "base/mem.h"
#include "base/text.h"
#include "run.h"
#include "show/show.h"
#include "state/invitations.h"
#include "text/text.h"

#define COUNT_MAX    100
#define EXPIRY_MAX_S (3650u * 86400u)

#define NODE_OPTIONS                                                                               \
	" [--address ADDRESS/LENGTH]... [--bridge BRIDGE] [--name NAME]"                           \
	" [--source-address ADDRESS]... [--source-interface INTERFACE] [--print]"

static const struct ctl_command table[] = {
	{ "status", .help = "all well, or each problem with its cause and remedy",
	  .run = status_run },
	{ "show nodes", .help = "nodes of the overlay and the links to them" },
	{ "show peers", .help = "configured peers, and the cause for each unreached peer" },
	{ "show lines",
	  .help = "lines of this site, and the measured pairs of lines to each node" },
	{ "show paths", .render = render_paths,
	  .help = "path in use to each node, with its latency" },
	{ "show policy", .render = render_policy,
	  .help = "critical frames, copies, parities and both paths" },
	{ "show routes", .render = render_routes,
	  .help = "routes exported to the kernel, and announcements not in use" },
	{ "show ipsec", .render = render_ipsec,
	  .help = "addresses of other nodes, and the protection by IPsec" },
	{ "show latency", .render = render_latency,
	  .help = "latency database: all measured links" },
	{ "show fdb", .render = render_fdb, .help = "MAC addresses with their nodes" },
	{ "show segments", .render = render_segments,
	  .help = "VLANs of this node, their forwarders and their nodes" },
	{ "show multicast", .render = render_multicast,
	  .help = "multicast groups and nodes with listeners" },
	{ "show queues", .render = render_queues,
	  .help = "backlog, queueing delay, marks and drops" },
	{ "show acceleration connections", .render = render_acceleration_connections,
	  .help = "each tracked TCP connection" },
	{ "show acceleration", .render = render_acceleration,
	  .help = "intercepted TCP connections and their benefit" },
	{ "show statistics", .render = render_statistics,
	  .help = "counters, drops, offloads, loop guard" },
	{ "show events", .help = "events, oldest first" },
	{ "show invitations", .help = "one-time tokens of this node" },
	{ "show identity", .render = render_identity,
	  .help = "identity keys of this node and of others" },
	{ "explain path", ARG_NODE, render_explain,
	  .help = "reason for the path to NODE, and the other candidates" },
	{ "explain connection", ARG_ENDPOINTS, render_explain_connection,
	  .help = "all checks of a TCP connection for interception" },
	{ "trace", ARG_NODE, render_trace, .verdict = verdict_trace,
	  .help = "send a probe to each hop of the path to NODE" },
	{ "ping", ARG_NODE_COUNT, render_ping, .verdict = verdict_ping,
	  .help = "send COUNT probes (default 5) to NODE" },
	{ "capture", ARG_FILTER, .help = "frames of a flow at all nodes on its path, as pcapng",
	  .run = capture_run,
	  .options = " [-w|--write FILE] [--seconds N] [--bytes N] [--snap N] [--node NODE]..." },
	{ "top", .help = "the overlay on a terminal, updated once a second", .run = top_run },
	{ "map", .help = "the overlay as one self-contained HTML page", .run = map_print },
	{ "metrics --listen", ARG_LISTEN,
	  .help = "serve the metrics over HTTP until a signal ends it", .run = serve_metrics },
	{ "metrics", .help = "all metrics as Prometheus text", .text = "{text}" },
	{ "init", .help = "make this machine the first node of a new overlay", .run = init_run,
	  .options = NODE_OPTIONS },
	{ "invite", ARG_ADDRESSES, render_invite,
	  .help = "a one-time token with which a machine can join",
	  .options = " [--expires TIME] [--uses NUMBER] [--with-secret]" },
	{ "join", ARG_TOKEN, .help = "make this machine a node of the overlay of the token",
	  .run = join_run, .options = NODE_OPTIONS " [--tls-port PORT]" },
	{ "leave", .help = "stop leond and remove configuration and identity", .run = leave_run,
	  .options = " [--yes]" },
	{ "reload", .render = render_reload, .verdict = verdict_reload,
	  .help = "apply the changed configuration file" },
	{ "reset acceleration", .help = "release all intercepted TCP connections",
	  .text = "{interface}: {number connections} TCP connections are released to their hosts\n" },
	{ "reset fdb", .help = "remove all learned MAC addresses",
	  .text = "{interface}: {number removed} FDB entries removed\n" },
	{ "reset statistics", .help = "set the statistics to zero",
	  .text = "{interface}: all statistics set to zero\n" },
	{ "reset invitation", ARG_INVITATION, render_reset_invitation,
	  .help = "end a one-time token of this node" },
	{ "reset node", ARG_NODE, .help = "remove the FDB entries of NODE and probe its link",
	  .text = "{interface}: {number removed} FDB entries of {node node_id} removed, link probe "
		  "started\n" },
	{ "help", ARG_COMMAND, .help = "help of one command, or the list of commands" },
	{ "generate secret", .help = "print a random secret; needs no daemon",
	  .run = secret_print },
};

bool command_takes(const struct ctl_command *c, const char *option)
{
	const char *at = c->options;
	size_t len = strlen(option);

	while (at && (at = strstr(at, "--")) != NULL) {
		at += 2;
		if (strncmp(at, option, len) == 0 && (at[len] == ' ' || at[len] == ']'))
			return true;
	}
	return false;
}

int command_print(const struct ctl_command *c, struct jsonr_node *root, FILE *out)
{
	if (out && c->render)
		c->render(root, out);
	else if (out && c->text)
		show_text(c->text, root, out);
	else if (out)
		show_answer(c->words, root, out);
	return c->verdict ? c->verdict(root) : 0;
}

/* Returns the number of argv words that match the command's words, 0 without a match. */
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

static int n_words(const char *words)
{
	int n = 1;

	for (; *words; words++)
		n += *words == ' ';
	return n;
}

/* True if the command has further words behind these, such as "show". */
static bool is_group(const struct ctl_command *c, const char *words)
{
	size_t len = strlen(words);

	return strncmp(c->words, words, len) == 0 && c->words[len] == ' ';
}

/* Returns true if another command begins with the same words. */
static bool goes_on(const struct ctl_command *c)
{
	for (size_t i = 0; i < array_size(table); i++)
		if (is_group(&table[i], c->words) && table[i].words[strlen(c->words) + 1] != '-')
			return true;
	return false;
}

const struct ctl_command *command_find(int argc, const char *const *argv, int *used)
{
	for (size_t i = 0; i < array_size(table); i++) {
		*used = match(table[i].words, argc, argv);
		/* A further word that is no argument of the short command belongs to the longer
		 * command. */
		if (*used && (*used == argc || !goes_on(&table[i])))
			return &table[i];
	}
	return NULL;
}

/* key: of the first argument in a request for a node or an invitation. */
static const struct {
	const char *text, *key;
	int most;
} arguments[] = {
	[ARG_NONE] = { "", NULL, 0 },
	[ARG_NODE] = { " NODE", "node", 1 },
	[ARG_NODE_COUNT] = { " NODE [COUNT]", "node", 2 },
	[ARG_ADDRESSES] = { " [ADDRESS ...]", NULL, 0 },
	[ARG_LISTEN] = { " ADDRESS[:PORT]", NULL, 1 },
	[ARG_ENDPOINTS] = { " ADDRESS:PORT ADDRESS:PORT", NULL, 2 },
	[ARG_COMMAND] = { " [COMMAND]", NULL, 1 },
	[ARG_INVITATION] = { " INVITATION", "invitation", 1 },
	[ARG_TOKEN] = { " TOKEN|FILE|-", NULL, 1 },
	[ARG_FILTER] = { " FILTER", NULL, 1 },
};

static void help_line(const struct ctl_command *c, FILE *f)
{
	char left[64];

	snprintf(left, sizeof(left), "%s%s", c->words, arguments[c->argument].text);
	fprintf(f, "  %-22s%s%s\n", left, strlen(left) > 22 ? "\n                         " : " ",
		c->help);
}

void command_help(FILE *f)
{
	fputs("commands (NODE is a node-id or a node-name):\n", f);
	for (size_t i = 0; i < array_size(table); i++)
		help_line(&table[i], f);
}

void command_help_one(const struct ctl_command *c, FILE *f)
{
	fprintf(f,
		"usage: leonctl [-i INTERFACE] [--json] [--socket PATH] %s%s%s\n"
		"  %s\n"
		"leonctl(8) describes the command, the options and the exit status.\n",
		c->words, arguments[c->argument].text, c->options ? c->options : "", c->help);
}

/* --- suggestions --- */

bool command_help_group(const char *word, bool unknown, FILE *f)
{
	bool any = false;

	for (size_t i = 0; i < array_size(table); i++) {
		if (!is_group(&table[i], word))
			continue;
		if (unknown && !any)
			fprintf(f,
				"leonctl: unknown or incomplete command \"%s\"; expected one of\n",
				word);
		any = true;
		help_line(&table[i], f);
	}
	return any;
}

/* Joins as many of the typed words as the command has. */
static unsigned distance_to(const char *all, int argc, const char *const *argv)
{
	const char *words = all;
	char typed[3 * NEAREST_LEN_MAX + 3];
	size_t at = 0;

	for (int i = 0; i < argc && words && at < sizeof(typed); i++) {
		at += (size_t)snprintf(typed + at, sizeof(typed) - at, "%s%.*s", i ? " " : "",
				       NEAREST_LEN_MAX, argv[i]);
		words = strchr(words, ' ');
		words += words ? 1 : 0;
	}
	return nearest_distance(typed, all);
}

static const struct ctl_command *find_nearest(int argc, const char *const *argv, unsigned *distance)
{
	const struct ctl_command *nearest = &table[0];

	*distance = UINT_MAX;
	for (size_t i = 0; i < array_size(table); i++) {
		unsigned d = distance_to(table[i].words, argc, argv);

		/* With more words than the command has, the longer command is suggested. */
		if (d >= *distance || (argc > n_words(table[i].words) && goes_on(&table[i])))
			continue;
		*distance = d;
		nearest = &table[i];
	}
	return nearest;
}

void command_unknown(int argc, const char *const *argv, FILE *f)
{
	const struct ctl_command *nearest;
	unsigned distance;

	if (argc == 1 && command_help_group(argv[0], true, f))
		return;
	nearest = find_nearest(argc, argv, &distance);
	fputs("leonctl: unknown command \"", f);
	for (int i = 0; i < min_of(argc, max_of(2, n_words(nearest->words))); i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
	fputc('"', f);
	if (nearest_is_near(nearest->words, distance)) {
		fprintf(f, "; did you mean \"%s\"?\n", nearest->words);
		return;
	}
	fputc('\n', f);
	if (!command_help_group(argv[0], true, f))
		command_help(f);
}

/* --- arguments --- */

/* Accepts digits only, in the range 1..COUNT_MAX. */
static bool parse_count(const char *s, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*s) || strlen(s) > 3)
		return false;
	*out = strtoul(s, &end, 10);
	return !*end && *out >= 1 && *out <= COUNT_MAX;
}

const char *command_argument(const struct ctl_command *c, int argc, const char *const *argv,
			     const char **argument)
{
	int want = arguments[c->argument].most;

	*argument = want ? argv[0] : NULL;
	if (argc < want)
		return text_format("usage: leonctl %s%s", c->words, arguments[c->argument].text);
	if (argc > want)
		return text_format("%s: unexpected argument \"%s\"", c->words, argv[want]);
	return NULL;
}

static const char *write_endpoints(struct jsonw *w, const struct ctl_command *c, int argc,
				   const char *const *argv)
{
	if (argc != 2)
		return text_format("%s: which connection? usage: leonctl %s%s", c->words, c->words,
				   arguments[c->argument].text);
	jsonw_str(w, "first", argv[0]);
	jsonw_str(w, "second", argv[1]);
	return NULL;
}

/* "90s", "30m", "24h", "7d", or "never", which is 0. */
static bool parse_duration(const char *s, uint64_t *seconds)
{
	static const struct {
		char unit;
		uint32_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end;
	unsigned long n;

	*seconds = 0;
	if (strcmp(s, "never") == 0)
		return true;
	if (!isdigit((unsigned char)*s) || strlen(s) > 8)
		return false;
	n = strtoul(s, &end, 10);
	for (size_t i = 0; i < array_size(units); i++)
		if (end[0] == units[i].unit && end[1] == '\0')
			*seconds = n * units[i].seconds;
	return *seconds > 0 && *seconds <= EXPIRY_MAX_S;
}

static const char *write_expiry(struct jsonw *w, const struct target *t)
{
	const char *text;
	uint64_t seconds;

	if (!target_option(t, "expires", &text))
		return NULL;
	if (!parse_duration(text, &seconds))
		return text_format("--expires: \"%.40s\" is no time such as 30m, 24h, 7d or never, "
				   "at most 3650d",
				   text);
	jsonw_u64(w, "expires_seconds", seconds);
	return NULL;
}

static const char *write_uses(struct jsonw *w, const struct target *t)
{
	bool with_secret = target_option(t, "with-secret", NULL);
	const char *text;
	uint64_t uses;

	if (with_secret)
		jsonw_bool(w, "with_secret", true);
	if (!target_option(t, "uses", &text))
		return NULL;
	if (with_secret)
		return "a token with the secret has no limit of uses: leave out --uses or "
		       "--with-secret";
	if (!parse_count(text, &uses) || uses > INVITATION_USES_MAX)
		return text_format("--uses: \"%.40s\" is no number from 1 to %d", text,
				   INVITATION_USES_MAX);
	jsonw_u64(w, "uses", uses);
	return NULL;
}

static const char *write_arguments(struct jsonw *w, const struct ctl_command *c, int argc,
				   const char *const *argv)
{
	int most = arguments[c->argument].most;
	const char *key = arguments[c->argument].key;
	uint64_t count;

	if (c->argument == ARG_ADDRESSES) {
		jsonw_array(w, "seeds");
		for (int i = 0; i < argc; i++)
			jsonw_str(w, NULL, argv[i]);
		jsonw_end(w);
		return NULL;
	}
	if (c->argument == ARG_ENDPOINTS)
		return write_endpoints(w, c, argc, argv);
	if (argc > most)
		return text_format("%s: unexpected argument \"%s\"", c->words, argv[most]);
	if (most == 0)
		return NULL;
	if (argc == 0)
		return text_format("%s: missing %s; usage: leonctl %s%s", c->words, key, c->words,
				   arguments[c->argument].text);
	jsonw_str(w, key, argv[0]);
	if (argc < 2)
		return NULL;
	if (!parse_count(argv[1], &count))
		return text_format("%s: count must be a number from 1 to %d", c->words, COUNT_MAX);
	jsonw_u64(w, "count", count);
	return NULL;
}

const char *command_request(const struct ctl_command *c, const struct target *t, int argc,
			    const char *const *argv, char **request)
{
	struct jsonw *w = jsonw_new();
	const char *wrong;

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_str(w, "command", c->words);
	jsonw_object(w, "arguments");
	wrong = write_arguments(w, c, argc, argv);
	if (!wrong)
		wrong = write_expiry(w, t);
	if (!wrong)
		wrong = write_uses(w, t);
	jsonw_end(w);
	jsonw_end(w);
	*request = wrong ? NULL : x_strdup(jsonw_text(w, NULL));
	jsonw_free(w);
	return wrong;
}
