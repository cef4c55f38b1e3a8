// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leonctl: finds the daemon's control socket, sends one request and prints the answer. Exit codes:
 * 0 success, 1 the daemon refused, 2 wrong usage, 3 no daemon answers, 4 permission denied.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonr.h"
#include "base/mem.h"
#include "base/version.h"
#include "commands.h"

/* A ping of 100 packets takes 20 s, and the last one may be lost. */
#define TIMEOUT_MS 30000

enum { OPT_SOCKET = 256, OPT_VERSION, OPT_LISTEN, OPT_OF_COMMAND };

struct options {
	struct target target;
	bool help, version;
	int n_words;
	const char **word; /* of the command; options stand before or behind it */
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

static int wrong_option(const struct options *o, int c, char **argv)
{
	const char *name = argv[optind - 1];

	if (c == ':')
		target_complain(&o->target, "option \"%s\" needs a value; see leonctl --help",
				name);
	else
		target_complain(&o->target, "unknown option \"%s\"; see leonctl --help", name);
	return EXIT_USAGE;
}

/* Stores an option of one command; all_taken() refuses too many. */
static void add_given(struct target *t, const char *name)
{
	if (t->n_given++ < TARGET_GIVEN_MAX)
		t->given[t->n_given - 1] = (struct target_given){ name, optarg };
}

/* A wrong option before --json also gives an object. */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "-j") == 0)
			return true;
	return false;
}

/* Returns -1 to continue, else the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "interface", required_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{ "socket", required_argument, NULL, OPT_SOCKET },
		{ "listen", required_argument, NULL, OPT_LISTEN },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, 'h' },
		{ "address", required_argument, NULL, OPT_OF_COMMAND },
		{ "bytes", required_argument, NULL, OPT_OF_COMMAND },
		{ "bridge", required_argument, NULL, OPT_OF_COMMAND },
		{ "expires", required_argument, NULL, OPT_OF_COMMAND },
		{ "name", required_argument, NULL, OPT_OF_COMMAND },
		{ "node", required_argument, NULL, OPT_OF_COMMAND },
		{ "print", no_argument, NULL, OPT_OF_COMMAND },
		{ "seconds", required_argument, NULL, OPT_OF_COMMAND },
		{ "snap", required_argument, NULL, OPT_OF_COMMAND },
		{ "source-address", required_argument, NULL, OPT_OF_COMMAND },
		{ "source-interface", required_argument, NULL, OPT_OF_COMMAND },
		{ "tls-port", required_argument, NULL, OPT_OF_COMMAND },
		{ "uses", required_argument, NULL, OPT_OF_COMMAND },
		{ "with-secret", no_argument, NULL, OPT_OF_COMMAND },
		{ "write", required_argument, NULL, OPT_OF_COMMAND },
		{ "yes", no_argument, NULL, OPT_OF_COMMAND },
		{ NULL, 0, NULL, 0 },
	};
	const char *listen = NULL;
	int c, index = 0;

	o->target.json = wants_json(argc, argv);
	while ((c = getopt_long(argc, argv, ":i:jhw:", options, &index)) != -1) {
		if (c == 'i')
			o->target.interface = optarg;
		else if (c == OPT_SOCKET)
			o->target.socket = optarg;
		else if (c == OPT_LISTEN)
			listen = optarg;
		else if (c == 'w')
			add_given(&o->target, "write");
		else if (c == OPT_OF_COMMAND)
			add_given(&o->target, options[index].name);
		else if (c == ':' || c == '?')
			return wrong_option(o, c, argv);
		o->target.json |= c == 'j'; /* also as -ji or --js */
		o->version |= c == OPT_VERSION;
		o->help |= c == 'h';
	}
	while (optind < argc)
		o->word[o->n_words++] = argv[optind++];
	/* --listen is a word of the command `metrics --listen`. */
	if (listen) {
		o->word[o->n_words++] = "--listen";
		o->word[o->n_words++] = listen;
	}
	return -1;
}

/* Sends the request and prints the answer. Returns the exit code. */
static int ask(struct target *t, const struct ctl_command *c, const char *request)
{
	int code = target_find(t);
	char *answer = NULL;
	struct jsonr *doc;

	if (code >= 0)
		return code;
	doc = target_exchange(t, request, TIMEOUT_MS, &answer, &code);
	if (doc && t->json)
		puts(answer);
	if (doc)
		code = command_print(c, jsonr_root(doc), t->json ? NULL : stdout);
	if (doc && jsonr_error(doc)) {
		target_complain(t, "invalid answer of leond: %s", jsonr_error(doc));
		code = EXIT_NO_ANSWER;
	}
	jsonr_free(doc);
	free(answer);
	return code;
}

