// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multicast groups of the LAN (state/tables/groups) on virtual time: queriers, expiry, leaves,
 * routers, limits. Sets of groups of other nodes (state/tables/listeners).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "state/tables/groups.h"
#include "state/tables/listeners.h"
#include "wire/frame/mcast.h"

#define RESPONSE_MS 10000
#define VLAN	    10
#define LIST	    listener_entry(VLAN, 4, 0)

static struct groups *g;
static mono_t now;
static uint64_t entry[LISTENERS_MAX];

static int setup(void **state)
{
	(void)state;
	g = groups_new();
	now = (mono_t){ 1000 * NS_PER_S };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	groups_free(g);
	return 0;
}

static struct ip_addr group(unsigned n)
{
	return (struct ip_addr){ 4, { 239, 1, (uint8_t)(n >> 8), (uint8_t)n } };
}

static uint64_t entry_of(unsigned n)
{
	return listener_entry(VLAN, 4, 0xef010000u + n);
}

static void query(bool on_lan)
{
	const struct groups_query q = { .source = { 4, { 10, 0, 0, 1 } },
					.on_lan = on_lan,
					.response_ms = RESPONSE_MS };

	groups_query(g, VLAN, 4, &q, now);
}

static void query_group(unsigned n, bool keeps_timer)
{
	const struct groups_query q = { .source = { 4, { 10, 0, 0, 1 } },
					.group = group(n),
					.keeps_timer = keeps_timer,
					.response_ms = 1000 };

	groups_query(g, VLAN, 4, &q, now);
}

static void join(unsigned n)
{
	const struct ip_addr ip = group(n);

	groups_join(g, VLAN, &ip, now);
}

static void pass_s(int64_t s)
{
	for (; s > 0; s--) {
		now = mono_add_ms(now, 1000);
		groups_expire(g, now);
	}
}

static unsigned announced(void)
{
	return groups_announced(g, NULL, now, entry, LISTENERS_MAX);
}

static enum groups_state state_now(void)
{
	uint32_t i = 0;
	const struct groups_domain *d = groups_next(g, &i);

	assert_non_null(d);
	return groups_state(d, now);
}

/* The hosts have answered two queries. */
static void known(void)
{
	query(false);
	pass_s(125);
	query(false);
	pass_s(11);
	assert_int_equal(state_now(), GROUPS_KNOWN);
}

static void known_after_two_answered_queries(void **state)
{
	(void)state;
	join(1);
	assert_int_equal(state_now(), GROUPS_NO_QUERIER);
	assert_int_equal(announced(), 0);
	query(false);
	assert_int_equal(state_now(), GROUPS_LEARNING);
	/* A second query within the response time of the first may have the same answers. */
	pass_s(5);
	query(false);
	pass_s(100);
	assert_int_equal(state_now(), GROUPS_LEARNING);
	query(false);
	pass_s(10);
	assert_int_equal(announced(), 0);
	pass_s(1);
	assert_int_equal(announced(), 2);
	assert_int_equal(entry[0], LIST);
	assert_int_equal(entry[1], entry_of(1));
	/* Later queries change nothing. */
	query(false);
	assert_int_equal(announced(), 2);
	join(3);
	join(2);
	assert_int_equal(announced(), 4);
	assert_int_equal(entry[2], entry_of(2));
}

static void no_querier_no_limits(void **state)
{
	const struct groups_query proxy = { .source = { 4, { 0 } }, .response_ms = RESPONSE_MS };

	(void)state;
	known();
	pass_s(243);
	assert_int_equal(state_now(), GROUPS_KNOWN);
	pass_s(1); /* 255 s after the last query */
	assert_int_equal(state_now(), GROUPS_NO_QUERIER);
	assert_int_equal(announced(), 0);
	/* A querier without an address does not count (RFC 4541). */
	groups_query(g, VLAN, 4, &proxy, now);
	assert_int_equal(state_now(), GROUPS_NO_QUERIER);
	/* The next querier begins again. */
	query(false);
	assert_int_equal(state_now(), GROUPS_LEARNING);
}

static void groups_expire_without_reports(void **state)
{
	(void)state;
	known();
	join(1);
	for (unsigned i = 0; i < 2; i++) {
		pass_s(125);
		query(false);
		assert_int_equal(announced(), 2);
	}
	pass_s(9);
	assert_int_equal(announced(), 2);
	pass_s(1); /* 260 s after the report */
	assert_int_equal(announced(), 1);
	assert_int_equal(entry[0], LIST);
}

