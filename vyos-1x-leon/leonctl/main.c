// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leonctl: finds the daemon's control socket, sends one request and prints the answer. Exit codes:
 * 0 success, 1 the daemon refused, 2 wrong usage, 3 no daemon answers, 4 permission denied.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonr.h"
#include "base/version.h"
#include "commands.h"
#include "io/ctlsock.h"

/* A ping of 100 packets takes 20 s, and the last one may be lost. */
#define TIMEOUT_MS 30000

enum { OPT_SOCKET = 256, OPT_VERSION };

struct options {
	struct target target;
};

static void usage(FILE *f)
{
	fputs("usage: leonctl [-i INTERFACE] [--json] [--socket PATH] COMMAND ...\n"
	      "  -i INTERFACE   the overlay; required if several run (default: the only one)\n"
	      "  --json         print the unchanged answer of the daemon\n"
	      "  --socket PATH  control socket (default: " TARGET_RUN_DIR "/INTERFACE.sock)\n",
	      f);
	command_help(f);
}

/* Returns -1 to continue, else the exit code. Options end at the first word of the command. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "interface", required_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{ "socket", required_argument, NULL, OPT_SOCKET },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+i:jh", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			o->target.interface = optarg;
			break;
		case 'j':
			o->target.json = true;
			break;
		case OPT_SOCKET:
			o->target.socket = optarg;
			break;
		case OPT_VERSION:
			printf("leonctl %s\n", leon_version);
			return 0;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	return -1;
}

/* Prints the answer; returns the exit code. */
static int show(const struct options *o, const struct ctl_command *c, const char *answer,
		size_t len)
{
	struct jsonr *doc = jsonr_parse(answer, len, CTL_ANSWER_MAX);
	struct jsonr_node *root = jsonr_root(doc);
	const char *error;
	int code;

	if (root && jsonr_str(root, "error", &error)) {
		if (o->target.json)
			puts(answer);
		else
			target_complain(&o->target, "%s", error);
		code = EXIT_REFUSED;
	} else if (!root) {
		target_complain(&o->target, "invalid answer of leond: %s", jsonr_error(doc));
		code = EXIT_NO_ANSWER;
	} else if (o->target.json) {
		puts(answer);
		code = 0;
	} else {
		code = c->render(root, stdout);
	}
	if (root && jsonr_error(doc)) {
		target_complain(&o->target, "invalid answer of leond: %s", jsonr_error(doc));
		code = EXIT_NO_ANSWER;
	}
	jsonr_free(doc);
	return code;
}

static int ask(struct options *o, const struct ctl_command *c, const char *request)
{
	char *answer = NULL, reason[256];
	int code = target_find(&o->target), r;
	size_t len;

	if (code >= 0)
		return code;
	r = target_request(&o->target, request, TIMEOUT_MS, &answer, &len);
	if (r < 0) {
		target_complain(&o->target, "%s",
				target_reason(&o->target, r, reason, sizeof(reason)));
		return target_exit_code(r);
	}
	code = show(o, c, answer, len);
	free(answer);
	return code;
}

/* Runs a command of leonctl itself; returns the exit code. */
static int run(struct options *o, const struct ctl_command *c, int argc, const char *const *argv)
{
	const char *argument;
	char err[256];

	if (!command_argument(c, argc, argv, &argument, err, sizeof(err))) {
		target_complain(&o->target, "%s", err);
		return EXIT_USAGE;
	}
	return command_run(c)(&o->target, argument);
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	int code = parse_options(argc, argv, &o), used;
	const struct ctl_command *c;
	const char *const *words;
	char err[256], *request;

	if (code >= 0)
		return code;
	argc -= optind;
	words = (const char *const *)(argv + optind);
	if (argc == 0) {
		usage(stderr);
		return EXIT_USAGE;
	}
	c = command_find(argc, words, &used);
	if (!c) {
		command_unknown(argc, words, stderr);
		return EXIT_USAGE;
	}
	if (!c->render)
		return run(&o, c, argc - used, words + used);
	request = command_request(c, argc - used, words + used, err, sizeof(err));
	if (!request) {
		target_complain(&o.target, "%s", err);
		return EXIT_USAGE;
	}
	code = ask(&o, c, request);
	free(request);
	return code;
}
