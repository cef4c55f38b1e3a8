// SPDX-License-Identifier: GPL-2.0-or-later
/* The route planner: accepted routes, selection among nodes, updates of metrics, and the order of
 * changes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "base/defs.h"
#include "state/routes/rib.h"

#define MS(n) ((mono_t){ (n)*NS_PER_MS })
#define NODES 6

/* Nodes 1 to NODES with ids 10.0.0.N and overlay addresses 10.99.0.N. */
struct world {
	struct conf conf;
	struct conf_import rule[4];
	struct msg_record rec[NODES + 1];
	uint32_t latency_us[NODES + 1]; /* 0: unreachable */
	struct ip_addr line[NODES + 1]; /* of the node, without an answer so far */
	struct ip_addr own[2], underlay[2], tcp[2];
	struct prefix connected[1];
	unsigned n_own, n_underlay, n_tcp, n_connected;
	struct rib *x;
	unsigned changes[N_RIB_CHANGES], n_refused;
	enum rib_refusal why; /* reason of the last new refusal */
};

static struct ip_addr ip(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_parse(text, &a), 0);
	return a;
}

static struct prefix prefix(const char *text)
{
	struct prefix p;

	assert_int_equal(prefix_parse(text, &p), 0);
	return p;
}

static node_id_t id_of(unsigned n)
{
	return 0x0a000000 + n;
}

static void on_change(void *arg, enum rib_change change, const struct rib_route *before,
		      const struct rib_route *now)
{
	struct world *w = arg;

	assert_true((before == NULL) == (change == RIB_ADDED));
	assert_true((now == NULL) == (change == RIB_WITHDRAWN));
	w->changes[change]++;
}

static void on_refused(void *arg, const struct rib_refused *refused)
{
	struct world *w = arg;

	w->n_refused++;
	w->why = refused->why;
}

static void step(struct world *w, int64_t at_ms)
{
	const struct rib_report report = { on_change, on_refused, w };
	struct rib_node node[NODES];
	struct rib_input in = {
		.conf = &w->conf,
		.node = node,
		.own = w->own,
		.n_own = w->n_own,
		.underlay = w->underlay,
		.n_underlay = w->n_underlay,
		.tcp = w->tcp,
		.n_tcp = w->n_tcp,
		.connected = w->connected,
		.n_connected = w->n_connected,
	};

	for (unsigned i = 1; i <= NODES; i++)
		if (w->latency_us[i])
			node[in.n_nodes++] = (struct rib_node){
				(uint16_t)i, id_of(i), w->latency_us[i], &w->rec[i], { w->line[i] }
			};
	memset(w->changes, 0, sizeof(w->changes));
	w->n_refused = 0;
	rib_run(w->x, &in, &report, MS(at_ms));
}

static struct world *world(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->x = rib_new();
	w->conf.export_next_hop = true;
	w->conf.export_threshold_percent = 10;
	w->conf.export_threshold_min_us = 500;
	w->conf.export_interval_ms = 1000;
	w->conf.import = w->rule;
	w->conf.n_overlay = 1;
	w->conf.overlay[0] = ip("10.99.0.100");
	for (unsigned i = 1; i <= NODES; i++) {
		w->rec[i].origin = id_of(i);
		w->rec[i].n_overlay = 1;
		w->rec[i].overlay[0] = ip("10.99.0.0");
		w->rec[i].overlay[0].b[3] = (uint8_t)i;
		snprintf(w->rec[i].name, sizeof(w->rec[i].name), "n%u", i);
	}
	return w;
}

static void done(struct world *w)
{
	rib_free(w->x);
	free(w);
}

static void announce(struct world *w, unsigned n, const char *text)
{
	w->rec[n].prefix[w->rec[n].n_prefixes++] = prefix(text);
}

static void accept_prefix(struct world *w, const char *text, uint8_t ge, uint8_t le)
{
	struct conf_import *r = &w->rule[w->conf.n_imports++];

	r->prefix = prefix(text);
	r->ge = ge;
	r->le = le;
}