/* RFC 3376 section 8: longer intervals of a querier that states them. */
static void intervals_of_the_querier(void **state)
{
	const struct groups_query slow = { .source = { 4, { 10, 0, 0, 1 } },
					   .response_ms = RESPONSE_MS,
					   .lifetime_ms = 1000000 };

	(void)state;
	known();
	groups_query(g, VLAN, 4, &slow, now);
	join(1);
	pass_s(900);
	assert_int_equal(state_now(), GROUPS_KNOWN);
	assert_int_equal(announced(), 2);
	pass_s(95);
	assert_int_equal(state_now(), GROUPS_NO_QUERIER);
}

/* A forged query can state 62 hours. */
static void no_query_lasts_for_hours(void **state)
{
	const struct groups_query forged = { .source = { 4, { 10, 0, 0, 9 } },
					     .response_ms = 100,
					     .lifetime_ms = 222208000 };

	(void)state;
	known();
	for (unsigned i = 0; i < 2; i++) {
		groups_query(g, VLAN, 4, &forged, now);
		pass_s(2);
	}
	assert_false(groups_query_due(g, VLAN, 4, now));
	pass_s(1800);
	assert_int_equal(state_now(), GROUPS_NO_QUERIER);
	assert_true(groups_query_due(g, VLAN, 4, now));
}

static void leaving(void **state)
{
	(void)state;
	known();
	join(1);
	join(2);
	query_group(1, true); /* a query for sources, or with flag S */
	pass_s(10);
	assert_int_equal(announced(), 3);
	query_group(1, false);
	query_group(7, false); /* unknown */
	pass_s(1);
	query_group(1, false);
	pass_s(1);
	assert_int_equal(announced(), 3);
	pass_s(1); /* two response times and a second after the first query */
	assert_int_equal(announced(), 2);
	assert_int_equal(entry[1], entry_of(2));
	/* Another host still listens. */
	query_group(2, false);
	pass_s(1);
	join(2);
	pass_s(100);
	assert_int_equal(announced(), 2);
}

/* Workers report the join once, and not the answer 20 ms later. */
static void query_at_once_after_a_join(void **state)
{
	(void)state;
	known();
	join(1);
	now = mono_add_ms(now, 50);
	query_group(1, false);
	pass_s(10);
	assert_int_equal(announced(), 2);
	/* The next query of the querier has its effect. */
	join(1);
	now = mono_add_ms(now, 50);
	query_group(1, false);
	pass_s(1);
	query_group(1, false);
	pass_s(3);
	assert_int_equal(announced(), 1);
}

static void routers_receive_all(void **state)
{
	const struct ip_addr pim = { 4, { 10, 0, 0, 9 } };

	(void)state;
	known();
	join(1);
	assert_int_equal(announced(), 2);
	query(true);
	assert_int_equal(state_now(), GROUPS_ROUTER);
	assert_int_equal(announced(), 0);
	/* The router is gone. The hosts must answer again, because reports of other sites may have
	 * suppressed theirs. */
	for (unsigned i = 0; i < 2; i++) {
		pass_s(125);
		query(false);
	}
	pass_s(6);
	assert_int_equal(state_now(), GROUPS_LEARNING);
	query(false);
	pass_s(12);
	query(false);
	pass_s(11);
	assert_int_equal(state_now(), GROUPS_KNOWN);
	groups_router(g, VLAN, &pim, true, now);
	assert_int_equal(state_now(), GROUPS_ROUTER);
	/* The router is at another site: the forwarder of the LAN delivered the first message. */
	groups_router(g, VLAN, &pim, false, now);
	assert_int_equal(state_now(), GROUPS_LEARNING);
	query(true);
	query(false);
	assert_int_equal(state_now(), GROUPS_LEARNING);
}

static void relearning(void **state)
{
	struct vlan_set vlans = { 0 };

	(void)state;
	known();
	join(1);
	vlan_set_add(&vlans, VLAN + 1);
	groups_relearn(g, &vlans);
	assert_int_equal(announced(), 2);
	vlan_set_add(&vlans, VLAN);
	groups_relearn(g, &vlans);
	assert_int_equal(state_now(), GROUPS_LEARNING);
	query(false);
	pass_s(11);
	query(false);
	pass_s(11);
	assert_int_equal(announced(), 2);
	groups_relearn(g, NULL);
	assert_int_equal(announced(), 0);
}

/* Runs the querier of this node for some seconds. Returns the number of general queries. */
static unsigned querier_s(int64_t s)
{
	unsigned n = 0;

	for (; s > 0; s--) {
		n += groups_query_due(g, VLAN, 4, now);
		pass_s(1);
	}
	return n;
}

