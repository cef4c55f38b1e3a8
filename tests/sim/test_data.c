// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys of data during changes of sessions: the workers of one node can open each datagram that the
 * workers of another node sealed. Workers use snapshots of the maximum age, and datagrams are
 * delayed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "proto/core.h"
#include "proto/view.h"
#include "sim.h"
#include "state/tables/snap.h"

#define NODES	4
#define STEP_MS 10
#define STALE	10 /* steps in which workers use one snapshot */
#define ON_WAY	8  /* maximum delay of a datagram in steps */
#define TEXT	"frame"
#define SEALED	(sizeof(TEXT) + SEAL_OVERHEAD)

struct in_queue {
	unsigned from, to, due;
	uint8_t data[SEALED];
	bool in_clear;
	uint64_t link;
};

struct lab {
	struct sim *s;
	struct snap *snap[NODES]; /* as seen by the workers */
	struct in_queue queue[NODES * NODES * (ON_WAY + 1)];
	unsigned n_queue, step;
	unsigned sent, no_key, lost, n_keys;
	uint64_t last_link[NODES][NODES];
};

static void publish(struct lab *l, unsigned i)
{
	struct overlay *o = l->s->node[i].o;
	struct snap *s = snap_new(nodedb_slots(overlay_nodes(o)));

	s->self = l->s->node[i].id;
	overlay_fill_snap(o, s);
	snap_finish(s);
	snap_free(l->snap[i]);
	l->snap[i] = s;
}

static const struct snap_node *seen(struct lab *l, unsigned at, unsigned of)
{
	uint16_t slot = snap_find(l->snap[at], l->s->node[of].id);

	assert_int_not_equal(slot, SLOT_NONE);
	return &l->snap[at]->node[slot];
}

static void send(struct lab *l, unsigned a, unsigned b)
{
	const struct aead_piece piece = { TEXT, sizeof(TEXT) };
	const struct snap_node *n = seen(l, a, b);
	struct in_queue *w = &l->queue[l->n_queue];

	l->sent++;
	if (!n->seal_tx) {
		l->no_key++;
		return;
	}
	*w = (struct in_queue){
		.from = a, .to = b, .due = l->step + 1 + l->sent % ON_WAY, .link = n->link_tx
	};
	w->in_clear = seal_cipher(n->seal_tx) == SEAL_NONE;
	if (!w->in_clear)
		assert_int_equal(seal_data(n->seal_tx, 0, NULL, 0, &piece, 1, w->data), SEALED);
	l->n_keys += l->last_link[a][b] != n->link_tx;
	l->last_link[a][b] = n->link_tx;
	l->n_queue++;
}

static bool is_taken(struct lab *l, struct in_queue *w)
{
	const struct snap_node *n = seen(l, w->to, w->from);

	if (w->link != n->link_rx[0] && w->link != n->link_rx[1])
		return false;
	if (w->in_clear)
		return n->clear_rx;
	for (unsigned i = 0; i < 2; i++)
		if (n->seal_rx[i] && seal_epoch(n->seal_rx[i]) == seal_data_epoch(w->data))
			return seal_open(n->seal_rx[i], 0, NULL, 0, w->data, SEALED) > 0;
	return false;
}

static void arrive(struct lab *l)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < l->n_queue; i++) {
		struct in_queue *w = &l->queue[i];

		if (w->due <= l->step)
			l->lost += !is_taken(l, w);
		else
			l->queue[kept++] = *w;
	}
	l->n_queue = kept;
}

static void run(struct lab *l, unsigned ms)
{
	for (unsigned end = l->step + ms / STEP_MS; l->step < end; l->step++) {
		sim_run(l->s, STEP_MS);
		for (unsigned i = 0; i < NODES; i++)
			if (l->step % STALE == 2 * i % STALE || !l->snap[i])
				publish(l, i);
		arrive(l);
		for (unsigned a = 0; a < NODES; a++)
			for (unsigned b = 0; b < NODES; b++)
				if (a != b)
					send(l, a, b);
	}
}