/* Returns NULL if there is no route. */
static const struct rib_route *route(const struct world *w, const char *text)
{
	struct prefix p = prefix(text);
	unsigned n;
	const struct rib_route *list = rib_routes(w->x, &n);

	for (unsigned i = 0; i < n; i++)
		if (prefix_compare(&list[i].dst, &p) == 0)
			return &list[i];
	return NULL;
}

static unsigned n_routes(const struct world *w)
{
	unsigned n;

	rib_routes(w->x, &n);
	return n;
}

static void a_route_for_each_reachable_node(void **state)
{
	struct world *w = world();

	(void)state;
	w->latency_us[1] = 20000;
	w->latency_us[3] = 1u << 30;
	w->latency_us[4] = 0;
	step(w, 1000);
	assert_int_equal(n_routes(w), 2);
	assert_int_equal(w->changes[RIB_ADDED], 2);
	assert_int_equal(route(w, "10.99.0.1")->metric, 20000);
	assert_int_equal(route(w, "10.99.0.1")->gateway.family, 0);
	assert_int_equal(route(w, "10.99.0.3")->metric, RIB_METRIC_MAX);
	w->latency_us[1] = 0;
	step(w, 1001);
	assert_null(route(w, "10.99.0.1"));
	assert_int_equal(w->changes[RIB_WITHDRAWN], 1);
	w->conf.export_next_hop = false;
	step(w, 1002);
	assert_int_equal(n_routes(w), 0);
	done(w);
}

static void metrics_move_where_it_matters_and_rarely(void **state)
{
	struct world *w = world();

	(void)state;
	w->latency_us[1] = 20000;
	w->latency_us[2] = 1000;
	step(w, 1000);
	w->latency_us[1] = 21900; /* below 10 % */
	w->latency_us[2] = 1400;  /* below 500 us */
	step(w, 5000);
	assert_int_equal(w->changes[RIB_METRIC], 0);
	w->latency_us[1] = 22000;
	w->latency_us[2] = 500;
	step(w, 5100);
	assert_int_equal(w->changes[RIB_METRIC], 2);
	assert_int_equal(route(w, "10.99.0.1")->metric, 22000);
	assert_int_equal(route(w, "10.99.0.2")->metric, 500);
	w->latency_us[1] = 50000;
	step(w, 6099);
	assert_int_equal(route(w, "10.99.0.1")->metric, 22000);
	step(w, 6100);
	assert_int_equal(route(w, "10.99.0.1")->metric, 50000);
	done(w);
}

static void a_flapping_node_goes_at_once_and_comes_back_slowly(void **state)
{
	struct world *w = world();
	unsigned changes = 0;

	(void)state;
	for (int64_t t = 1000; t < 21000; t += 100) {
		w->latency_us[1] = t / 100 % 2 ? 20000 : 0;
		step(w, t);
		changes += w->changes[RIB_ADDED] + w->changes[RIB_WITHDRAWN];
		if (!w->latency_us[1])
			assert_null(route(w, "10.99.0.1"));
	}
	assert_in_range(changes, 10, 2 * 20);
	done(w);
}

/* Under random latencies a metric changes at most once per second. A deviation above 10 % and 500
 * us lasts no longer than that. */
static void noise_moves_no_more_than_allowed(void **state)
{
	struct world *w = world();
	uint64_t x = 88172645463325252ull;
	unsigned changes = 0;

	(void)state;
	for (int64_t t = 1000; t < 301000; t += 50) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		w->latency_us[1] = 20000 + (uint32_t)(x % 8000);
		step(w, t);
		changes += w->changes[RIB_METRIC];
	}
	assert_in_range(changes, 1, 300);
	done(w);
}