static void own_querier(void **state)
{
	const struct groups_query of_neighbor = { .source = *mcast_querier(4),
						  .on_lan = true,
						  .response_ms = RESPONSE_MS };

	(void)state;
	join(1);
	/* Two queries in 31 s, then one in 125 s. */
	assert_int_equal(querier_s(31), 1);
	assert_int_equal(querier_s(1), 0);
	assert_int_equal(querier_s(1), 1);
	assert_int_equal(querier_s(11), 0);
	assert_int_equal(state_now(), GROUPS_KNOWN);
	assert_int_equal(querier_s(113), 0);
	assert_int_equal(querier_s(2), 1);
	/* The querier of another node of the LAN is no router. */
	groups_query(g, VLAN, 4, &of_neighbor, now);
	assert_int_equal(state_now(), GROUPS_KNOWN);
	/* A router at another site, or with a lower address on the LAN, silences it for 255 s. */
	query(false);
	assert_int_equal(querier_s(255), 0);
	assert_int_equal(querier_s(3), 1);
	/* Moved hosts are queried at once. */
	groups_relearn(g, NULL);
	assert_int_equal(querier_s(1), 1);
	assert_int_equal(querier_s(43), 1);
	assert_int_equal(state_now(), GROUPS_KNOWN);
}

/* A port that comes up voids nothing. */
static void own_querier_queries_new_hosts(void **state)
{
	(void)state;
	join(1);
	assert_int_equal(querier_s(1), 1);
	groups_query_soon(g); /* the second query must not be within the first response time */
	assert_int_equal(querier_s(31), 0);
	assert_int_equal(querier_s(12), 1);
	assert_int_equal(announced(), 2);
	groups_query_soon(g);
	assert_int_equal(announced(), 2);
	assert_int_equal(querier_s(1), 1);
	assert_int_equal(querier_s(124), 0);
	assert_int_equal(querier_s(1), 1);
	/* Another querier is active. */
	query(false);
	assert_int_equal(querier_s(1), 0);
	groups_query_soon(g);
	assert_int_equal(querier_s(1), 0);
}

static void a_higher_address_on_the_lan_gives_way(void **state)
{
	const struct groups_query higher = { .source = { 4, { 198, 51, 100, 1 } },
					     .on_lan = true,
					     .response_ms = RESPONSE_MS };

	(void)state;
	groups_query(g, VLAN, 4, &higher, now);
	assert_int_equal(querier_s(1), 1);
	assert_int_equal(state_now(), GROUPS_ROUTER);
}

static unsigned n_asked;

static void count_ask(void *arg, uint16_t vlan, const struct ip_addr *ip)
{
	const struct ip_addr wanted = group(1);

	(void)arg;
	assert_int_equal(vlan, VLAN);
	assert_true(ip_equal(ip, &wanted));
	n_asked++;
}

static void leave(unsigned n)
{
	const struct ip_addr ip = group(n);

	groups_left(g, VLAN, &ip, now);
}

static void own_querier_asks_for_left_groups(void **state)
{
	(void)state;
	n_asked = 0;
	join(1);
	join(2);
	leave(1); /* no query so far, so another querier may be here */
	groups_ask(g, now, count_ask, NULL);
	assert_int_equal(n_asked, 0);
	querier_s(44);
	leave(1);
	leave(3);
	for (unsigned i = 0; i < 3; i++) {
		groups_ask(g, now, count_ask, NULL);
		leave(1);
		pass_s(1);
	}
	assert_int_equal(n_asked, 2);
	assert_int_equal(announced(), 2);
	assert_int_equal(entry[1], entry_of(2));
	/* Another host answers. */
	join(1);
	leave(1);
	for (unsigned i = 0; i < 3; i++) {
		groups_ask(g, now, count_ask, NULL);
		join(1);
		pass_s(1);
	}
	pass_s(100);
	assert_int_equal(announced(), 3);
	/* The answer to the first query ends the queries, because a second answer may be lost. */
	n_asked = 0;
	leave(1);
	groups_ask(g, now, count_ask, NULL);
	now = mono_add_ms(now, 400);
	join(1);
	now = mono_add_ms(now, 600);
	groups_ask(g, now, count_ask, NULL);
	pass_s(10);
	assert_int_equal(announced(), 3);
	assert_int_equal(n_asked, 1);
	/* Another querier sends its own queries. */
	query(false);
	n_asked = 0;
	leave(2);
	groups_ask(g, now, count_ask, NULL);
	assert_int_equal(n_asked, 0);
}

static void limits(void **state)
{
	(void)state;
	known();
	for (unsigned i = 0; i < GROUPS_PER_DOMAIN; i++)
		join(i * 7919 % 65521);
	assert_int_equal(announced(), GROUPS_PER_DOMAIN + 1);
	/* A list that does not fit is left out. */
	assert_int_equal(groups_announced(g, NULL, now, entry, GROUPS_PER_DOMAIN), 0);
	join(65535);
	assert_int_equal(state_now(), GROUPS_FULL);
	assert_int_equal(announced(), 0);
	/* The limit counts until the refused groups have expired. */
	pass_s(125);
	query(false);
	pass_s(125);
	query(false);
	pass_s(10);
	assert_int_equal(state_now(), GROUPS_KNOWN);
	assert_int_equal(announced(), 1);
}

