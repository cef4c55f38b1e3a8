// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-sclp: options, the TAP, and a loop that polls the TAP, the socket and signals. Exit codes: 0
 * ended by a signal, 1 a resource is not available, 2 wrong usage.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/version.h"
#include "io/clock.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "tunnel.h"

#define TICK_MS 1000
#define MTU_MIN 68
#define MTU_MAX 9216

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, OPT_VERSION = 256 };

struct options {
	const char *tap;
	struct tunnel_conf conf;
};

static void usage(FILE *f)
{
	fputs("usage: leon-sclp --local ADDRESS --peer ADDRESS [options]\n"
	      "Carries Ethernet as VXLAN over SCLP (IP protocol 234) between a TAP and one peer.\n"
	      "  --local ADDRESS  own IPv4 or IPv6 address\n"
	      "  --peer ADDRESS   address of the peer, of the same family\n"
	      "  --tap NAME       name of the interface (default: sclp0)\n"
	      "  --vni NUMBER     VXLAN network identifier, 0 to 16777215 (default: 1)\n"
	      "  --port NUMBER    SCLP port of VXLAN (default: 4789)\n"
	      "  --mtu BYTES      path MTU to the peer, 68 to 9216 (default: the kernel's)\n"
	      "SIGUSR1 prints the counters, one line of JSON.\n",
	      f);
}

static bool number(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || end == text || text[0] == '-' || v < min || v > max)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool take_option(int c, const char *value, struct options *o)
{
	uint32_t n;

	switch (c) {
	case 'l':
		return ip_parse(value, &o->conf.local) == 0;
	case 'p':
		return ip_parse(value, &o->conf.peer) == 0;
	case 't':
		o->tap = value;
		return true;
	case 'v':
		return number(value, 0, VNI_MAX, &o->conf.vni);
	case 'd':
		if (!number(value, 1, UINT16_MAX, &n))
			return false;
		o->conf.port = (uint16_t)n;
		return true;
	case 'm':
		return number(value, MTU_MIN, MTU_MAX, &o->conf.mtu);
	default:
		return false;
	}
}

static bool is_complete(const struct options *o)
{
	if (o->conf.local.family && o->conf.local.family == o->conf.peer.family)
		return true;
	fputs("leon-sclp: give --local and --peer, two addresses of one family\n", stderr);
	return false;
}

/* Returns -1 to continue, else the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "local", required_argument, NULL, 'l' },
		{ "peer", required_argument, NULL, 'p' },
		{ "tap", required_argument, NULL, 't' },
		{ "vni", required_argument, NULL, 'v' },
		{ "port", required_argument, NULL, 'd' },
		{ "mtu", required_argument, NULL, 'm' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, index = 0;

	while ((c = getopt_long(argc, argv, "h", options, &index)) != -1) {
		if (c == OPT_VERSION) {
			printf("leon-sclp %s\n", leon_version);
			return 0;
		}
		if (c == 'h') {
			usage(stdout);
			return 0;
		}
		if (c == '?')
			return EXIT_USAGE;
		if (take_option(c, optarg, o))
			continue;
		fprintf(stderr, "leon-sclp: --%s cannot be \"%s\"; see leon-sclp --help\n",
			options[index].name, optarg);
		return EXIT_USAGE;
	}
	if (optind < argc) {
		fprintf(stderr, "leon-sclp: unexpected argument \"%s\"; see leon-sclp --help\n",
			argv[optind]);
		return EXIT_USAGE;
	}
	return is_complete(o) ? -1 : EXIT_USAGE;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Returns false if the process must end. */
static bool take_signal(int fd, const struct tunnel *t)
{
	struct signalfd_siginfo si;

	if (read(fd, &si, sizeof(si)) != sizeof(si))
		return true;
	tunnel_print(t);
	return si.ssi_signo == SIGUSR1;
}

static bool follow_tap(struct nl *nl, const struct tap *tap, struct tunnel *t)
{
	struct nl_link link;
	int rc = nl_link_by_index(nl, tap->ifindex, &link);

	if (rc == -ENODEV) {
		log_error("tap", "interface was deleted by another process interface=%s",
			  tap->name);
		return false;
	}
	if (rc == 0)
		tunnel_set_tap_mtu(t, link.mtu);
	return true;
}

static int run(struct nl *nl, const struct tap *tap, struct tunnel *t, int net, int signals)
{
	struct pollfd p[] = { { .fd = signals, .events = POLLIN },
			      { .fd = tap->fd[0], .events = POLLIN },
			      { .fd = net, .events = POLLIN } };
	mono_t ticked = MONO_NEVER;

	for (;;) {
		mono_t now = mono_now();

		if (mono_sub_ms(now, ticked) >= TICK_MS) {
			ticked = now;
			tunnel_tick(t, now);
			if (!follow_tap(nl, tap, t))
				return EXIT_FAILED;
		}
		if (poll(p, array_size(p), TICK_MS) < 0 && errno != EINTR)
			return EXIT_FAILED;
		if (p[0].revents && !take_signal(signals, t))
			return 0;
		if (p[1].revents)
			tunnel_from_tap(t);
		if (p[2].revents)
			tunnel_from_net(t, mono_now());
	}
}

static int start(struct nl *nl, const struct options *o)
{
	int signals = open_signals(), net, rc, status = EXIT_FAILED;
	struct tunnel *t = NULL;
	struct tap tap;

	if (tap_open(&tap, nl, o->tap, 1) < 0)
		return EXIT_FAILED;
	/* USO stays off: the kernel would leave UDP segmentation to leon-sclp, and VXLAN has no
	 * field for it. */
	tap_use_offload(&tap, (struct tap_offload){ .checksum = true, .tso = true });
	net = tunnel_open(&t, &o->conf, tap.fd[0]);
	if (net < 0)
		log_error("sclp",
			  "cannot open a socket of IP protocol 234 between these addresses: %s%s",
			  strerror(-net), net == -EPERM ? "; it takes CAP_NET_RAW" : "");
	else if ((rc = nl_link_set_up(nl, tap.ifindex, true)) < 0)
		log_error("sclp", "cannot set up: %s interface=%s", strerror(-rc), tap.name);
	else
		status = run(nl, &tap, t, net, signals);
	tunnel_close(t);
	tap_close(&tap);
	close(signals);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = { .tap = "sclp0", .conf = { .vni = 1, .port = VXLAN_PORT } };
	int status = parse_options(argc, argv, &o), rc;
	struct nl *nl;

	if (status >= 0)
		return status;
	rc = nl_open(&nl);
	if (rc < 0) {
		log_error("sclp", "no netlink: %s", strerror(-rc));
		return EXIT_FAILED;
	}
	status = start(nl, &o);
	nl_close(nl);
	return status;
}
