// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members that lie (design.md section 7): about others, about themselves, about their links, and in
 * another's name; and operators who make a machine anew, which must not look like that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "hostile.h"

static void tell(struct sim *s, unsigned liar, unsigned to, const struct msg *m)
{
	struct peer *p = peer_find(s->node[liar].o, s->node[to].id);

	assert_int_equal(peer_send(s->node[liar].o, p, m), 0);
	sim_run(s, 100);
}

static void test_notice_about_others_links(void **state)
{
	struct wire w;
	struct sim *s;
	unsigned hop[LEON_HOPS_MAX];
	struct msg m = { .type = MSG_NOTICE };

	(void)state;
	s = sim_new(5, 9);
	memset(&w, 0, sizeof(w));
	sim_set_rtt(s, 0, 1, 150000); /* over 2 in use */
	sim_set_rtt(s, 0, 2, 10000);
	sim_set_rtt(s, 2, 1, 10000);
	sim_set_rtt(s, 0, 3, 60000);
	for (unsigned i = 0; i < 5; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 30000);
	assert_int_equal(sim_path(s, 0, 1, hop), 2);
	assert_int_equal(hop[0], 2);
	m.notice.next = s->node[1].id;
	m.notice.destination = s->node[1].id;
	tell(s, 3, 0, &m); /* 3 is on no path of 0 to 1 */
	m.notice.next = s->node[2].id;
	tell(s, 1, 0, &m); /* 1 is the destination, not a relay */
	m.notice.next = s->node[4].id;
	tell(s, 2, 0, &m); /* 2 relays, but not to 4 */
	m.notice.next = s->node[0].id;
	tell(s, 2, 0, &m); /* its link to us is ours to judge */
	assert_int_equal(s->node[0].n_events[EV_NOTICE], 0);
	assert_int_equal(sim_path(s, 0, 1, hop), 2);
	assert_int_equal(hop[0], 2);
	sim_free(s);
}

static void test_lies_about_others(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 10, &w);
	struct msg m = { .type = MSG_RECORD };
	struct node *n = nodedb_find(overlay_nodes(s->node[0].o), s->node[1].id);
	const struct overlay_counters *at0 = overlay_counters(s->node[0].o);
	uint32_t seq;

	(void)state;
	/* "1 has left": 0 hears from 1 and knows better. */
	m.record = n->rec;
	m.record.seq += 1;
	m.record.flags |= RECORD_LEFT;
	tell(s, 3, 0, &m);
	assert_int_equal(s->node[0].n_events[EV_LEFT], 0);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	/* "All links of 1 are down." */
	m = (struct msg){ .type = MSG_ROW };
	m.row.origin = s->node[1].id;
	m.row.incarnation = n->rec.incarnation;
	m.row.seq = latdb_row_seq(overlay_latdb(s->node[0].o), n->slot) + 10;
	m.row.parts = 1;
	m.row.n = 1;
	m.row.entry[0].node = s->node[2].id;
	tell(s, 3, 0, &m);
	assert_true(latdb_get(overlay_latdb(s->node[0].o), n->slot, sim_slot(s, 0, 2)).up);
	assert_int_equal(at0->rx_foreign_rows, 1);
	/* "1 is somewhere else": nobody but 1 can sign that. */
	m = (struct msg){ .type = MSG_RECORD, .record = n->rec };
	m.record.seq += 7;
	m.record.n_locators = 0;
	tell(s, 3, 0, &m);
	assert_int_equal(at0->rx_bad_signature, 1);
	/* Signed by the liar itself, but in the name of 1. */
	memcpy(m.record.identity, s->node[3].o->identity.public, MSG_KEY_LEN);
	tell(s, 3, 0, &m);
	assert_int_equal(at0->rx_other_identity, 1);
	assert_int_equal(n->rec.n_locators, 1);
	assert_int_equal(s->node[0].n_events[EV_DUPLICATE_ID], 1);
	/* "0 itself says something else": to 1, and to 0. */
	n = nodedb_at(overlay_nodes(s->node[0].o), SLOT_SELF);
	seq = n->rec.seq;
	m = (struct msg){ .type = MSG_RECORD, .record = n->rec };
	m.record.seq += 5;
	m.record.n_locators = 0;
	tell(s, 3, 1, &m);
	tell(s, 3, 0, &m);
	sim_run(s, 5000);
	assert_true(sim_converged(s, NULL));
	assert_int_equal(n->rec.seq, seq);
	assert_int_equal(nodedb_find(overlay_nodes(s->node[1].o), s->node[0].id)->rec.n_locators,
			 1);
	done(s, &w);
}