static void what_is_unsafe_is_refused(void **state)
{
	static const struct {
		const char *address;
		enum rib_refusal why;
	} cases[] = {
		{ "10.99.0.100", RIB_OWN },	 { "10.5.5.5", RIB_OWN },
		{ "10.6.6.6", RIB_UNDERLAY },	 { "169.254.1.1", RIB_UNUSABLE },
		{ "127.0.0.1", RIB_UNUSABLE },	 { "fe80::1", RIB_UNUSABLE },
		{ "::1", RIB_UNUSABLE },	 { "192.168.7.7", RIB_CONNECTED },
		{ "8.8.8.8", RIB_NOT_ACCEPTED }, { "2001:db8::1", RIB_NOT_ACCEPTED },
		{ "10.99.0.1", RIB_CONFLICT },
	};
	struct world *w = world();

	(void)state;
	w->own[w->n_own++] = ip("10.5.5.5");
	w->underlay[w->n_underlay++] = ip("10.6.6.6");
	w->connected[w->n_connected++] = prefix("192.168.7.0/24");
	w->latency_us[1] = 10000;
	w->latency_us[2] = 20000;
	for (size_t i = 0; i < array_size(cases); i++) {
		w->rec[2].overlay[0] = ip(cases[i].address);
		step(w, 1000 + (int64_t)i);
		assert_int_equal(n_routes(w), 1);
		assert_int_equal(w->n_refused, 1);
		assert_int_equal(w->why, cases[i].why);
		/* The refusal is reported once. */
		step(w, 1000 + (int64_t)i);
		assert_int_equal(w->n_refused, 0);
	}
	/* An address in the import list is accepted, unless the route would break connectivity. */
	w->conf.import_address[w->conf.n_import_addresses++] = prefix("0.0.0.0/0");
	w->rec[2].overlay[0] = ip("8.8.8.8");
	step(w, 3000);
	assert_non_null(route(w, "8.8.8.8"));
	w->rec[2].overlay[0] = ip("192.168.7.7");
	step(w, 3000);
	assert_non_null(route(w, "192.168.7.7"));
	w->rec[2].overlay[0] = ip("10.6.6.6");
	step(w, 3000);
	assert_int_equal(w->why, RIB_UNDERLAY);
	assert_int_equal(n_routes(w), 1);
	done(w);
}

static void prefixes_follow_the_rules(void **state)
{
	struct world *w = world();

	(void)state;
	w->latency_us[1] = 10000;
	w->latency_us[2] = 20000;
	announce(w, 1, "10.1.0.0/16");
	announce(w, 1, "10.1.128.0/17");
	announce(w, 2, "10.2.0.0/24");
	step(w, 1000);
	assert_int_equal(n_routes(w), 2); /* the addresses only: without a rule no prefix */
	accept_prefix(w, "10.0.0.0/8", 16, 17);
	step(w, 2000);
	assert_non_null(route(w, "10.1.0.0/16"));
	assert_non_null(route(w, "10.1.128.0/17"));
	assert_null(route(w, "10.2.0.0/24"));
	assert_true(ip_equal(&route(w, "10.1.0.0/16")->gateway, &w->rec[1].overlay[0]));
	assert_int_equal(route(w, "10.1.0.0/16")->metric, 10000);
	/* Rules match identity and node-id. The name of a node has no effect. */
	accept_prefix(w, "10.2.0.0/16", 16, 24);
	memset(w->rec[1].identity, 0x11, MSG_KEY_LEN);
	memset(w->rec[2].identity, 0x22, MSG_KEY_LEN);
	memset(w->rule[1].node[w->rule[1].n_nodes++].key, 0x11, MSG_KEY_LEN);
	step(w, 3000);
	assert_null(route(w, "10.2.0.0/24"));
	snprintf(w->rec[2].name, sizeof(w->rec[2].name), "%s", w->rec[1].name);
	step(w, 4000);
	assert_null(route(w, "10.2.0.0/24"));
	memset(w->rule[1].node[w->rule[1].n_nodes++].key, 0x22, MSG_KEY_LEN);
	step(w, 5000);
	assert_non_null(route(w, "10.2.0.0/24"));
	w->rule[1].node[1] = (struct conf_node){ .id = id_of(1) };
	step(w, 8000);
	assert_null(route(w, "10.2.0.0/24"));
	w->rule[1].node[0] = (struct conf_node){ .id = id_of(2) };
	step(w, 11000);
	assert_non_null(route(w, "10.2.0.0/24"));
	done(w);
}