static void all_vlans_together_have_a_limit(void **state)
{
	uint32_t iter = 0, n = 0;
	const struct groups_domain *d;

	(void)state;
	for (uint16_t vlan = 0; vlan < 6; vlan++)
		for (unsigned i = 0; i < GROUPS_PER_DOMAIN; i++) {
			const struct ip_addr ip = group(i);

			groups_join(g, vlan, &ip, now);
		}
	while ((d = groups_next(g, &iter)))
		n += d->n;
	assert_int_equal(n, GROUPS_MAX);
}

static void link_local_groups_are_not_listed(void **state)
{
	const struct ip_addr all_hosts = { 4, { 224, 0, 0, 251 } },
			     solicited = { 6, { 0xff, 2, [11] = 1, 0xff, 1, 2, 3 } };

	(void)state;
	known();
	groups_join(g, VLAN, &all_hosts, now);
	groups_join(g, VLAN, &solicited, now);
	assert_int_equal(announced(), 1);
}

/* Nodes announce segments of the overlay, not the VLANs of their LAN. */
static void segments(void **state)
{
	const struct segment mapped = { .vlan = VLAN, .id = 70010 };
	struct segments *map = segments_new(&mapped, 1);

	(void)state;
	known();
	join(1);
	assert_int_equal(groups_announced(g, map, now, entry, LISTENERS_MAX), 2);
	assert_int_equal(entry[0], listener_entry(70010, 4, 0));
	assert_int_equal(entry[1], listener_entry(70010, 4, 0xef010001));
	segments_free(map);
}

static void sets_of_other_nodes(void **state)
{
	const uint64_t of_one[] = { listener_entry(10, 4, 0), listener_entry(10, 4, 0xef010101),
				    listener_entry(10, 6, 0), listener_entry(70010, 4, 0) };
	struct listeners *l = listeners_new(4);
	const uint64_t *entries;
	unsigned n;

	(void)state;
	assert_true(listeners_want(l, 1, listener_entry(10, 4, 0x010101)));
	assert_null(listeners_replace(l, 1, listener_set_new(of_one, 4)));
	assert_true(listeners_want(l, 1, listener_entry(10, 4, 0x010101)));
	assert_false(listeners_want(l, 1, listener_entry(10, 4, 0x010102)));
	assert_false(listeners_want(l, 1, listener_entry(10, 6, 0x010101)));
	assert_false(listeners_want(l, 1, listener_entry(70010, 4, 0x010101)));
	/* Segments and families without a list, other nodes. */
	assert_true(listeners_want(l, 1, listener_entry(11, 4, 0x010102)));
	assert_true(listeners_want(l, 1, listener_entry(70010, 6, 0x010102)));
	assert_true(listeners_want(l, 2, listener_entry(10, 4, 0x010102)));
	assert_true(listeners_want(l, 99, listener_entry(10, 4, 0x010102)));
	entries = listener_set_entries(listeners_of(l, 1), &n);
	assert_int_equal(n, 4);
	assert_memory_equal(entries, of_one, sizeof(of_one));
	listener_set_free(listeners_replace(l, 1, NULL));
	assert_true(listeners_want(l, 1, listener_entry(10, 4, 0x010102)));
	listeners_set_withholds(l, 4095, 6, true);
	assert_true(listeners_withholds(l, 4095, 6));
	assert_false(listeners_withholds(l, 4095, 4));
	listeners_set_withholds(l, 4095, 6, false);
	assert_false(listeners_withholds(l, 4095, 6));
	assert_null(listeners_replace(l, 3, listener_set_new(NULL, 0)));
	assert_true(listeners_want(l, 3, listener_entry(10, 4, 1)));
	listeners_free(l);
	listeners_free(NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(known_after_two_answered_queries),
		TEST(no_querier_no_limits),
		TEST(groups_expire_without_reports),
		TEST(intervals_of_the_querier),
		TEST(no_query_lasts_for_hours),
		TEST(leaving),
		TEST(query_at_once_after_a_join),
		TEST(routers_receive_all),
		TEST(relearning),
		TEST(own_querier),
		TEST(own_querier_queries_new_hosts),
		TEST(a_higher_address_on_the_lan_gives_way),
		TEST(own_querier_asks_for_left_groups),
		TEST(limits),
		TEST(all_vlans_together_have_a_limit),
		TEST(link_local_groups_are_not_listed),
		TEST(segments),
		TEST(sets_of_other_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