/* Whole row of a node as the others have it, with one link far too fast, and far ahead of the true
 * ones, so that they do not replace it. */
static void lie_about_a_link(struct sim *s, unsigned liar, unsigned other, uint32_t rtt_us)
{
	const struct node *self = nodedb_at(overlay_nodes(s->node[liar].o), SLOT_SELF);
	const struct latdb *lat = overlay_latdb(s->node[liar].o);
	struct msg m = { .type = MSG_ROW };

	m.row.origin = s->node[liar].id;
	m.row.incarnation = self->rec.incarnation;
	m.row.seq = latdb_row_seq(lat, SLOT_SELF) + 100000;
	m.row.parts = 1;
	for (unsigned i = 0; i < s->n; i++) {
		struct lat_entry e = latdb_get(lat, SLOT_SELF, sim_slot(s, liar, i));

		if (i != liar)
			m.row.entry[m.row.n++] = (struct row_entry){
				s->node[i].id, true, i == other ? rtt_us : e.rtt_us, 100, 0,
				e.mtu,	       false
			};
	}
	for (unsigned i = 0; i < s->n; i++)
		if (i != liar)
			tell(s, liar, i, &m);
}

/* 2 says that its link to 1 is fast, so that 0 sends through 2 what is for 1. */
static void test_lying_relay(void **state)
{
	struct sim *s = sim_new(4, 14);
	unsigned hop[LEON_HOPS_MAX];
	uint64_t rtt;

	(void)state;
	sim_set_rtt(s, 0, 1, 80000);
	sim_set_rtt(s, 0, 2, 10000);
	sim_set_rtt(s, 2, 1, 100000);
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_set_rtt(s, i, 3, i == 3 ? 0 : 300000);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 30000);
	assert_int_equal(sim_path(s, 0, 1, hop), 1);
	assert_int_equal(sim_events(s, EV_CONTRADICTION), 0);
	lie_about_a_link(s, 2, 1, 1000);
	sim_run(s, 60000);
	/* The lie is in the database, is not followed, and is said by all who can see it. */
	rtt = latdb_get(overlay_latdb(s->node[0].o), sim_slot(s, 0, 2), sim_slot(s, 0, 1)).rtt_us;
	assert_int_equal(rtt, 1000);
	assert_int_equal(sim_path(s, 0, 1, hop), 1);
	for (unsigned i = 0; i < s->n; i++) {
		assert_int_equal(s->node[i].n_events[EV_CONTRADICTION], i != 2);
		assert_int_equal(overlay_is_suspect(s->node[i].o, sim_slot(s, i, 1),
						    sim_slot(s, i, 2)),
				 i != 2);
		assert_false(
			overlay_is_suspect(s->node[i].o, sim_slot(s, i, 0), sim_slot(s, i, 1)));
	}
	sim_free(s);
}

/* What 0 reckons with for the link 2 - 1. */
static uint32_t link_as_seen(struct sim *s)
{
	struct path_params pp = overlay_path_params(s->node[0].o);
	uint16_t liar = sim_slot(s, 0, 2), far = sim_slot(s, 0, 1);
	struct path whole = { .n_hops = 2, .hop = { liar, far } };
	struct path first = { .n_hops = 1, .hop = { liar } };

	path_evaluate(overlay_latdb(s->node[0].o), &pp, SLOT_SELF, &whole);
	path_evaluate(overlay_latdb(s->node[0].o), &pp, SLOT_SELF, &first);
	return whole.rtt_us - first.rtt_us;
}