static void prefixes_that_would_harm_are_refused(void **state)
{
	struct world *w = world();

	(void)state;
	accept_prefix(w, "0.0.0.0/0", 0, 32);
	accept_prefix(w, "::/0", 0, 128);
	w->latency_us[1] = 10000;
	w->underlay[w->n_underlay++] = ip("10.6.6.6");
	w->underlay[w->n_underlay++] = ip("203.0.113.9");
	announce(w, 1, "0.0.0.0/0");
	step(w, 1000);
	assert_int_equal(w->why, RIB_UNDERLAY);
	w->rec[1].prefix[0] = prefix("203.0.113.8/31");
	step(w, 1000);
	assert_int_equal(w->why, RIB_UNDERLAY);
	w->rec[1].prefix[0] = prefix("203.0.113.10/31");
	step(w, 1000);
	assert_int_equal(n_routes(w), 2);
	/* A prefix of this node too, a prefix without a gateway of its family, and a prefix that is
	 * the address of another node. */
	w->conf.prefix[w->conf.n_prefixes++] = prefix("10.7.0.0/16");
	w->rec[1].prefix[0] = prefix("10.7.0.0/16");
	step(w, 1000);
	assert_int_equal(w->why, RIB_OWN);
	w->rec[1].prefix[0] = prefix("fd00:7::/48");
	step(w, 1000);
	assert_int_equal(w->why, RIB_NO_GATEWAY);
	w->rec[1].prefix[0] = prefix("10.99.0.2/32");
	w->latency_us[2] = 90000;
	step(w, 2000);
	assert_int_equal(w->why, RIB_CONFLICT);
	assert_int_equal(route(w, "10.99.0.2")->node, id_of(2));
	w->rec[1].prefix[0] = prefix("10.99.0.100/32");
	step(w, 2000);
	assert_int_equal(w->why, RIB_OWN);
	done(w);
}

/* The proxy is in a LAN of this host, another far end of TCP is not. */
static void a_connected_network_keeps_connections_of_tcp(void **state)
{
	static const struct {
		const char *prefix;
		bool refused;
	} cases[] = {
		{ "10.0.0.0/8", false },     { "10.20.0.0/16", true },	{ "10.20.0.0/24", true },
		{ "10.20.0.5/32", true },    { "10.20.0.6/32", false }, { "203.0.113.0/24", true },
		{ "203.0.112.0/24", false }, { "0.0.0.0/0", true },
	};
	struct world *w = world();

	(void)state;
	accept_prefix(w, "0.0.0.0/0", 0, 32);
	w->latency_us[1] = 10000;
	w->connected[w->n_connected++] = prefix("10.20.0.0/16");
	w->tcp[w->n_tcp++] = ip("10.20.0.5");
	w->tcp[w->n_tcp++] = ip("203.0.113.9");
	w->rec[1].n_prefixes = 1;
	for (size_t i = 0; i < array_size(cases); i++) {
		w->rec[1].prefix[0] = prefix(cases[i].prefix);
		step(w, 1000);
		assert_int_equal(n_routes(w), cases[i].refused ? 1 : 2);
		assert_int_equal(w->n_refused, cases[i].refused);
		if (cases[i].refused)
			assert_int_equal(w->why, RIB_UNDERLAY);
	}
	/* A far end of TCP is no gateway either. */
	w->rec[1].prefix[0] = prefix("10.0.0.0/8");
	w->rec[1].overlay[0] = ip("203.0.113.9");
	step(w, 1000);
	assert_int_equal(n_routes(w), 0);
	assert_int_equal(w->n_refused, 2);
	done(w);
}

