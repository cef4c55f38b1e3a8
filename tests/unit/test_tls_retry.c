// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/transport: the next attempt of a connection over TLS after a failure, and after a reload
 * that corrects the reason. Addresses of the proxy and of UDP. The linker replaces resolver,
 * leon-tls and the protocol (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "daemon/life/life.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "daemon/underlay/underlay.h"
#include "io/tap.h"
#include "io/tcp_socket.h"
#include "io/udp.h"
#include "proto/overlay.h"
#include "proto/overlay_seeds.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/tables/nodedb.h"

#define PROXY_PORT 3128
#define LONG_S	   600 /* longer than each wait */

static struct states states;
static struct tap tap = { .n_queues = 1 };
static struct udp udp;
static struct conf_peer peer;
static struct leond d;

/* --- replaced functions --- */

static unsigned dials, requests;
static unsigned reached; /* bit of the last byte of each address of the proxy */
static uint64_t requested_id;
static struct overlay_link link;
static struct overlay_seed addresses;
static unsigned offered; /* bit of the last byte of each endpoint */
static bool can_dial;	 /* a connection begins */
static uint32_t dialed;
static streams_changed_fn on_changed;
static loop_fd_fn on_resolved;
static void *resolved_arg;
static struct resolve_answer answer;
static bool has_answer;

#define REPLACED(type, name, ...)                                                                  \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

extern uint32_t __real_streams_dial(struct leond *to, const struct conf_peer *p,
				    const struct ip_addr *ip, unsigned turn,
				    char reason[STREAM_REASON_LEN]);
REPLACED(uint32_t, streams_dial, struct leond *to, const struct conf_peer *p,
	 const struct ip_addr *ip, unsigned turn, char reason[STREAM_REASON_LEN])
{
	dials++;
	if (to->states->streams)
		return __real_streams_dial(to, p, ip, turn, reason);
	snprintf(reason, STREAM_REASON_LEN, "%s", can_dial ? "" : "not possible");
	return can_dial ? ++dialed : 0;
}

REPLACED(int, tcp_connect, const struct tcp_config *c, const struct endpoint *to)
{
	(void)c;
	assert_int_equal(to->port, PROXY_PORT);
	reached |= 1u << to->ip.b[3];
	return -ECONNREFUSED;
}

REPLACED(int, udp_open, struct udp *u, const struct udp_config *c)
{
	(void)u;
	(void)c;
	return 0;
}

REPLACED(void, streams_set_watcher, struct leond *to, streams_changed_fn fn)
{
	(void)to;
	on_changed = fn;
}

REPLACED(bool, overlay_seed, struct overlay *o, unsigned index, struct overlay_seed *out)
{
	(void)o;
	(void)index;
	*out = addresses;
	return true;
}

REPLACED(struct nodedb *, overlay_nodes, struct overlay *o)
{
	(void)o;
	return NULL;
}

REPLACED(struct node *, nodedb_find, struct nodedb *db, node_id_t id)
{
	static struct node n;

	(void)db;
	(void)id;
	return &n;
}

REPLACED(bool, overlay_link, const struct overlay *o, uint16_t slot, struct overlay_link *out)
{
	(void)o;
	(void)slot;
	*out = link;
	return true;
}

REPLACED(void, overlay_offer_endpoint, struct overlay *o, node_id_t node, const struct endpoint *ep)
{
	(void)o;
	(void)node;
	offered |= 1u << ep->ip.b[3];
}

REPLACED(void, seeds_set_stream, struct leond *to, uint32_t i, const struct endpoint *stream)
{
	(void)to;
	(void)i;
	(void)stream;
}

REPLACED(int, child_start, struct child *c, struct loop *l, const struct child_program *p)
{
	(void)p;
	c->start_at = mono_add_ms(loop_now(l), LONG_S * 1000);
	return -ENOENT;
}

REPLACED(int, loop_fd_add, struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg)
{
	(void)l;
	(void)fd;
	(void)events;
	on_resolved = fn;
	resolved_arg = arg;
	return 0;
}

REPLACED(int, resolver_open, void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

REPLACED(bool, resolver_request, int r, uint64_t id, const char *host, uint16_t port)
{
	(void)r;
	(void)host;
	(void)port;
	requested_id = id;
	requests++;
	return true;
}

REPLACED(bool, resolver_next, int r, struct resolve_answer *out)
{
	bool had = has_answer;

	(void)r;
	*out = answer;
	has_answer = false;
	return had;
}

/* --- one node with one peer --- */

static int setup(void **state)
{
	(void)state;
	states = (struct states){ 0 };
	udp = (struct udp){ .fd4 = { -1 }, .fd6 = { -1 } };
	peer = (struct conf_peer){ .name = "n0", .host = "198.51.100.1", .tls_port = 443 };
	d = (struct leond){ .loop = loop_sim_new(),
			    .conf = calloc(1, sizeof(struct conf)),
			    .states = &states,
			    .tap = &tap,
			    .udp = &udp };
	d.conf->transport_tls = true;
	d.conf->peer = &peer;
	d.conf->n_peers = d.conf->n_configured_peers = 1;
	dials = requests = dialed = reached = offered = 0;
	addresses = (struct overlay_seed){ .n = 1 };
	addresses.address[0].ep = (struct endpoint){ { 4, { 198, 51, 100, 1 } }, 4000, 0 };
	can_dial = has_answer = false;
	on_changed = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fallback_stop(&d);
	streams_stop(&d);
	leond_release(&d);
	loop_free(d.loop);
	free(d.conf);
	return 0;
}

/* Seconds of the daemon. Each connection that began is refused in the same second. */
static void pass(unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		loop_sim_run_until(d.loop, mono_add_ms(loop_now(d.loop), 1000));
		streams_second(&d, loop_now(d.loop));
		if (on_changed && dialed)
			on_changed(&d, dialed, NULL, "the proxy answers 407");
	}
}

static unsigned dials_of(unsigned seconds)
{
	unsigned before = dials;

	pass(seconds);
	return dials - before;
}

static void start_dialing(bool possible)
{
	can_dial = possible;
	fallback_start(&d);
	fallback_apply_conf(&d);
	pass(LONG_S);
}

static void refused_connections_are_tried_less_often(void **state)
{
	(void)state;
	start_dialing(true);
	assert_in_range(dials_of(LONG_S), LONG_S / 60 - 1, LONG_S / 60 + 1);
}

/* Examples: the login of the proxy, and its address. */
static void a_reload_of_the_transport_dials_at_once(void **state)
{
	(void)state;
	start_dialing(true);
	modules_apply(&d, CONF_TRANSPORT);
	assert_true(dials_of(2) >= 1);
	/* The waits are short again. */
	assert_in_range(dials_of(LONG_S), LONG_S / 60, LONG_S / 60 + 7);
}

/* Nothing was sent, so the reason is on this host: no route, or no address of the proxy yet. */
static void an_attempt_that_cannot_begin_is_repeated_soon(void **state)
{
	(void)state;
	start_dialing(false);
	can_dial = true;
	assert_true(dials_of(2) >= 1);
}

/* --- the name of the proxy --- */

static void name_proxy(void)
{
	snprintf(d.conf->proxy.host, sizeof(d.conf->proxy.host), "proxy.example");
	d.conf->proxy.ep.port = PROXY_PORT;
	udp.fd4[0] = 0;
	streams_open(&d);
	streams_start(&d);
	assert_int_equal(requests, 1);
}

/* The resolver answers the last request with 203.0.113.0 to n - 1. */
static void resolves_to(unsigned n)
{
	answer = (struct resolve_answer){ .id = requested_id, .n = n };
	for (uint8_t i = 0; i < n; i++)
		answer.ep[i] = (struct endpoint){ { 4, { 203, 0, 113, i } }, PROXY_PORT, 0 };
	snprintf(answer.error, sizeof(answer.error), "%s", n ? "" : "no such name");
	has_answer = true;
	on_resolved(resolved_arg, -1, 0);
}

static unsigned requests_of(unsigned seconds)
{
	unsigned before = requests;

	pass(seconds);
	return requests - before;
}

static void a_name_that_fails_is_asked_again_soon(void **state)
{
	(void)state;
	name_proxy();
	/* No second request before the answer. */
	assert_int_equal(requests_of(10), 0);
	for (unsigned i = 0; i < 3; i++) {
		resolves_to(0);
		assert_int_equal(requests_of(6), 1);
	}
	resolves_to(1);
	assert_int_equal(requests_of(50), 0);
	assert_int_equal(requests_of(10), 1);
}

static void each_address_of_the_proxy_is_tried(void **state)
{
	(void)state;
	name_proxy();
	resolves_to(3);
	start_dialing(true);
	assert_int_equal(reached, 7);
}

/* source-address has no IPv4 address. */
static void an_unused_family_is_not_tried(void **state)
{
	(void)state;
	name_proxy();
	udp.fd4[0] = -1;
	resolves_to(3);
	start_dialing(true);
	assert_int_equal(reached, 0);
}

static void an_answer_about_the_former_proxy_is_ignored(void **state)
{
	(void)state;
	name_proxy();
	start_dialing(true);
	modules_apply(&d, CONF_TRANSPORT);
	resolves_to(1);
	pass(LONG_S);
	assert_int_equal(reached, 0);
	/* The answer to the request after the reload. */
	resolves_to(1);
	pass(LONG_S);
	assert_int_equal(reached, 1);
}

/* --- a link over TLS --- */

/* The peer has n addresses of UDP, then the stream in use. UDP worked at 198.51.100.0 before. */
static unsigned offers_of(unsigned n, bool backup)
{
	struct endpoint stream = { { IP_STREAM, { IP_STREAM_NET, 1, 9 } }, 4000, 0 };
	struct endpoint udp_ep = { { 4, { 198, 51, 100, 0 } }, 4000, 0 };

	link = (struct overlay_link){ .up = true, .ep = stream };
	if (backup)
		link.backup = udp_ep;
	addresses = (struct overlay_seed){ .reached = true, .n = n + 1 };
	for (unsigned i = 0; i < n; i++) {
		udp_ep.ip.b[3]++;
		addresses.address[i].ep = udp_ep;
	}
	addresses.address[n].ep = stream;
	offered = 0;
	pass(20);
	return offered;
}

static void each_address_of_udp_is_tried(void **state)
{
	(void)state;
	fallback_start(&d);
	fallback_apply_conf(&d);
	for (unsigned n = 1; n < SEED_ENDPOINTS; n++) {
		assert_int_equal(offers_of(n, true), (2u << n) - 1);
		assert_int_equal(offers_of(n, false), (2u << n) - 2);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(refused_connections_are_tried_less_often),
		T(a_reload_of_the_transport_dials_at_once),
		T(an_attempt_that_cannot_begin_is_repeated_soon),
		T(a_name_that_fails_is_asked_again_soon),
		T(each_address_of_the_proxy_is_tried),
		T(an_unused_family_is_not_tried),
		T(an_answer_about_the_former_proxy_is_ignored),
		T(each_address_of_udp_is_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