static struct sim *new_held(uint64_t seed, int64_t lie_us)
{
	struct sim *s = sim_new(4, seed);

	sim_set_rtt(s, 0, 1, 60000);
	sim_set_rtt(s, 0, 2, 10000);
	sim_set_rtt(s, 2, 1, 121000);
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_set_rtt(s, i, 3, i == 3 ? 0 : 300000);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	s->node[2].held_lie_us = lie_us;
	sim_run(s, 60000);
	return s;
}

/* 2 says in each PONG that it held the PING for long, and in its own row whatever nobody
 * contradicts then: it gains a factor of two and 10 ms in all (decision 011), not more. */
static void test_held_time_buys_little(void **state)
{
	static const int64_t lie_us[] = { 110000, 119000, 60000, 2000, 500000 };
	static const uint32_t claim_us[] = { 1000, 30000, 50000, 54000, 55000, 55600, 57000 };
	unsigned hop[LEON_HOPS_MAX];

	(void)state;
	for (size_t i = 0; i < array_size(lie_us); i++) {
		struct sim *s = new_held(17, lie_us[i]);
		uint32_t measured =
			latdb_get(overlay_latdb(s->node[1].o), SLOT_SELF, sim_slot(s, 1, 2)).rtt_us;

		assert_in_range(measured, 118900, 121100);
		for (size_t k = 0; k < array_size(claim_us); k++) {
			lie_about_a_link(s, 2, 1, claim_us[k]);
			sim_run(s, 5000);
			assert_true(link_as_seen(s) >= (121000 - 10000) / 2);
			assert_int_equal(sim_path(s, 0, 1, hop), 1);
			sim_kill(s, 2); /* or its next lie were the older one */
			sim_run(s, 5000);
			sim_boot(s, 2);
			assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
			sim_run(s, 20000);
		}
		sim_free(s);
	}
}

/* A link becomes slow while 2 goes on saying that it is only busy: seen all the same, later. */
static void test_held_time_hides_no_change(void **state)
{
	struct sim *s = new_held(18, 0);

	(void)state;
	s->node[2].held_lie_us = 200000;
	sim_set_rtt(s, 1, 2, 200000);
	sim_run(s, 120000);
	assert_true(latdb_get(overlay_latdb(s->node[1].o), SLOT_SELF, sim_slot(s, 1, 2)).rtt_us >
		    180000);
	/* An honest node that is busy for a moment does not look farther away. */
	s->node[2].held_lie_us = 0;
	sim_set_rtt(s, 1, 2, 121000);
	sim_run(s, 120000);
	s->node[2].held_lie_us = 50000;
	sim_set_rtt(s, 1, 2, 171000); /* it does hold them */
	sim_run(s, 2500);
	s->node[2].held_lie_us = 0;
	sim_set_rtt(s, 1, 2, 121000);
	assert_in_range(latdb_get(overlay_latdb(s->node[1].o), SLOT_SELF, sim_slot(s, 1, 2)).rtt_us,
			118900, 123000);
	sim_free(s);
}

/* The id of the PING of `at` to `of` that is under way; 0: none is. */
static uint32_t id_under_way(struct sim *s, unsigned at, unsigned of)
{
	const struct probing *pr = &peer_find(s->node[at].o, s->node[of].id)->probe;
	const struct probe *q = &pr->out[(pr->next_out + PROBES_OUT - 1) % PROBES_OUT];

	return q->id;
}

/* 2 sends its PONGs ahead of the PINGs, with the ids that come next: it would be next door. */
static void test_no_answer_ahead_of_the_question(void **state)
{
	struct sim *s = new_held(19, 0);
	struct msg m = { .type = MSG_PONG };
	struct peer *p = peer_find(s->node[2].o, s->node[1].id);
	uint32_t id = 0;

	(void)state;
	for (unsigned i = 0; i < 1500; i++) {
		id = id_under_way(s, 1, 2) ? id_under_way(s, 1, 2) : id;
		for (uint32_t k = 1; k <= 5; k++) {
			m.pong.id = id + k;
			assert_int_equal(peer_send(s->node[2].o, p, &m), 0);
		}
		sim_run(s, 20);
	}
	assert_in_range(latdb_get(overlay_latdb(s->node[1].o), SLOT_SELF, sim_slot(s, 1, 2)).rtt_us,
			118900, 122000);
	sim_free(s);
}