/* Node 1 cannot withdraw a route of node 2 by PINGs from a forged address. */
static void an_unproved_line_counts_for_its_own_node(void **state)
{
	struct world *w = world();

	(void)state;
	accept_prefix(w, "10.0.0.0/8", 8, 32);
	w->latency_us[1] = w->latency_us[2] = 10000;
	w->line[1] = ip("10.1.0.9");
	announce(w, 1, "10.1.0.0/16");
	announce(w, 2, "10.1.0.0/24");
	step(w, 1000);
	assert_null(route(w, "10.1.0.0/16"));
	assert_int_equal(w->n_refused, 1);
	assert_int_equal(w->why, RIB_UNDERLAY);
	assert_int_equal(route(w, "10.1.0.0/24")->node, id_of(2));
	w->rec[1].overlay[0] = w->line[1];
	step(w, 2000);
	assert_null(route(w, "10.1.0.9"));
	done(w);
}

static void the_gateway_is_the_announcers_own_address(void **state)
{
	struct world *w = world();

	(void)state;
	accept_prefix(w, "10.0.0.0/8", 8, 32);
	w->conf.export_next_hop = false;
	w->latency_us[1] = w->latency_us[2] = 10000;
	/* node 1 has that address too, and the lower node-id wins */
	w->rec[2].overlay[0] = w->rec[1].overlay[0];
	announce(w, 2, "10.2.0.0/16");
	step(w, 1000);
	assert_int_equal(w->why, RIB_NO_GATEWAY);
	w->rec[2].overlay[1] = ip("10.99.0.22");
	w->rec[2].n_overlay = 2;
	step(w, 2000);
	assert_true(ip_equal(&route(w, "10.2.0.0/16")->gateway, &w->rec[2].overlay[1]));
	assert_int_equal(n_routes(w), 1);
	done(w);
}

static void anycast_goes_to_the_nearest_and_stays(void **state)
{
	struct world *w = world();

	(void)state;
	accept_prefix(w, "10.53.0.0/24", 24, 24);
	for (unsigned i = 1; i <= 3; i++) {
		announce(w, i, "10.53.0.0/24");
		w->latency_us[i] = 10000 * i;
	}
	step(w, 1000);
	assert_int_equal(route(w, "10.53.0.0/24")->node, id_of(1));
	w->latency_us[1] = 21000; /* node 2 is nearer by a small amount */
	step(w, 5000);
	assert_int_equal(route(w, "10.53.0.0/24")->node, id_of(1));
	w->latency_us[1] = 23000;
	step(w, 6000);
	assert_int_equal(route(w, "10.53.0.0/24")->node, id_of(2));
	assert_int_equal(w->changes[RIB_MOVED], 1);
	assert_int_equal(route(w, "10.53.0.0/24")->metric, 20000);
	w->latency_us[1] = 5000;
	step(w, 6500); /* no second change within one second */
	assert_int_equal(route(w, "10.53.0.0/24")->node, id_of(2));
	w->latency_us[2] = 0; /* an unreachable node is replaced at once by the next nearest */
	w->latency_us[1] = 0;
	step(w, 6600);
	assert_int_equal(route(w, "10.53.0.0/24")->node, id_of(3));
	assert_int_equal(w->changes[RIB_WITHDRAWN], 2);
	done(w);
}

static void covered_addresses(void **state)
{
	struct world *w = world();
	struct ip_addr a = ip("10.1.2.3"), b = ip("10.99.0.1"), c = ip("10.99.0.2"),
		       d = ip("fd00::1");

	(void)state;
	accept_prefix(w, "10.1.0.0/16", 16, 16);
	accept_prefix(w, "fd00::/16", 16, 64);
	announce(w, 1, "10.1.0.0/16");
	announce(w, 1, "fd00::/64");
	w->rec[1].overlay[w->rec[1].n_overlay++] = ip("fd01::1");
	assert_false(rib_covers(w->x, &a));
	w->latency_us[1] = 10000;
	step(w, 1000);
	assert_true(rib_covers(w->x, &a));
	assert_true(rib_covers(w->x, &b));
	assert_false(rib_covers(w->x, &c));
	assert_true(rib_covers(w->x, &d));
	done(w);
}

