// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members try to flood a third party: by messages with the victim's address as source, and by
 * records with the victim's address. The tests count the bytes that arrive at the victim. A node
 * that really moves is followed at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "hostile.h"

#define LIAR   1
#define VICTIM 5 /* number of the address from mallory() */

/* Builds a message of the liar to node `to` in their session; returns the length. */
static size_t seal_message(struct sim *s, unsigned to, const struct msg *m, uint8_t *buf,
			   size_t size)
{
	struct overlay *o = s->node[LIAR].o;
	struct peer *p = peer_find(o, s->node[to].id);
	size_t hdr_len;
	struct via v;
	int len;

	assert_non_null(p);
	assert_true(via_direct(p, &v));
	hdr_len = via_header(o, &v, buf);
	len = msg_encode(m, buf + hdr_len + ENVELOPE_LEN, MSG_LEN_MAX);
	assert_true(len > 0);
	len = session_seal(p->cur, buf, hdr_len, (size_t)len, size);
	assert_true(len > 0);
	return (size_t)len;
}

/* Sends all requests of a member under a foreign address. */
static void test_questions_under_another_address(void **state)
{
	struct wire w;
	struct sim *s = new_watched(8, 801, &w);
	struct endpoint victim = mallory(VICTIM);
	struct msg fetch = { .type = MSG_FETCH, .fetch = { .n = MSG_FETCH_MAX } };
	struct msg list = { .type = MSG_SUMMARY_REQ };
	uint64_t requested = 0;
	uint8_t buf[1500];
	size_t len;

	(void)state;
	w.recording = false;
	for (unsigned i = 0; i < MSG_FETCH_MAX; i++)
		fetch.fetch.origin[i] = s->node[i % s->n].id;
	for (unsigned i = 0; i < 200; i++) {
		len = seal_message(s, 0, i % 20 ? &fetch : &list, buf, sizeof(buf));
		requested += len;
		sim_inject(s, &victim, 0, buf, len);
		sim_run(s, 50);
	}
	sim_run(s, 10000);
	printf("# %llu bytes asked under the victim's address, %llu arrived there\n",
	       (unsigned long long)requested, (unsigned long long)w.bytes_to_mallory);
	assert_true(w.bytes_to_mallory < 10000 && w.bytes_to_mallory < requested / 10);
	/* The liar gets answers at its own address. */
	assert_true(
		endpoint_equal(&peer_find(s->node[0].o, s->node[LIAR].id)->ep, &s->node[LIAR].ep));
	assert_true(sim_converged(s, NULL));
	done(s, &w);
}

/* Datagrams from the liar's address to node 0 are dropped. */
static bool watch_liar(void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
		       size_t len)
{
	return watch(arg, from, to, data, len) && !(from == LIAR && to->ip.b[3] == 1);
}

/* A handshake under another address fails, because the necessary value was not sent there. */
static void test_session_under_another_address(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 802, &w);
	struct endpoint victim = mallory(VICTIM);
	unsigned n = 0;

	(void)state;
	sim_kill(s, LIAR);
	sim_run(s, 15000);
	w.n = 0;
	w.bytes_to_mallory = 0;
	s->tap = watch_liar;
	sim_boot(s, LIAR);
	/* The liar sends with the victim's address as source, and receives at the own address. */
	for (unsigned i = 0; i < 4000; i++) {
		for (; n < w.n; n++)
			if (w.rec[n].from == LIAR && endpoint_equal(&w.rec[n].to, &s->node[0].ep))
				sim_inject(s, &victim, 0, w.rec[n].data, w.rec[n].len);
		sim_run(s, 5);
	}
	printf("# %llu bytes arrived at the victim\n", (unsigned long long)w.bytes_to_mallory);
	assert_true(w.bytes_to_mallory < 20000);
	assert_false(endpoint_equal(&peer_find(s->node[0].o, s->node[LIAR].id)->ep, &victim));
	done(s, &w);
}

/* Invented nodes with addresses of the victim, 8 ports each, repeatedly. */
static void test_records_that_name_another_address(void **state)
{
	struct wire w;
	struct sim *s = new_watched(8, 803, &w);
	const unsigned minutes = 3;

	(void)state;
	w.recording = false;
	for (unsigned round = 0; round < minutes; round++) {
		for (unsigned i = 0; i < 50; i++) {
			struct msg m =
				made_up_record(s, 0x01010101 + i, 9000 + i, 77, 5 + round, 0);

			m.record.n_locators = MSG_LOCATORS_MAX;
			for (unsigned k = 0; k < MSG_LOCATORS_MAX; k++) {
				m.record.locator[k] = mallory(VICTIM);
				m.record.locator[k].port = (uint16_t)(1000 + 10 * i + k);
			}
			sign_made_up(s, &m, 9000 + i);
			for (unsigned to = 0; to < s->n; to++)
				if (to != LIAR)
					(void)peer_send(s->node[LIAR].o,
							peer_find(s->node[LIAR].o, s->node[to].id),
							&m);
		}
		sim_run(s, 60000);
	}
	printf("# %llu bytes a second arrived at the victim from 8 members\n",
	       (unsigned long long)(w.bytes_to_mallory / (60 * minutes)));
	assert_true(w.bytes_to_mallory > 0);
	assert_true(w.bytes_to_mallory / (60 * minutes) < 8 * 40);
	assert_true(w.msgs_to_mallory < 8 * 100);
	done(s, &w);
}

/* A real change of address takes effect little more than a round trip after the first message. */
static void test_a_move_is_followed_at_once(void **state)
{
	struct wire w;
	struct sim *s = new_watched(4, 804, &w);
	struct sim_flow *f;

	(void)state;
	w.recording = false;
	sim_set_rtt(s, 0, 2, 50000);
	f = sim_flow_start(s, 0, 2, 10000);
	sim_run(s, 10000);
	for (unsigned i = 0; i < 5; i++) {
		sim_flow_mark(f);
		sim_move(s, 2);
		sim_run(s, 5000);
		printf("# %lld ms without data\n", (long long)sim_flow_gap_ms(f));
		assert_true(sim_flow_gap_ms(f) < 1000);
		assert_true(endpoint_equal(&peer_find(s->node[0].o, s->node[2].id)->ep,
					   &s->node[2].ep));
	}
	assert_true(sim_until(s, sim_converged, NULL, 5000) >= 0);
	done(s, &w);
}

/* The report of the second address must wait, and must not be lost. */
static void test_two_moves_in_a_second_are_reported(void **state)
{
	struct wire w;
	struct sim *s = new_watched(2, 805, &w);
	const struct peer *p = peer_find(s->node[1].o, s->node[0].id);

	(void)state;
	w.recording = false;
	sim_flow_start(s, 0, 1, 10000);
	sim_flow_start(s, 1, 0, 10000);
	sim_run(s, 10000);
	for (unsigned i = 0; i < 10; i++) {
		sim_move(s, 1);
		sim_run(s, 400 + 10 * i);
		assert_true(endpoint_equal(&p->observed, &s->node[1].ep));
		sim_move(s, 1);
		sim_run(s, 4000);
		assert_true(endpoint_equal(&p->observed, &s->node[1].ep));
	}
	done(s, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions_under_another_address),
		cmocka_unit_test(test_session_under_another_address),
		cmocka_unit_test(test_records_that_name_another_address),
		cmocka_unit_test(test_a_move_is_followed_at_once),
		cmocka_unit_test(test_two_moves_in_a_second_are_reported),
	};

	cmocka_set_test_filter(getenv("SIM_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