/* 1 is dead, and 2 goes on saying that it hears it: nobody else does, so it is not reachable. */
static void test_liar_keeps_no_dead_node_alive(void **state)
{
	struct sim *s = sim_new(4, 15);

	(void)state;
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_run(s, 10000);
	sim_kill(s, 1);
	s->node[2].liar = SIM_SWALLOWS_ALL; /* and says no NOTICE */
	lie_about_a_link(s, 2, 1, 5000);
	sim_run(s, 10000);
	for (unsigned i = 0; i < s->n; i += 3) {
		uint16_t dead = sim_slot(s, i, 1), liar = sim_slot(s, i, 2);

		/* The lie is in the database, and so is what 1 said of itself when it was there. */
		assert_true(latdb_get(overlay_latdb(s->node[i].o), liar, dead).up);
		assert_true(latdb_get(overlay_latdb(s->node[i].o), dead, liar).up);
		assert_int_equal(sim_state(s, i, 1), NODE_UNREACHABLE);
		assert_int_equal(sim_choice(s, i, 1)->path.n_hops, 0);
		assert_int_equal(s->node[i].n_purges, 1);
	}
	/* The lie ends where the dead one comes back. */
	sim_boot(s, 1);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_free(s);
}

/* 2 claims a link to 1 that 1 denies: no path goes over it, however fast it is said to be. */
static void test_link_that_one_end_denies(void **state)
{
	struct sim *s = sim_new(4, 16);
	unsigned hop[LEON_HOPS_MAX];

	(void)state;
	sim_set_rtt(s, 0, 1, 200000);
	sim_set_down(s, 1, 2, true);
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	lie_about_a_link(s, 2, 1, 1000);
	sim_run(s, 60000);
	assert_int_equal(sim_path(s, 0, 1, hop), 2);
	assert_int_equal(hop[0], 3);
	sim_free(s);
}

/* A member that has everything but 1's identity key opens a session as 1. */
static void test_impersonation(void **state)
{
	struct wire w;
	struct sim *s = new_watched(5, 12, &w);
	const struct overlay_counters *at0 = overlay_counters(s->node[0].o);
	struct state before;

	(void)state;
	take_state(s, &before);
	s->node[4].id = s->node[1].id;
	s->node[4].conf->node_id = s->node[1].id;
	sim_kill(s, 4);
	sim_run(s, 15000);
	/* As if 1 had started again, from the liar's address. */
	s->node[4].wall_shift_us = 10000000000;
	sim_boot(s, 4);
	sim_run(s, 10000);
	assert_true(at0->rx_other_identity > 0);
	assert_int_equal(s->node[0].n_events[EV_DUPLICATE_ID], 1);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 0);
	for (unsigned i = 0; i < 4; i++) {
		struct peer *p = i == 1 ? NULL : peer_find(s->node[i].o, s->node[1].id);

		if (!p)
			continue;
		assert_true(endpoint_equal(&p->ep, &s->node[1].ep));
		assert_memory_equal(peer_node(s->node[i].o, p)->key, s->node[1].o->identity.public,
				    MSG_KEY_LEN);
		assert_int_equal(sim_state(s, i, 1), NODE_REACHABLE);
	}
	/* While the real one is away for a short time it does not get in either. */
	sim_kill(s, 1);
	sim_run(s, 60000);
	assert_int_equal(sim_state(s, 0, 1), NODE_UNREACHABLE);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 0);
	sim_boot(s, 1);
	sim_run(s, 10000);
	assert_int_equal(sim_state(s, 0, 1), NODE_REACHABLE);
	assert_true(endpoint_equal(&peer_find(s->node[0].o, s->node[1].id)->ep, &s->node[1].ep));
	done(s, &w);
}

