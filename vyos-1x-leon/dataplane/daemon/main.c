// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leond: one LEON interface. Arguments, --check, and the lifetime of struct leond; start.c does the
 * rest. Always runs in the foreground; systemd or a terminal is the parent.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/text.h"
#include "base/version.h"
#include "daemon/identity/own_identity.h"
#include "daemon/leond.h"
#include "daemon/life/life.h"
#include "state/conf/conf.h"

enum { OPT_CHECK = 256, OPT_FOREGROUND, OPT_VERSION, OPT_HELP, OPT_IDENTITY };

/* The unit does not start leond again after this status: EX_CONFIG of sysexits.h. */
#define EXIT_REFUSED 78

static void usage(FILE *f)
{
	fputs("usage: leond --config FILE [--check] [--foreground]\n"
	      "       leond --generate-identity FILE\n"
	      "       leond --version | --help\n"
	      "  --config FILE  configuration (leond.json(5))\n"
	      "  --check        print \"configuration OK\" or the error, and exit\n"
	      "  --generate-identity FILE\n"
	      "                 create an identity key in a new FILE, and print its public half\n"
	      "  --foreground   no effect: leond never forks\n",
	      f);
}

struct arguments {
	const char *config;
	bool check;
};

static int generate_identity(const char *path)
{
	char public[HEX_LEN(DH_KEY_LEN) + 1], err[256];
	int r;

	if (conf_base_refused(err, sizeof(err))) {
		fprintf(stderr, "leond: %s\n", err);
		return 1;
	}
	r = identity_generate(path, public);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", path,
			r == -EEXIST ? "is there already; an identity is never written over"
				     : strerror(-r));
		return 1;
	}
	puts(public);
	return 0;
}

/* Returns -1 to continue, else the exit code after one line with the reason. */
static int check_arguments(const struct arguments *a, int n_rest, char **rest)
{
	if (n_rest)
		fprintf(stderr, "leond: unexpected argument \"%s\"; see leond --help\n", rest[0]);
	else if (!a->config)
		fputs("leond: --config is missing; see leond --help\n", stderr);
	else
		return -1;
	return 2;
}

/* Returns -1 to continue, else the exit code. */
static int parse_arguments(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check", no_argument, NULL, OPT_CHECK },
		{ "generate-identity", required_argument, NULL, OPT_IDENTITY },
		{ "foreground", no_argument, NULL, OPT_FOREGROUND },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, OPT_HELP },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			a->config = optarg;
			break;
		case OPT_CHECK:
			a->check = true;
			break;
		case OPT_IDENTITY:
			return generate_identity(optarg);
		case OPT_FOREGROUND:
			break;
		case OPT_VERSION:
			printf("leond %s\n", leon_version);
			return 0;
		case OPT_HELP:
			usage(stdout);
			return 0;
		default:
			return 2; /* getopt_long() printed the reason */
		}
	}
	return check_arguments(a, argc - optind, argv + optind);
}

static void print_advice(void *arg, const char *text)
{
	fprintf(arg, "warning: %s\n", text);
}

/*
 * The process holds secrets: no core dump, and no other process of the user may inspect the process
 * or its descriptors. At the end the secrets are wiped and a leak checker may inspect the process.
 */
static void set_private(bool private)
{
	if (prctl(PR_SET_DUMPABLE, private ? 0 : 1) < 0)
		log_warn("daemon", "the process cannot be hidden from others: %s", strerror(errno));
}

/* A request to reload waits for the event loop. Its default action would end the start. */
static void defer_hangup(void)
{
	sigset_t hangup;

	sigemptyset(&hangup);
	sigaddset(&hangup, SIGHUP);
	sigprocmask(SIG_BLOCK, &hangup, NULL);
}

static int run(struct conf *c)
{
	struct leond *d = leond_new();
	int r = leond_start(d, c);

	if (r == 0)
		r = leond_run(d);
	leond_free(d);
	free(d);
	return r == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct arguments a = { 0 };
	int code = parse_arguments(argc, argv, &a);
	char err[512];
	struct conf *c;

	if (code >= 0)
		return code;
	set_private(true);
	if (!a.check)
		defer_hangup();
	c = conf_read_file(a.config, err, sizeof(err));
	if (!c) {
		fprintf(stderr, "%s\n", err);
		set_private(false);
		return a.check ? 1 : EXIT_REFUSED;
	}
	if (a.check) {
		advice_of(c, print_advice, stderr);
		puts("configuration OK");
		conf_free(c);
		code = 0;
	} else {
		code = run(c);
	}
	set_private(false);
	return code;
}
