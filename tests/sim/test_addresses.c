// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses in the record of a node: mapped, observed by peers, and known to its host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/view.h"
#include "sim.h"

#define TESTED 1 /* node */

static struct sim *new_mesh(uint64_t seed)
{
	struct sim *s = sim_new(3, seed);

	sim_boot_all(s);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	return s;
}

/* The record at node 0. */
static const struct msg_record *record(struct sim *s)
{
	return &nodedb_find(overlay_nodes(s->node[0].o), s->node[TESTED].id)->rec;
}

static bool has(const struct msg_record *r, const struct endpoint *ep)
{
	for (unsigned i = 0; i < r->n_locators; i++)
		if (endpoint_equal(&r->locator[i], ep))
			return true;
	return false;
}

/* Private addresses, as many as a record contains, and then the address that peers see. */
static const struct msg_record *set_many(struct sim *s, unsigned n)
{
	struct endpoint many[MSG_LOCATORS_MAX + 1];

	for (unsigned i = 0; i < MSG_LOCATORS_MAX; i++)
		many[i] = (struct endpoint){ .ip = { 4, { 10, 77, 0, (uint8_t)i } }, .port = 9 };
	many[MSG_LOCATORS_MAX] = s->node[TESTED].ep;
	overlay_set_locators(s->node[TESTED].o, many, n);
	sim_run(s, 2000);
	assert_int_equal(record(s)->n_locators, MSG_LOCATORS_MAX);
	assert_true(has(record(s), &many[0]));
	return record(s);
}

/* The mapped address at a gateway is a further locator, the first one, until it is withdrawn. */
static void test_mapped_address(void **state)
{
	const struct endpoint mapped = { .ip = { 4, { 44, 0, 0, 1 } }, .port = 7000 };
	struct sim *s = new_mesh(19);
	unsigned before = record(s)->n_locators;

	(void)state;
	assert_false(record(s)->flags & RECORD_BEHIND_NAT);
	overlay_set_mapped(s->node[TESTED].o, &mapped);
	sim_run(s, 2000);
	assert_int_equal(record(s)->n_locators, before + 1);
	assert_true(record(s)->flags & RECORD_BEHIND_NAT);
	/* A host with many addresses leaves a place. */
	assert_true(endpoint_equal(&set_many(s, MSG_LOCATORS_MAX)->locator[0], &mapped));
	overlay_set_mapped(s->node[TESTED].o, NULL);
	sim_run(s, 2000);
	assert_false(has(record(s), &mapped));
	assert_false(overlay_is_observed_at(s->node[TESTED].o, &mapped.ip));
	sim_free(s);
}

/* A router with many VLANs behind a NAT. */
static void test_observed_address_of_many(void **state)
{
	struct sim *s = new_mesh(20);
	const struct msg_record *r = set_many(s, MSG_LOCATORS_MAX);

	(void)state;
	assert_true(has(r, &s->node[TESTED].ep));
	assert_true(r->flags & RECORD_BEHIND_NAT);
	sim_free(s);
}

/* Peers see an address of the host that the record would not contain. */
static void test_own_address_of_many(void **state)
{
	struct sim *s = new_mesh(21);
	const struct msg_record *r = set_many(s, MSG_LOCATORS_MAX + 1);

	(void)state;
	assert_true(has(r, &s->node[TESTED].ep));
	assert_false(r->flags & RECORD_BEHIND_NAT);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapped_address),
		cmocka_unit_test(test_observed_address_of_many),
		cmocka_unit_test(test_own_address_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