/* A machine is made anew, with another key: after it said leave at once, else after a while. */
static void test_rebuilt_node(void **state)
{
	struct sim *s = sim_new(4, 13);

	(void)state;
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	sim_leave(s, 1);
	s->node[1].identity += 1000;
	sim_boot(s, 1);
	assert_true(sim_until(s, sim_converged, NULL, 20000) >= 0);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 1);
	sim_kill(s, 2);
	s->node[2].identity += 1000;
	sim_boot(s, 2);
	assert_int_equal(sim_until(s, sim_converged, NULL, 200000), -1);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 1);
	assert_true(sim_until(s, sim_converged, NULL, 200000) >= 0);
	assert_int_equal(s->node[0].n_events[EV_IDENTITY_CHANGED], 2);
	assert_int_equal(s->node[3].n_events[EV_IDENTITY_CHANGED], 2);
	sim_free(s);
}

/* Each of five is made anew in turn, as the documentation says: it comes back after the five minutes,
 * or at once and waits for them. Nobody locks it out, whoever accepted it first, and starting
 * the others or the new one again does not matter. Some pairs know each other through relays only. */
static void test_rebuilt_among_five(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 8; seed++) {
		struct sim *s = sim_new(5, 100 + seed);
		unsigned anew = seed % 5;

		for (unsigned i = 0; i < s->n; i++) {
			for (unsigned k = 0; k < s->n; k++)
				if (k != i && seed % 2)
					sim_seed_of(s, i, k);
			sim_seed_of(s, i, i ? 0 : 1);
			sim_boot(s, i);
		}
		if (seed % 4 > 1)
			sim_set_down(s, anew, (anew + 1) % 5, true);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_run(s, 60000);
		sim_kill(s, anew);
		s->node[anew].identity += 1000;
		if (seed < 4)
			sim_run(s, 305000);
		sim_boot(s, anew);
		sim_run(s, 100000);
		if (seed % 3 == 0) {
			sim_kill(s, anew);
			sim_boot(s, anew);
		} else if (seed % 3 == 1) {
			sim_kill(s, (anew + 2) % 5);
			sim_boot(s, (anew + 2) % 5);
		}
		assert_true(sim_until(s, sim_converged, NULL, 260000) >= 0);
		sim_run(s, 20000);
		assert_true(sim_until(s, sim_rows_equal, NULL, 10000) >= 0);
		sim_free(s);
	}
}

/* One member has no direct link to a node, or none at all for a while: that is no reason to take
 * somebody else for it, who tries all the time. */
static void test_no_session_for_a_moment(void **state)
{
	(void)state;
	for (unsigned relayed = 0; relayed < 2; relayed++) {
		struct sim *s = sim_new(6, 200 + relayed);

		for (unsigned i = 0; i < 5; i++) {
			sim_seed_of(s, i, i ? 0 : 1);
			sim_boot(s, i);
		}
		/* 5 is the thief: it is to be taken for 1 by 4, which is cut off from 1. */
		s->node[5].id = s->node[5].conf->node_id = s->node[1].id;
		for (unsigned i = 0; i < 5; i++)
			sim_seed_of(s, 5, i);
		sim_run(s, 60000);
		sim_set_down(s, 1, 4, true);
		for (unsigned i = 0; i < 4 && !relayed; i++)
			sim_set_down(s, i, 4, true);
		sim_boot(s, 5);
		sim_run(s, relayed ? 900000 : 280000);
		for (unsigned i = 0; i < 5; i++) {
			const struct node *n =
				nodedb_find(overlay_nodes(s->node[i].o), s->node[1].id);

			assert_int_equal(s->node[i].n_events[EV_IDENTITY_CHANGED], 0);
			if (i != 1)
				assert_memory_equal(n->key, s->node[1].o->identity.public,
						    MSG_KEY_LEN);
		}
		assert_true(s->node[4].n_events[EV_DUPLICATE_ID] > 0);
		for (unsigned i = 0; i < 4; i++)
			sim_set_down(s, i, 4, false);
		sim_kill(s, 5);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_free(s);
	}
}

static struct sim *new_star(unsigned n, uint64_t seed)
{
	struct sim *s = sim_new(n, seed);

