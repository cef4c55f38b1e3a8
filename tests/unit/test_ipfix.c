// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IPFIX messages, read by their own templates, and the table of flows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "state/tables/flows.h"

#define SELF 0x0a000001u
#define NODE 0x0a000002u

static struct ipfix x;

static struct sampled_flow flow_of(uint32_t number)
{
	struct sampled_flow f = { .key = { .node = NODE,
					   .src_port = (uint16_t)number,
					   .dst_port = (uint16_t)(number >> 16),
					   .version = 4,
					   .protocol = 17 },
				  .packets = 1,
				  .octets = 100,
				  .first = { 1000000000 },
				  .last = { 1000000000 } };

	memcpy(f.key.src, "\x0a\x0a\x00\x01", 4);
	memcpy(f.key.dst, "\x0a\x0a\x00\x02", 4);
	return f;
}

/* --- messages --- */

/* Returns the set with this id, or with `len` 0. */
static struct rbuf set_of(size_t len, uint16_t id)
{
	struct rbuf b = rbuf_of(x.buf, len);

	rbuf_take(&b, 16);
	while (rbuf_left(&b)) {
		uint16_t found = rbuf_u16(&b), n = rbuf_u16(&b);
		const uint8_t *body = rbuf_take(&b, n - 4u);

		assert_non_null(body);
		if (found == id)
			return rbuf_of(body, n - 4u);
	}
	return rbuf_of(x.buf, 0);
}

/* Finds the element in a record of the template; *len: its length. */
static const uint8_t *element(struct rbuf template, uint16_t template_id, struct rbuf record,
			      uint16_t id, size_t *len)
{
	while (rbuf_left(&template)) {
		bool right = rbuf_u16(&template) == template_id;
		uint16_t n = rbuf_u16(&template);

		for (unsigned i = 0; i < n; i++) {
			uint16_t found = rbuf_u16(&template);
			const uint8_t *p;

			*len = rbuf_u16(&template);
			if (!right)
				continue;
			p = rbuf_take(&record, *len);
			assert_non_null(p);
			if (found == id)
				return p;
		}
		assert_true(!right || !rbuf_left(&record));
	}
	return NULL;
}

static uint64_t number(struct rbuf template, uint16_t template_id, struct rbuf record, uint16_t id)
{
	size_t len;
	const uint8_t *p = element(template, template_id, record, id, &len);
	struct rbuf b = rbuf_of(p, len);

	assert_non_null(p);
	return rbuf_uint(&b, (unsigned)len);
}

static void records_follow_their_template(void **state)
{
	struct sampled_flow f = flow_of(0x00350001);
	struct ipfix_record r = { &f, 123000, 124000, FLOW_IDLE, NODE, 10500, "path=10.0.0.2" };
	uint8_t kept[IPFIX_MESSAGE_MAX];
	struct rbuf templates, record;
	const uint8_t *text;
	size_t len, n;

	(void)state;
	x.sequence = 7;
	ipfix_begin(&x, SELF, 1000);
	assert_true(ipfix_add_templates(&x, 100));
	assert_true(ipfix_add(&x, &r));
	len = ipfix_end(&x);
	assert_int_equal(get_u16(x.buf), 10);
	assert_int_equal(get_u16(x.buf + 2), len);
	assert_int_equal(get_u32(x.buf + 4), 1000);
	assert_int_equal(get_u32(x.buf + 8), 7);
	assert_int_equal(get_u32(x.buf + 12), SELF);
	/* The record of the sampling is a data record too. */
	assert_int_equal(x.sequence, 9);
	templates = set_of(len, 2);
	memcpy(kept, templates.p, rbuf_left(&templates));
	templates = rbuf_of(kept, rbuf_left(&templates));
	record = set_of(len, 256);
	assert_int_equal(number(templates, 256, record, 8), 0x0a0a0001);
	assert_int_equal(number(templates, 256, record, 12), 0x0a0a0002);
	assert_int_equal(number(templates, 256, record, 7), 1);
	assert_int_equal(number(templates, 256, record, 11), 0x35);
	assert_int_equal(number(templates, 256, record, 1), 100);
	assert_int_equal(number(templates, 256, record, 2), 1);
	assert_int_equal(number(templates, 256, record, 153), 124000);
	assert_int_equal(number(templates, 256, record, 136), FLOW_IDLE);
	assert_int_equal(number(templates, 256, record, 14), NODE);
	assert_int_equal(number(templates, 256, record, 530), 10500);
	text = element(templates, 256, record, 83, &n);
	assert_int_equal(n, IPFIX_TEXT_MAX);
	assert_string_equal((const char *)text, r.text);
	f.key.version = 6;
	ipfix_begin(&x, SELF, 1000);
	assert_true(ipfix_add(&x, &r));
	record = set_of(ipfix_end(&x), 257);
	assert_null(element(templates, 257, record, 8, &n));
	assert_non_null(element(templates, 257, record, 27, &n));
	assert_int_equal(n, 16);
}

