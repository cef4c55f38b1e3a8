// SPDX-License-Identifier: GPL-2.0-or-later
/* daemon/capture: the stream of records from a node: whole, lost, repeated, malformed, endless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/capture/captures.h"
#include "wire/flow_capture.h"

#define LIMIT 4096u
#define NOW   ((mono_t){ NS_PER_S })
#define MANY  500000u

static size_t record(uint8_t *out, size_t room)
{
	static const uint8_t frame[60];
	struct capture_record r = { .at_us = 7,
				    .place = CAPTURE_TO_TAP,
				    .source = 1,
				    .len = sizeof(frame),
				    .n = sizeof(frame) };

	return capture_record_write(&r, frame, out, room);
}

static int setup(void **state)
{
	struct collect *c = calloc(1, sizeof(*c));

	c->start.bytes = LIMIT;
	c->n_nodes = 1;
	c->node[0].id = 2;
	c->node[0].state = COLLECT_RUNNING;
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct collect *c = *state;

	collect_node_free(&c->node[0]);
	for (size_t i = c->next_ready; i < c->n_ready; i++)
		free(c->ready[i].bytes);
	free(c->ready);
	free(c);
	return 0;
}

static void take(struct collect *c, uint32_t offset, const uint8_t *bytes, size_t n)
{
	struct msg_capture_data m = {
		.status = CAPTURE_RUNS, .offset = offset, .total = UINT32_MAX, .n = (uint16_t)n
	};

	memcpy(m.bytes, bytes, n);
	collect_node_data(c, &c->node[0], &m, NOW);
}

static void records_arrive_in_pieces(void **state)
{
	struct collect *c = *state;
	uint8_t one[200];
	size_t n = record(one, sizeof(one));

	take(c, 0, one, n / 2);
	assert_int_equal(c->n_ready, 0);
	take(c, (uint32_t)(n / 2 + 1), one + n / 2 + 1, n - n / 2 - 1); /* after a lost message */
	take(c, 0, one, n);						/* repeated, and longer */
	take(c, 0, one, n);
	assert_int_equal(c->n_ready, 1);
	assert_int_equal(c->node[0].have, n);
	assert_int_equal(c->ready[0].r.at_us, 7);
	assert_int_equal(c->node[0].state, COLLECT_RUNNING);
}

static void no_node_sends_more_than_requested(void **state)
{
	struct collect *c = *state;
	uint8_t one[200];
	size_t n = record(one, sizeof(one));

	for (unsigned i = 0; i < 2 * LIMIT / n; i++)
		take(c, c->node[0].have, one, n);
	assert_int_equal(c->node[0].state, COLLECT_INVALID);
	assert_true(c->node[0].have <= LIMIT);
	assert_int_equal(c->n_ready, LIMIT / n);
}

static void malformed_records_end_the_node(void **state)
{
	struct collect *c = *state;
	uint8_t one[200];
	size_t n = record(one, sizeof(one));

	one[4] = CAPTURE_PLACES;
	take(c, 0, one, n);
	assert_int_equal(c->node[0].state, COLLECT_INVALID);
	assert_int_equal(c->n_ready, 0);
}

static unsigned n_reads;

static void count_reads(struct collect *c, node_id_t to, const struct msg *m)
{
	(void)c;
	(void)to;
	n_reads += m->type == MSG_CAPTURE_READ;
}

static unsigned reads_at(struct collect *c, unsigned ms)
{
	n_reads = 0;
	c->send = count_reads;
	c->node[0].heard_at = mono_add_ms(NOW, ms);
	collect_node_turn(c, &c->node[0], mono_add_ms(NOW, ms));
	return n_reads;
}

static void no_more_is_read_than_is_taken(void **state)
{
	struct collect *c = *state;
	unsigned full, later;

	c->n_ready = MANY;
	full = reads_at(c, 200);
	c->next_ready = 1;
	later = reads_at(c, 400);
	c->n_ready = c->next_ready = 0;
	assert_int_equal(full, 0);
	assert_int_equal(later, 1);
}

static void records_that_were_taken_need_no_room(void **state)
{
	struct collect *c = *state;
	uint8_t one[200];
	size_t n = record(one, sizeof(one)), room;

	c->start.bytes = UINT32_MAX;
	take(c, 0, one, n);
	room = c->room;
	for (unsigned i = 0; i < 3 * room; i++) {
		take(c, c->node[0].have, one, n);
		free(c->ready[c->next_ready++].bytes);
	}
	assert_int_equal(c->room, room);
	assert_int_equal(c->n_ready - c->next_ready, 1);
}

/* Answers once a second that the capture of 10 s runs, without records. */
static void a_capture_that_does_not_end_is_left(void **state)
{
	struct collect *c = *state;
	struct collect_node *n = &c->node[0];
	struct msg_capture_data m = { .status = CAPTURE_RUNS };

	n->state = COLLECT_STARTING;
	c->start.seconds = 10;
	c->send = count_reads;
	for (unsigned s = 0; s < 40; s++) {
		collect_node_data(c, n, &m, mono_add_ms(NOW, s * 1000));
		collect_node_turn(c, n, mono_add_ms(NOW, s * 1000));
		assert_int_equal(n->state, COLLECT_RUNNING);
	}
	collect_node_data(c, n, &m, mono_add_ms(NOW, 40000));
	collect_node_turn(c, n, mono_add_ms(NOW, 40000));
	assert_int_equal(n->state, COLLECT_INVALID);
}

static void nothing_waits_for_a_relay_that_is_gone(void **state)
{
	struct collect *c = *state;
	struct collect_node *n = &c->node[0];
	struct capture_record r = { .place = CAPTURE_SENT,
				    .flags = CAPTURE_SEALED,
				    .source = 1,
				    .n_hops = 2,
				    .hop = { n->id, 3 } };
	uint8_t one[200];

	take(c, 0, one, capture_record_write(&r, (const uint8_t *)"", one, sizeof(one)));
	assert_int_equal(n->n_waiting, 1);
	n->state = COLLECT_RESTARTED;
	collect_node_turn(c, n, NOW);
	assert_int_equal(n->n_waiting, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_arrive_in_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(no_node_sends_more_than_requested, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_records_end_the_node, setup, teardown),
		cmocka_unit_test_setup_teardown(no_more_is_read_than_is_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(records_that_were_taken_need_no_room, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_capture_that_does_not_end_is_left, setup,
						teardown),
		cmocka_unit_test_setup_teardown(nothing_waits_for_a_relay_that_is_gone, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