	for (unsigned i = 0; i < n; i++) {
		sim_seed_of(s, i, i ? 0 : 1);
		snprintf(s->node[i].conf->node_name, sizeof(s->node[i].conf->node_name), "site-%u",
			 i);
		sim_boot(s, i);
	}
	assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
	sim_run(s, 5000);
	return s;
}

/* To all that run, from `liar`. */
static void tell_all(struct sim *s, unsigned liar, const struct msg *m)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct peer *p = i != liar && sim_is_up(s, i)
					 ? peer_find(s->node[liar].o, s->node[i].id)
					 : NULL;

		if (p)
			(void)peer_send(s->node[liar].o, p, m);
	}
	sim_run(s, 100);
}

static void restart_all_but(struct sim *s, unsigned absent, unsigned liar)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (i == absent || i == liar)
			continue;
		sim_kill(s, i);
		sim_run(s, 1000);
		sim_boot(s, i);
	}
}

/* A member writes the record of a node that is away, in the highest version there can be, under a
 * key of its own, again and again, and all others start anew meanwhile. When the node returns it
 * is itself at once. */
static void test_record_of_an_absent_node(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		struct sim *s = new_star(6, 300 + seed);
		unsigned n = s->n;
		uint64_t version = seed % 2 ? 1700000400000000ULL : (1ULL << 53) - 1;
		struct msg m;

		sim_kill(s, 1);
		sim_run(s, 400000);
		for (unsigned k = 0; k < 21; k++) {
			m = made_up_record(s, s->node[1].id, 4711 + k % 3 * (seed % 2), version,
					   UINT32_MAX - 60 + k, 0);
			tell_all(s, 3, &m);
			if (k == 5 && seed > 1) {
				restart_all_but(s, 1, 3);
				sim_run(s, 5000);
			}
			sim_run(s, 10000);
		}
		/* Who met the node itself keeps what it said. */
		for (unsigned i = 0; i < n && seed < 2; i++)
			if (i != 1 && i != 3)
				assert_string_equal(nodedb_find(overlay_nodes(s->node[i].o),
								s->node[1].id)
							    ->rec.name,
						    "site-1");
		sim_boot(s, 1);
		for (unsigned k = 0; k < 20; k++) {
			sim_run(s, 1000);
			m = made_up_record(s, s->node[1].id, 4711 + k % 3 * (seed % 2), version,
					   UINT32_MAX - 30 + k, 0);
			tell_all(s, 3, &m);
		}
		assert_true(reach_each_other(s, &n));
		/* Claims that nobody stands for are no news. */
		for (unsigned i = 0; i < n; i++)
			assert_true(s->node[i].n_events[EV_IDENTITY_CHANGED] <= 1);
		/* And stays so when it is away for a while and comes back. */
		sim_kill(s, 1);
		sim_run(s, 60000);
		m = made_up_record(s, s->node[1].id, 4711, version, UINT32_MAX, 0);
		tell_all(s, 3, &m);
		sim_boot(s, 1);
		assert_true(sim_until(s, reach_each_other, &n, 20000) >= 0);
		assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
		sim_free(s);
	}
}

/* Two claims for a node-id of which nobody ever came: whoever hears them, in whatever order, has the
 * same one in the end, and not the one that says it is of the year 2255. */
static void test_claims_nobody_stands_for(void **state)
{
	struct sim *s = new_star(4, 350);
	uint64_t now = 1700000000000000ULL;
	const struct msg claim[] = {
		made_up_record(s, 0x03030303, 1, now, 9, 0),
		made_up_record(s, 0x03030303, 2, now + 5, 1, 0),
		made_up_record(s, 0x03030303, 3, (1ULL << 53) - 1, 1, 0),
		made_up_record(s, 0x03030303, 4, now + 5, 1, 0),
	};
	unsigned wins = memcmp(claim[1].record.identity, claim[3].record.identity, 7) > 0 ? 1 : 3;

	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned i = 0; i < 3; i++)
			tell(s, 3, i, &claim[(round + i) % 4]);
		sim_run(s, 15000);
	}
	for (unsigned i = 0; i < 3; i++) {
		const struct node *n = nodedb_find(overlay_nodes(s->node[i].o), 0x03030303);

		assert_memory_equal(n->rec.identity, claim[wins].record.identity, MSG_KEY_LEN);
		assert_int_equal(s->node[i].n_events[EV_IDENTITY_CHANGED], 0);
		assert_int_equal(nodedb_digest(overlay_nodes(s->node[i].o)),
				 nodedb_digest(overlay_nodes(s->node[0].o)));
	}
	sim_free(s);
}