static void a_full_message_refuses(void **state)
{
	char text[2 * IPFIX_TEXT_MAX];
	struct sampled_flow f = flow_of(1);
	struct ipfix_record r = { .flow = &f, .text = text };
	unsigned n = 0;

	(void)state;
	memset(text, 'x', sizeof(text));
	f.key.version = 6;
	ipfix_begin(&x, SELF, 0);
	assert_int_equal(ipfix_end(&x), 0);
	ipfix_begin(&x, SELF, 0);
	while (ipfix_add(&x, &r))
		n++;
	assert_in_range(n, 4, 6);
	assert_true(x.w.ok);
	assert_in_range(ipfix_end(&x), 1, IPFIX_MESSAGE_MAX);
}

static void templates_are_first_in_a_message(void **state)
{
	struct sampled_flow f = flow_of(1);
	struct ipfix_record r = { .flow = &f, .text = "" };
	const uint8_t *start;

	(void)state;
	ipfix_begin(&x, SELF, 0);
	while (ipfix_add(&x, &r))
		;
	start = x.w.start;
	assert_false(ipfix_add_templates(&x, 100));
	assert_ptr_equal(x.w.start, start);
	assert_in_range(ipfix_end(&x), 1, IPFIX_MESSAGE_MAX);
}

/* --- flows --- */

struct ended {
	unsigned n;
	uint64_t packets, octets;
	enum flow_end why;
};

static void note(void *arg, const struct sampled_flow *f, enum flow_end why)
{
	struct ended *e = arg;

	e->n++;
	e->packets += f->packets;
	e->octets += f->octets;
	e->why = why;
}

static void expire_at(struct flows *t, int64_t s)
{
	for (unsigned i = 0; i < FLOWS_TURNS; i++)
		flows_expire(t, (mono_t){ s * NS_PER_S });
}

static void flows_end_in_time(void **state)
{
	static const struct hash_key key = { 1, 2 };
	struct ended e = { 0 };
	struct flows *t = flows_new(&key, note, &e);
	struct sampled_flow f = flow_of(1);

	(void)state;
	for (int64_t s = 1; s <= 60; s++) {
		f.first = f.last = (mono_t){ s * NS_PER_S };
		flows_add(t, &f);
		expire_at(t, s);
		assert_int_equal(e.n, 0);
	}
	expire_at(t, 61);
	assert_int_equal(e.n, 1);
	assert_int_equal(e.why, FLOW_ACTIVE);
	assert_int_equal(e.packets, 60);
	assert_int_equal(e.octets, 6000);
	flows_add(t, &f);
	expire_at(t, 74);
	assert_int_equal(e.n, 1);
	expire_at(t, 75);
	assert_int_equal(e.why, FLOW_IDLE);
	flows_add(t, &f);
	flows_end_all(t);
	assert_int_equal(e.why, FLOW_FORCED);
	assert_int_equal(e.packets, 62);
	flows_free(t);
}

static void a_full_table_loses_nothing(void **state)
{
	static const struct hash_key key = { 1, 2 };
	struct ended e = { 0 };
	struct flows *t = flows_new(&key, note, &e);

	(void)state;
	for (unsigned turn = 0; turn < 3; turn++)
		for (uint32_t i = 0; i < FLOWS_MAX + 500; i++) {
			struct sampled_flow f = flow_of(i);

			flows_add(t, &f);
		}
	assert_int_equal(e.why, FLOW_NO_ROOM);
	flows_end_all(t);
	assert_int_equal(e.packets, 3 * (FLOWS_MAX + 500));
	/* All places are free again. */
	e.n = 0;
	for (uint32_t i = 0; i < FLOWS_MAX; i++) {
		struct sampled_flow f = flow_of(i);

		flows_add(t, &f);
	}
	assert_int_equal(e.n, 0);
	flows_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_follow_their_template),
		cmocka_unit_test(a_full_message_refuses),
		cmocka_unit_test(templates_are_first_in_a_message),
		cmocka_unit_test(flows_end_in_time),
		cmocka_unit_test(a_full_table_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