/* --- steps of the kernel --- */

/* Applies the steps, and checks that every wanted destination always has a route. */
static unsigned carry_out(const struct world *w, struct rib_installed *have, unsigned n_have,
			  const struct rib_step *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned k = 0, same = 0;

		for (k = 0; k < n_have; k++)
			if (s[i].op == RIB_REPLACE
				    ? prefix_compare(&have[k].dst, &s[i].route.dst) == 0 &&
					      have[k].metric == s[i].route.metric
				    : rib_installed_compare(&have[k], &s[i].route) == 0)
				break;
		assert_true((k < n_have) == (s[i].op != RIB_ADD));
		if (s[i].op == RIB_ADD || s[i].op == RIB_REPLACE) {
			n_have += s[i].op == RIB_ADD;
			have[k] = s[i].route;
			continue;
		}
		have[k] = have[--n_have];
		for (unsigned j = 0; j < n_have; j++)
			same += prefix_compare(&have[j].dst, &s[i].route.dst) == 0;
		for (unsigned j = 0; j < n_routes(w); j++) {
			unsigned all;

			if (prefix_compare(&rib_routes(w->x, &all)[j].dst, &s[i].route.dst) == 0)
				assert_true(same > 0);
		}
	}
	qsort(have, n_have, sizeof(*have), rib_installed_compare);
	return n_have;
}

static void the_kernel_follows_in_order(void **state)
{
	struct rib_installed have[64];
	struct rib_step s[64];
	struct world *w = world();
	unsigned n_have = 0, n;

	(void)state;
	accept_prefix(w, "10.53.0.0/24", 24, 24);
	announce(w, 1, "10.53.0.0/24");
	announce(w, 2, "10.53.0.0/24");
	for (unsigned i = 1; i <= NODES; i++)
		w->latency_us[i] = 10000;
	step(w, 1000);
	n = rib_plan(w->x, have, n_have, MS(1000), s, array_size(s));
	assert_int_equal(n, NODES + 1);
	n_have = carry_out(w, have, n_have, s, n);
	assert_int_equal(rib_plan(w->x, have, n_have, MS(1000), s, array_size(s)), 0);

	/* Node 1 is lost: its route has an equal metric through node 2 and is replaced. Node 3 has
	 * a new metric. */
	w->latency_us[1] = 0;
	w->latency_us[3] = 30000;
	step(w, 3000);
	n = rib_plan(w->x, have, n_have, MS(3000), s, array_size(s));
	assert_int_equal(n, 4);
	assert_int_equal(s[0].op, RIB_DELETE); /* routes of the lost node first */
	assert_int_equal(s[1].op, RIB_REPLACE);
	assert_int_equal(s[2].op, RIB_ADD);
	assert_int_equal(s[3].op, RIB_DELETE);
	n_have = carry_out(w, have, n_have, s, n);
	assert_int_equal(n_have, NODES);
	assert_int_equal(rib_plan(w->x, have, n_have, MS(3000), s, array_size(s)), 0);

	/* In portions, no route is missing either. */
	for (unsigned i = 2; i <= NODES; i++)
		w->latency_us[i] = 50000;
	step(w, 9000);
	for (unsigned rounds = 0; rounds < 20; rounds++) {
		n = rib_plan(w->x, have, n_have, MS(9000), s, 1);
		n_have = carry_out(w, have, n_have, s, n);
	}
	assert_int_equal(n_have, NODES);
	assert_int_equal(rib_plan(w->x, have, n_have, MS(9000), s, array_size(s)), 0);
	done(w);
}

/* The distance is in the highest bits of the kernel metric, as FRR expects. The nearest node does
 * not change. */