/* A node had a clock ten years ahead, or 1970, and has the right time now: as it was, or made anew with
 * another key, while the others knew it all the time or started anew. */
static void test_wrong_clocks(void **state)
{
	static const int64_t shift_us[] = { 10LL * 365 * 86400 * 1000000, -1690000000000000LL };

	(void)state;
	for (unsigned k = 0; k < 8; k++) {
		struct sim *s = sim_new(5, 400 + k);
		bool anew = k & 2, restart = k & 4;

		for (unsigned i = 0; i < s->n; i++) {
			sim_seed_of(s, i, i ? 0 : 1);
			s->node[i].wall_shift_us = i == 2 ? shift_us[k % 2] : 0;
			sim_boot(s, i);
		}
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_kill(s, 2);
		s->node[2].identity += anew ? 1000 : 0;
		s->node[2].wall_shift_us = 0;
		if (restart)
			restart_all_but(s, 2, 2);
		sim_run(s, anew ? 301000 : 5000);
		sim_boot(s, 2);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		assert_true(sim_until(s, sim_rows_equal, NULL, 20000) >= 0);
		/* A receiver that believes to be in 1970 takes part like everybody. */
		sim_kill(s, 4);
		s->node[4].wall_shift_us = shift_us[1];
		sim_boot(s, 4);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_free(s);
	}
}

/* Both halves of a partition have a node of this node-id, each with a key of its own. After it no half
 * gives up the one it hears, that is said, and costs little; once one of them has gone, all have
 * the other. */
static void test_two_keys_after_a_partition(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 4; seed++) {
		struct sim *s = sim_new(6, 500 + seed);
		unsigned stays = seed % 2 ? 5 : 0, goes = 5 - stays;
		uint64_t bytes;

		sim_partition(s, 3, true);
		s->node[5].id = s->node[5].conf->node_id = s->node[0].id;
		for (unsigned i = 0; i < s->n; i++) {
			sim_seed_of(s, i, i < 3 ? 1 + (i == 1) : 3 + (i == 3));
			sim_seed_of(s, i, i < 3 ? 4 : 2);
			s->node[i].wall_shift_us = (int64_t)(sim_random(s) % 100) * 1000000000;
			sim_boot(s, i);
		}
		sim_run(s, 60000);
		sim_partition(s, 3, false);
		sim_run(s, 120000);
		for (unsigned i = 1; i < 5; i++) {
			const struct node *at =
				nodedb_find(overlay_nodes(s->node[i].o), s->node[0].id);

			assert_int_equal(sim_state(s, i, 1 + i % 4), NODE_REACHABLE);
			assert_memory_equal(at->key, s->node[i < 3 ? 0 : 5].o->identity.public,
					    MSG_KEY_LEN);
		}
		assert_true(sim_events(s, EV_DUPLICATE_ID) > 0);
		bytes = s->node[1].tx_bytes;
		sim_run(s, 60000);
		assert_true(s->node[1].tx_bytes - bytes < 60 * 5000);
		sim_kill(s, goes);
		sim_run(s, 320000);
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		for (unsigned i = 1; i < 5; i++)
			assert_memory_equal(
				nodedb_find(overlay_nodes(s->node[i].o), s->node[0].id)->key,
				s->node[stays].o->identity.public, MSG_KEY_LEN);
		sim_free(s);
	}
}

/* --- tables that members fill --- */

#define SMALL_TABLE 16

static bool knows(struct sim *s, unsigned at, node_id_t id)
{
	return nodedb_find(overlay_nodes(s->node[at].o), id) != NULL;
}