static void boot(struct lab *l, uint32_t rekey_ms)
{
	for (unsigned i = 0; i < NODES; i++) {
		l->s->node[i].conf->rekey_ms = rekey_ms;
		sim_boot(l->s, i);
		overlay_set_workers(l->s->node[i].o, 1);
	}
	assert_true(sim_until(l->s, sim_converged, NULL, 20000) >= 0);
}

static void lab_open(struct lab *l, uint64_t seed, uint32_t rekey_ms)
{
	*l = (struct lab){ .s = sim_new(NODES, seed) };
	for (unsigned i = 0; i < NODES; i++)
		for (unsigned k = 0; k < i; k++)
			sim_seed_of(l->s, i, k);
	boot(l, rekey_ms);
	sim_run(l->s, 1000);
}

static void lab_close(struct lab *l)
{
	for (unsigned i = 0; i < NODES; i++)
		snap_free(l->snap[i]);
	sim_free(l->s);
}

static void new_keys_lose_nothing(void **state)
{
	static struct lab l;

	(void)state;
	lab_open(&l, 1, 1000);
	run(&l, 60000);
	assert_int_equal(l.no_key, 0);
	assert_int_equal(l.lost, 0);
	/* Each of the 12 directions had new keys about every 1.5 seconds. */
	assert_true(l.n_keys > 12 * 20);
	lab_close(&l);
}

/* All nodes start a handshake at the same moment. Any of the sessions may be used at any time. */
static void nor_a_crossed_start(void **state)
{
	static struct lab l;

	(void)state;
	for (uint64_t seed = 10; seed < 40; seed++) {
		l = (struct lab){ .s = sim_new(NODES, seed) };
		for (unsigned i = 0; i < NODES; i++)
			for (unsigned k = 0; k < NODES; k++)
				if (k != i)
					sim_seed_of(l.s, i, k);
		sim_set_all(l.s, (struct sim_link){ .delay_us = 90000, .mtu = 1472 });
		boot(&l, 3600 * 1000);
		run(&l, 20000);
		assert_int_equal(l.no_key, 0);
		assert_int_equal(l.lost, 0);
		assert_int_equal(sim_events(l.s, EV_LINK_DOWN), 0);
		lab_close(&l);
	}
}

/* Lost and delayed control messages delay new keys, but no frame is lost. */
static void nor_where_control_is_lost(void **state)
{
	static struct lab l;

	(void)state;
	lab_open(&l, 2, 2000);
	sim_set_all(l.s,
		    (struct sim_link){
			    .delay_us = 10000, .jitter_us = 15000, .loss_pm = 150, .mtu = 1472 });
	run(&l, 120000);
	assert_int_equal(l.lost, 0);
	assert_true(l.n_keys > 12 * 5);
	lab_close(&l);
}

static void configure(struct lab *l, unsigned i, enum seal_choice cipher, bool disable)
{
	struct sim_node *n = &l->s->node[i];
	static struct conf before[NODES];

	before[i] = *n->conf;
	n->conf->cipher = cipher;
	n->conf->encryption_disable = disable;
	/* The overlay compares with its previous counters. */
	n->o->conf = &before[i];
	overlay_set_conf(n->o, n->conf);
}

static void expect_cipher(struct lab *l, enum seal_cipher c)
{
	for (unsigned a = 0; a < NODES; a++)
		for (unsigned b = 0; b < NODES; b++)
			if (a != b)
				assert_int_equal(seal_cipher(seen(l, a, b)->seal_tx), c);
}