static void prefixes_have_the_distance_of_imports(void **state)
{
	struct rib_installed have[64];
	struct rib_step s[64];
	struct world *w = world();
	unsigned n, n_have;

	(void)state;
	accept_prefix(w, "10.53.0.0/24", 24, 24);
	announce(w, 1, "10.53.0.0/24");
	w->conf.import_distance = 90;
	w->latency_us[1] = 10000;
	step(w, 1000);
	n = rib_plan(w->x, have, 0, MS(1000), s, array_size(s));
	assert_int_equal(n, 2);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(s[i].route.metric,
				 s[i].route.gateway.family ? (90u << 24) + 10000u : 10000u);
	n_have = carry_out(w, have, 0, s, n);
	assert_int_equal(n_have, 2);
	/* With another distance the old route is deleted first, because zebra would delete the new
	 * one with it. */
	w->conf.import_distance = 254;
	step(w, 1001);
	n = rib_plan(w->x, have, n_have, MS(1001), s, array_size(s));
	assert_int_equal(n, 1);
	assert_int_equal(s[0].op, RIB_DELETE);
	assert_int_equal(s[0].route.metric, (90u << 24) + 10000u);
	have[0] = have[rib_installed_compare(&have[0], &s[0].route) == 0];
	n = rib_plan(w->x, have, 1, MS(1001), s, array_size(s));
	assert_int_equal(n, 1);
	assert_int_equal(s[0].op, RIB_ADD);
	assert_int_equal(s[0].route.metric, (254u << 24) + 10000u);
	done(w);
}

static void what_the_kernel_refuses_is_tried_again_later(void **state)
{
	struct rib_installed have[2];
	struct rib_step s[8];
	struct world *w = world();

	(void)state;
	w->latency_us[1] = 10000;
	step(w, 1000);
	assert_int_equal(rib_plan(w->x, have, 0, MS(1000), s, 8), 1);
	have[0] = s[0].route;
	w->latency_us[1] = 20000;
	step(w, 3000);
	assert_int_equal(rib_plan(w->x, have, 1, MS(3000), s, 8), 2);
	assert_int_equal(s[0].op, RIB_ADD);
	assert_int_equal(s[1].op, RIB_DELETE);
	/* If the new route is refused, the old route stays and reaches the destination too. */
	have[1] = s[0].route;
	have[1].error = -EEXIST;
	have[1].retry_at = MS(8000);
	assert_int_equal(rib_plan(w->x, have, 2, MS(7999), s, 8), 0);
	assert_int_equal(rib_plan(w->x, have, 2, MS(8000), s, 8), 2);
	/* The refused route is no longer wanted. The kernel never had that route, so it is only
	 * forgotten. */
	w->latency_us[1] = 0;
	step(w, 8000);
	assert_int_equal(rib_plan(w->x, have, 2, MS(8000), s, 8), 2);
	assert_int_equal(s[0].op, RIB_DELETE);
	assert_int_equal(s[1].op, RIB_FORGET);
	done(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_route_for_each_reachable_node),
		cmocka_unit_test(metrics_move_where_it_matters_and_rarely),
		cmocka_unit_test(a_flapping_node_goes_at_once_and_comes_back_slowly),
		cmocka_unit_test(noise_moves_no_more_than_allowed),
		cmocka_unit_test(what_is_unsafe_is_refused),
		cmocka_unit_test(prefixes_follow_the_rules),
		cmocka_unit_test(prefixes_that_would_harm_are_refused),
		cmocka_unit_test(a_connected_network_keeps_connections_of_tcp),
		cmocka_unit_test(an_unproved_line_counts_for_its_own_node),
		cmocka_unit_test(the_gateway_is_the_announcers_own_address),
		cmocka_unit_test(anycast_goes_to_the_nearest_and_stays),
		cmocka_unit_test(covered_addresses),
		cmocka_unit_test(the_kernel_follows_in_order),
		cmocka_unit_test(prefixes_have_the_distance_of_imports),
		cmocka_unit_test(what_the_kernel_refuses_is_tried_again_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