/* A member makes up nodes, more than there is room for, and departures: those who are there stay, a
 * newcomer gets in everywhere, one that was away comes back, and what was made up is passed on by
 * nobody. */
static void test_made_up_nodes(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		struct sim *s = sim_new(8, 600 + k);
		unsigned n = s->n;
		uint16_t flags = k & 1 ? RECORD_LEFT : 0;

		for (unsigned i = 0; i < s->n; i++) {
			sim_seed_of(s, i, i ? 0 : 1);
			s->node[i].conf->nodes_maximum = SMALL_TABLE;
			if (i != 7)
				sim_boot(s, i);
		}
		assert_true(sim_until(s, sim_converged, NULL, 30000) >= 0);
		sim_kill(s, 6);
		for (unsigned i = 0; i < 400; i++) {
			struct msg m = made_up_record(s, 0x01010101 + i, 9000 + i, 77, 5, flags);
			struct peer *p = peer_find(s->node[3].o, s->node[1].id);

			if (k & 2)
				(void)peer_send(s->node[3].o, p, &m);
			else
				tell_all(s, 3, &m);
		}
		sim_run(s, 15000);
		for (unsigned i = 0; i < 400; i++)
			if (k & 2)
				assert_false(knows(s, 2, 0x01010101 + i));
		assert_true(knows(s, 1, 0x01010101) || knows(s, 1, 0x01010101 + 399));
		sim_boot(s, 6);
		sim_boot(s, 7);
		assert_true(sim_until(s, reach_each_other, &n, 20000) >= 0);
		/* Two that lie share what they may fill between them, and no more. */
		sim_kill(s, 7);
		for (unsigned i = 0; i < 400; i++) {
			struct msg m = made_up_record(s, 0x02020202 + i, 19000 + i, 77, 5, flags);

			tell_all(s, 2 + i % 2, &m);
		}
		sim_leave(s, 6);
		sim_boot(s, 6);
		sim_boot(s, 7);
		assert_true(sim_until(s, reach_each_other, &n, 20000) >= 0);
		for (unsigned i = 0; i < s->n; i++) {
			assert_true(nodedb_members(overlay_nodes(s->node[i].o)) <= SMALL_TABLE);
			assert_true(nodedb_slots(overlay_nodes(s->node[i].o)) <= 3 * SMALL_TABLE);
		}
		sim_free(s);
	}
}

/* A node that left comes back under a forged older record? No: only a newer one revives it. */
static void test_old_record_revives_nobody(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 11, &w);
	struct msg m = { .type = MSG_RECORD };

	(void)state;
	m.record = nodedb_find(overlay_nodes(s->node[0].o), s->node[1].id)->rec;
	sim_leave(s, 1);
	sim_run(s, 1000);
	tell(s, 3, 0, &m);
	assert_int_equal(sim_state(s, 0, 1), NODE_LEFT);
	assert_int_equal(s->node[0].n_events[EV_RETURNED], 0);
	done(s, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notice_about_others_links),
		cmocka_unit_test(test_lies_about_others),
		cmocka_unit_test(test_lying_relay),
		cmocka_unit_test(test_held_time_buys_little),
		cmocka_unit_test(test_held_time_hides_no_change),
		cmocka_unit_test(test_no_answer_ahead_of_the_question),
		cmocka_unit_test(test_liar_keeps_no_dead_node_alive),
		cmocka_unit_test(test_link_that_one_end_denies),
		cmocka_unit_test(test_impersonation),
		cmocka_unit_test(test_rebuilt_node),
		cmocka_unit_test(test_rebuilt_among_five),
		cmocka_unit_test(test_no_session_for_a_moment),
		cmocka_unit_test(test_record_of_an_absent_node),
		cmocka_unit_test(test_claims_nobody_stands_for),
		cmocka_unit_test(test_wrong_clocks),
		cmocka_unit_test(test_two_keys_after_a_partition),
		cmocka_unit_test(test_made_up_nodes),
		cmocka_unit_test(test_old_record_revives_nobody),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