static void another_cipher_loses_nothing(void **state)
{
	static const struct {
		enum seal_choice choice;
		bool disable;
		enum seal_cipher agreed;
	} turn[] = { { SEAL_CHOICE_CHACHA20_POLY1305, false, SEAL_CHACHA20_POLY1305 },
		     { SEAL_CHOICE_AUTO, true, SEAL_NONE },
		     { SEAL_CHOICE_AES_256_GCM, false, SEAL_AES_256_GCM } };
	static struct lab l;

	(void)state;
	for (uint64_t seed = 10; seed < 50; seed++) {
		lab_open(&l, seed, 3600 * 1000);
		for (unsigned i = 0; i < 3; i++) {
			for (unsigned k = 0; k < NODES; k++) {
				configure(&l, k, turn[i].choice, turn[i].disable);
				run(&l, 2000);
			}
			run(&l, 30000);
			expect_cipher(&l, turn[i].agreed);
			assert_int_equal(l.lost, 0);
		}
		assert_int_equal(l.no_key, 0);
		/* A node that is reloaded during a handshake answers in the session before. */
		assert_int_equal(sim_events(l.s, EV_LINK_DOWN), 0);
		lab_close(&l);
	}
}

/* A restarted node has none of the old keys. The other nodes use the new ones at once. */
static void a_restart_takes_effect_at_once(void **state)
{
	static struct lab l;

	(void)state;
	lab_open(&l, 4, 3600 * 1000);
	run(&l, 2000);
	assert_int_equal(l.lost, 0);
	sim_kill(l.s, 1);
	sim_boot(l.s, 1);
	overlay_set_workers(l.s->node[1].o, 1);
	l.n_queue = 0;
	assert_true(sim_until(l.s, sim_converged, NULL, 30000) >= 0);
	for (unsigned i = 0; i < NODES; i++)
		publish(&l, i);
	run(&l, 5000);
	assert_int_equal(l.lost, 0);
	lab_close(&l);
}

/* A chain 0 - 1 - 2 - 3 - 4 over links of IPv6's smallest MTU: a row of the maximum length arrives
 * at the other end. */
static void the_longest_row_goes_through_relays(void **state)
{
	struct sim *s = sim_new(5, 5);
	struct msg m = { .type = MSG_ROW };
	const struct latdb *lat;
	uint16_t slot;
	uint64_t n;

	(void)state;
	sim_set_all(s, (struct sim_link){ .delay_us = 10000, .mtu = 1232 });
	for (unsigned i = 0; i < 5; i++) {
		for (unsigned k = 0; k < i; k++) {
			sim_seed_of(s, i, k);
			sim_set_down(s, i, k, k + 1 != i);
		}
		sim_boot(s, i);
		overlay_set_workers(s->node[i].o, 1);
	}
	assert_true(sim_until(s, sim_converged, NULL, 60000) >= 0);
	sim_run(s, 15000); /* time for sessions between distant nodes */
	lat = overlay_latdb(s->node[4].o);
	slot = sim_slot(s, 4, 0);
	m.row.origin = s->node[0].id;
	m.row.incarnation = nodedb_at(overlay_nodes(s->node[0].o), SLOT_SELF)->rec.incarnation;
	m.row.seq = latdb_row_seq(overlay_latdb(s->node[0].o), SLOT_SELF) + 1000;
	m.row.base = latdb_row_seq(lat, slot);
	m.row.parts = 1;
	/* Stopped, so that no node starts a handshake. */
	for (m.row.n = 0; m.row.n < MSG_ROW_MAX; m.row.n++)
		m.row.entry[m.row.n].node = 0x0b000001u + m.row.n;
	n = s->n_too_big;
	assert_int_equal(peer_send(s->node[0].o, peer_find(s->node[0].o, s->node[4].id), &m), 0);
	sim_run(s, 200);
	assert_int_equal(s->n_too_big, n);
	assert_int_equal(latdb_row_seq(lat, slot), m.row.seq);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_keys_lose_nothing),
		cmocka_unit_test(nor_a_crossed_start),
		cmocka_unit_test(the_longest_row_goes_through_relays),
		cmocka_unit_test(nor_where_control_is_lost),
		cmocka_unit_test(another_cipher_loses_nothing),
		cmocka_unit_test(a_restart_takes_effect_at_once),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