/* Joins words by blanks. */
static char *join(int argc, const char *const *argv)
{
	char *text;
	size_t len = 1, at = 0;

	for (int i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	text = x_calloc(len, 1);
	for (int i = 0; i < argc; i++)
		at += (size_t)snprintf(text + at, len - at, "%s%s", i ? " " : "", argv[i]);
	return text;
}

/* Runs a command of leonctl itself; returns the exit code. */
static int run(struct options *o, const struct ctl_command *c, int argc, const char *const *argv)
{
	const char *argument, *wrong;
	char *filter = NULL;
	int code = EXIT_USAGE;

	if (c->argument == ARG_FILTER && argc > 1) {
		argument = filter = join(argc, argv);
		argv = &argument;
		argc = 1;
	}
	wrong = command_argument(c, argc, argv, &argument);
	if (wrong)
		target_complain(&o->target, "%s", wrong);
	else
		code = c->run(&o->target, argument);
	free(filter);
	return code;
}

/* Suggests a command on stderr, or with --json in an error object of one line. */
static int unknown(const struct options *o)
{
	static const char prefix[] = "leonctl: ";
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	if (!o->target.json) {
		command_unknown(o->n_words, o->word, stderr);
		return EXIT_USAGE;
	}
	f = open_memstream(&text, &len);
	if (!f)
		return EXIT_USAGE;
	command_unknown(o->n_words, o->word, f);
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	target_complain(&o->target, "%s", text + strlen(prefix));
	free(text);
	return EXIT_USAGE;
}

/* `leonctl help COMMAND` and `leonctl COMMAND --help`. */
static int help(const struct options *o)
{
	const struct ctl_command *c;
	int used;

	if (o->n_words == 0) {
		usage(stdout);
		return 0;
	}
	c = command_find(o->n_words, o->word, &used);
	if (c)
		command_help_one(c, stdout);
	else if (!(o->n_words == 1 && command_help_group(o->word[0], false, stdout)))
		return unknown(o);
	return 0;
}

static bool all_taken(const struct target *t, const struct ctl_command *c)
{
	if (t->n_given > TARGET_GIVEN_MAX) {
		target_complain(t, "%s: more than %d options", c->words, TARGET_GIVEN_MAX);
		return false;
	}
	for (int i = 0; i < t->n_given; i++) {
		if (command_takes(c, t->given[i].name))
			continue;
		target_complain(t, "%s: no option --%s; see leonctl %s --help", c->words,
				t->given[i].name, c->words);
		return false;
	}
	return true;
}

static int run_command(struct options *o)
{
	const char *wrong;
	char *request;
	int used, code;
	const struct ctl_command *c = command_find(o->n_words, o->word, &used);

	if (!c)
		return unknown(o);
	if (!all_taken(&o->target, c))
		return EXIT_USAGE;
	if (c->run)
		return run(o, c, o->n_words - used, o->word + used);
	wrong = command_request(c, &o->target, o->n_words - used, o->word + used, &request);
	if (wrong) {
		target_complain(&o->target, "%s", wrong);
		return EXIT_USAGE;
	}
	code = ask(&o->target, c, request);
	free(request);
	return code;
}

static int run_options(struct options *o)
{
	if (o->version) {
		printf("leonctl %s\n", leon_version);
		return 0;
	}
	if (o->n_words && strcmp(o->word[0], "help") == 0) {
		o->help = true;
		memmove(o->word, o->word + 1, (size_t)o->n_words-- * sizeof(o->word[0]));
	}
	if (o->help)
		return help(o);
	if (o->n_words == 0) {
		target_complain(&o->target, "missing command; see leonctl --help");
		return EXIT_USAGE;
	}
	return run_command(o);
}

/* A full disk must not look like success. */
static int flush_output(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "leonctl: standard output: %s\n", strerror(errno));
	return code ? code : EXIT_REFUSED;
}

int main(int argc, char **argv)
{
	/* `--listen=VALUE` gives two words. */
	struct options o = { .word = x_calloc((size_t)argc + 1, sizeof(*o.word)) };
	int code = parse_options(argc, argv, &o);

	if (code < 0)
		code = run_options(&o);
	free(o.word);
	return flush_output(code);
}
