// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/message/msg: every message at its largest size, truncated at every length, and with every
 * field out of range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "golden.h"
#include "sample_msg.h"

#define TYPE_LAST (MSG_TYPES - 1)

/* Decodes a copy of exact size, so that ASan detects a read beyond its end. */
static int decode_copy(const uint8_t *data, size_t len, struct msg *m)
{
	uint8_t *copy = test_malloc(len ? len : 1);
	int err;

	memcpy(copy, data, len);
	memset(m, 0xa5, sizeof(*m));
	err = msg_decode(copy, len, m);
	test_free(copy);
	return err;
}

/* Compares the encoded bytes of a message, and thereby its fields. memcmp() would compare the
 * padding of structs too. */
static void assert_encodes(const struct msg *m, const uint8_t *want, int len)
{
	uint8_t buf[MSG_LEN_MAX];

	assert_int_equal(msg_encode(m, buf, sizeof(buf)), len);
	assert_memory_equal(buf, want, (size_t)len);
}

static void round_trip(const struct msg *m, size_t want_len)
{
	uint8_t buf[MSG_LEN_MAX + 1], cut_buf[MSG_LEN_MAX];
	struct msg back;
	int len = msg_encode(m, buf, MSG_LEN_MAX);

	assert_int_equal(len, want_len);
	assert_int_equal(decode_copy(buf, (size_t)len, &back), 0);
	assert_encodes(&back, buf, len);
	for (int cut = 0; cut < len; cut++) {
		assert_int_equal(decode_copy(buf, (size_t)cut, &back), -EBADMSG);
		assert_int_equal(msg_encode(m, cut_buf, (size_t)cut), -ENOSPC);
	}
	/* The following bytes are padding. */
	buf[len] = 0xff;
	assert_int_equal(decode_copy(buf, (size_t)len + 1, &back), 0);
	assert_encodes(&back, buf, len);
}

static void test_round_trip(void **state)
{
	/* The longest message of each type, computed by hand from doc/protocol.md section 4. */
	static const size_t longest[] = { [MSG_HELLO] = 191,
					  [MSG_SUMMARY_REQ] = 1,
					  [MSG_SUMMARY] = 1159,
					  [MSG_FETCH] = 515,
					  [MSG_RECORD] = 1153,
					  [MSG_ROW] = 1115,
					  [MSG_PING] = 27,
					  [MSG_PONG] = 43,
					  [MSG_NOTICE] = 9,
					  [MSG_SECRETS] = 17,
					  [MSG_CONFLICT] = 141,
					  [MSG_GROUPS] = 1131,
					  [MSG_GROUPS_ACK] = 5,
					  [MSG_SHORT_ROW] = 28 + 81 * 14,
					  [MSG_CAPTURE_START] = 64,
					  [MSG_CAPTURE_READ] = 9,
					  [MSG_CAPTURE_DATA] = 29 + 9 * 12 + 1024,
					  [MSG_CAPTURE_LOOKUP] = 14 + 96 * 8,
					  [MSG_CAPTURE_SEEN] = 14 + 96 * 12 };
	struct msg m;

	(void)state;
	for (uint8_t type = MSG_HELLO; type <= TYPE_LAST; type++) {
		sample_full(type, &m);
		round_trip(&m, longest[type]);
	}
}

/* Each shorter message is a PING without the attribute. */
static void round_trip_line(const struct msg *m)
{
	uint8_t buf[MSG_LEN_MAX];
	struct msg back;
	int len = msg_encode(m, buf, sizeof(buf));

	assert_int_equal(len, MSG_PING_LEN + MSG_PING_LINE_LEN);
	assert_golden("msg-ping-line", buf, (size_t)len);
	assert_int_equal(decode_copy(buf, (size_t)len, &back), 0);
	assert_encodes(&back, buf, len);
	for (int cut = MSG_PING_LEN; cut < len; cut++) {
		assert_int_equal(decode_copy(buf, (size_t)cut, &back), 0);
		assert_int_equal(back.ping.line, 0);
	}
}

/* Each shorter message is a PONG without the attribute, as an older node sends. */
static void round_trip_received(const struct msg *m)
{
	uint8_t buf[MSG_LEN_MAX];
	struct msg back;
	int len = msg_encode(m, buf, sizeof(buf));

	assert_golden("msg-pong-received", buf, (size_t)len);
	assert_int_equal(decode_copy(buf, (size_t)len, &back), 0);
	assert_encodes(&back, buf, len);
	for (int cut = MSG_PONG_LEN; cut < len; cut++) {
		assert_int_equal(decode_copy(buf, (size_t)cut, &back), 0);
		assert_false(back.pong.has_received);
	}
}

static void test_document(void **state)
{
	uint8_t buf[MSG_LEN_MAX];
	char name[40];
	struct msg m;

	(void)state;
	for (uint8_t type = MSG_HELLO; type <= TYPE_LAST; type++) {
		int len;

		sample_small(type, &m);
		len = msg_encode(&m, buf, sizeof(buf));
		assert_true(len > 0);
		snprintf(name, sizeof(name), "msg-%s", msg_type_name(type));
		assert_golden(name, buf, (size_t)len);
		round_trip(&m, (size_t)len);
	}
}

/* Any byte value causes no read outside the buffer, and a decoded message can be encoded again. */
static void test_mutation(void **state)
{
	static const uint8_t values[] = { 0, 1, 4, 6, 0x7f, 0x80, 0xff };
	uint8_t buf[MSG_LEN_MAX], out[MSG_LEN_MAX];
	struct msg m, back;

	(void)state;
	for (uint8_t type = MSG_HELLO; type <= TYPE_LAST; type++) {
		sample_full(type, &m);
		int len = msg_encode(&m, buf, sizeof(buf));

		for (int at = 0; at < len; at++) {
			uint8_t before = buf[at];

			for (size_t v = 0; v < sizeof(values); v++) {
				buf[at] = values[v];
				if (decode_copy(buf, (size_t)len, &back) == 0)
					assert_true(msg_encode(&back, out, sizeof(out)) > 0);
			}
			buf[at] = before;
		}
	}
}

static void test_unknown_type(void **state)
{
	uint8_t buf[64] = { 0 };
	struct msg m = { .type = 0 };

	(void)state;
	for (unsigned type = 0; type < 256; type++) {
		if (type >= MSG_HELLO && type <= TYPE_LAST)
			continue;
		buf[0] = (uint8_t)type;
		assert_int_equal(decode_copy(buf, sizeof(buf), &m), -ENOMSG);
		m.type = (uint8_t)type;
		assert_int_equal(msg_encode(&m, buf, sizeof(buf)), -EINVAL);
		assert_string_equal(msg_type_name((uint8_t)type), "unknown");
	}
	assert_string_equal(msg_type_name(MSG_HELLO), "hello");
	assert_int_equal(decode_copy(buf, 0, &m), -EBADMSG);
}

/* A message with a field out of range is not encoded. */
static void refuse_encode(const struct msg *m)
{
	uint8_t buf[MSG_LEN_MAX];

	assert_int_equal(msg_encode(m, buf, sizeof(buf)), -EINVAL);
}

/* The small sample with bytes replaced at `at` is not decoded. */
static void refuse_decode(uint8_t type, size_t at, const void *bytes, size_t n)
{
	uint8_t buf[MSG_LEN_MAX + 64] = { 0 };
	struct msg m;
	int len;

	sample_small(type, &m);
	len = msg_encode(&m, buf, MSG_LEN_MAX);
	assert_true(len > 0 && at + n <= (size_t)len);
	memcpy(buf + at, bytes, n);
	/* The buffer is longer than the message, so that the value is refused and not the
	 * length. */
	assert_int_equal(msg_decode(buf, sizeof(buf), &m), -EBADMSG);
}

static void test_hello_ranges(void **state)
{
	struct msg m;

	(void)state;
	sample_small(MSG_HELLO, &m);
	m.hello.session_mine = 0;
	refuse_encode(&m);
	refuse_decode(MSG_HELLO, 9, "\0\0\0\0\0\0\0\0", 8);
	sample_small(MSG_HELLO, &m);
	m.hello.observed.port = 0;
	refuse_encode(&m);
	refuse_decode(MSG_HELLO, 177, "\0\0", 2);
	refuse_decode(MSG_HELLO, 173, "\xe0", 1); /* multicast */
	refuse_decode(MSG_HELLO, 172, "\5", 1);	  /* unknown family */
	sample_small(MSG_HELLO, &m);
	m.hello.observed.ip.family = 5;
	refuse_encode(&m);
	/* HELLO without an observed address is valid and shorter. */
	sample_small(MSG_HELLO, &m);
	memset(&m.hello.observed, 0, sizeof(m.hello.observed));
	round_trip(&m, 173);
}

static void test_list_ranges(void **state)
{
	struct msg m;

	(void)state;
	sample_full(MSG_SUMMARY, &m);
	m.summary.n++;
	refuse_encode(&m);
	sample_full(MSG_SUMMARY, &m);
	m.summary.entry[MSG_SUMMARY_MAX - 1].origin = NODE_ID_NONE;
	refuse_encode(&m);
	sample_full(MSG_SUMMARY, &m);
	m.summary.part = m.summary.parts;
	refuse_encode(&m);
	sample_full(MSG_SUMMARY, &m);
	m.summary.parts++;
	refuse_encode(&m);
	refuse_decode(MSG_SUMMARY, 1, "\0\1", 2);     /* part 1 of 1 */
	refuse_decode(MSG_SUMMARY, 1, "\0\0\0\0", 4); /* 0 parts */
	refuse_decode(MSG_SUMMARY, 3, "\0\x41", 2);   /* 65 parts */
	refuse_decode(MSG_SUMMARY, 5, "\0\x31", 2);   /* 49 entries */
	refuse_decode(MSG_SUMMARY, 5, "\xff\xff", 2);
	refuse_decode(MSG_SUMMARY, 7, "\0\0\0\0", 4); /* origin 0 */

	sample_full(MSG_FETCH, &m);
	m.fetch.n++;
	refuse_encode(&m);
	sample_full(MSG_FETCH, &m);
	m.fetch.origin[0] = NODE_ID_NONE;
	refuse_encode(&m);
	refuse_decode(MSG_FETCH, 1, "\0\x81", 2);
	refuse_decode(MSG_FETCH, 3, "\0\0\0\0", 4);

	sample_small(MSG_NOTICE, &m);
	m.notice.next = NODE_ID_NONE;
	refuse_encode(&m);
	refuse_decode(MSG_NOTICE, 1, "\0\0\0\0", 4);
	refuse_decode(MSG_NOTICE, 5, "\0\0\0\0", 4);
}

static void refuse_record(void (*spoil)(struct msg_record *))
{
	struct msg m;

	sample_small(MSG_RECORD, &m);
	spoil(&m.record);
	refuse_encode(&m);
}

static void no_origin(struct msg_record *r)
{
	r->origin = NODE_ID_NONE;
}
static void no_seq(struct msg_record *r)
{
	r->seq = 0;
}
static void spaced_name(struct msg_record *r)
{
	r->name[2] = ' ';
}
static void foreign_name(struct msg_record *r)
{
	r->name[0] = (char)0xc3;
}
static void endless_name(struct msg_record *r)
{
	memset(r->name, 'n', sizeof(r->name));
}
static void many_locators(struct msg_record *r)
{
	r->n_locators = MSG_LOCATORS_MAX + 1;
}
static void many_overlay(struct msg_record *r)
{
	r->n_overlay = MSG_OVERLAY_MAX + 1;
}
static void many_prefixes(struct msg_record *r)
{
	r->n_prefixes = MSG_PREFIXES_MAX + 1;
}
static void multicast_locator(struct msg_record *r)
{
	r->locator[0].ip.b[0] = 224;
}
static void no_locator(struct msg_record *r)
{
	r->locator[1].ip.family = 0;
}
static void multicast_overlay(struct msg_record *r)
{
	r->overlay[0].b[0] = 224;
}
static void long_prefix(struct msg_record *r)
{
	r->prefix[0].len = 33;
}
static void no_prefix(struct msg_record *r)
{
	r->prefix[0].ip.family = 0;
}
static void odd_prefix(struct msg_record *r)
{
	r->prefix[0].ip.family = 5;
}

static void test_record_ranges(void **state)
{
	static void (*const spoil[])(struct msg_record *) = {
		no_origin,	   no_seq,	  spaced_name,
		foreign_name,	   endless_name,  many_locators,
		many_overlay,	   many_prefixes, no_locator,
		multicast_locator, long_prefix,	  multicast_overlay,
		no_prefix,	   odd_prefix,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++)
		refuse_record(spoil[i]);
	/* Offsets in the example of the document: name 19, locators 25, overlay 52, prefixes 58. */
	refuse_decode(MSG_RECORD, 1, "\0\0\0\0", 4);
	refuse_decode(MSG_RECORD, 13, "\0\0\0\0", 4);
	refuse_decode(MSG_RECORD, 19, "\x21", 1); /* name of 33 bytes */
	refuse_decode(MSG_RECORD, 22, " ", 1);
	refuse_decode(MSG_RECORD, 22, "\0", 1);
	refuse_decode(MSG_RECORD, 22, "\x7f", 1);
	refuse_decode(MSG_RECORD, 25, "\x09", 1);
	refuse_decode(MSG_RECORD, 26, "\0", 1); /* locator of family 0 */
	refuse_decode(MSG_RECORD, 27, "\xff\xff\xff\xff", 4);
	refuse_decode(MSG_RECORD, 31, "\0\0", 2);
	refuse_decode(MSG_RECORD, 52, "\x05", 1);
	refuse_decode(MSG_RECORD, 58, "\x21", 1);
	refuse_decode(MSG_RECORD, 64, "\x21", 1); /* prefix of 33 bits */
}

/* Host bits after a prefix are ignored and not an error. */
static int with_vlans(uint16_t flags, uint8_t n, struct id_range a, struct id_range b)
{
	uint8_t buf[MSG_LEN_MAX];
	struct msg m;

	sample_small(MSG_RECORD, &m);
	m.record.flags = flags;
	m.record.lan = (struct record_lan){ 0 };
	m.record.n_segments = n;
	m.record.segment[0] = a;
	m.record.segment[1] = b;
	return msg_encode(&m, buf, sizeof(buf));
}

/* Attributes of a newer release are kept, and a malformed list is refused. */
static void test_record_attributes(void **state)
{
	static const uint8_t list[] = { 200, 3, 'a', 'b', 'c', 201, 0 };
	uint8_t buf[MSG_LEN_MAX] = { 0 };
	struct msg m, back;
	int len, plain;

	(void)state;
	sample_small(MSG_RECORD, &m);
	plain = msg_encode(&m, buf, sizeof(buf));
	m.record.n_attributes = sizeof(list);
	memcpy(m.record.attributes, list, sizeof(list));
	memset(m.record.attributes_signature, 0x51, MSG_SIGNATURE_LEN);
	len = msg_encode(&m, buf, sizeof(buf));
	assert_int_equal(len, plain + 2 + (int)sizeof(list) + MSG_SIGNATURE_LEN);
	assert_int_equal(msg_decode(buf, (size_t)len, &back), 0);
	assert_memory_equal(&back, &m, sizeof(m));
	/* The padding of a record is no attribute. */
	memset(buf + plain, 0, sizeof(buf) - (size_t)plain);
	assert_int_equal(msg_decode(buf, sizeof(buf), &back), 0);
	assert_int_equal(back.record.n_attributes, 0);
	/* A list that is too long, and a truncated one. */
	buf[plain + 1] = MSG_ATTRIBUTES_MAX + 1;
	assert_int_equal(msg_decode(buf, sizeof(buf), &back), -EBADMSG);
	buf[plain + 1] = 3;
	assert_int_equal(msg_decode(buf, (size_t)plain + 5, &back), -EBADMSG);
	/* A value that exceeds the list. */
	m.record.attributes[1] = 200;
	refuse_encode(&m);
}

/* Any message may continue behind its body. */
static void test_attributes_behind_the_body(void **state)
{
	static const uint8_t list[] = { 200, 3, 'a', 'b', 'c', 0, 0, 0 };
	uint8_t buf[MSG_LEN_MAX + sizeof(list)];
	struct msg m, plain, back;

	(void)state;
	for (uint8_t type = MSG_HELLO; type <= TYPE_LAST; type++) {
		int len;

		if (type == MSG_RECORD)
			continue;
		sample_small(type, &m);
		len = msg_encode(&m, buf, MSG_LEN_MAX);
		assert_int_equal(msg_decode(buf, (size_t)len, &plain), 0);
		memcpy(buf + len, list, sizeof(list));
		assert_int_equal(msg_decode(buf, (size_t)len + sizeof(list), &back), 0);
		assert_memory_equal(&back, &plain, sizeof(back));
	}
}

static void test_ping_line(void **state)
{
	/* An unknown attribute, LINE with another length, then LINE. */
	static const uint8_t behind[] = { 9, 2, 1, 1, 1, 2, 7, 7, 1, 1, 2 };
	/* Lists that end early: padding, and attributes beyond the message. */
	static const uint8_t none[][3] = { { 0, 1, 2 }, { 1, 1 }, { 9, 2, 2 }, { 1 } };
	static const size_t none_len[] = { 3, 2, 3, 1 };
	uint8_t buf[MSG_LEN_MAX] = { 0 };
	struct msg m, back;

	(void)state;
	sample_small(MSG_PING, &m);
	m.ping.size = 76;
	m.ping.line = 2;
	round_trip_line(&m);
	sample_small(MSG_PONG, &m);
	m.pong.has_received = true;
	m.pong.received = 1500000000;
	round_trip_received(&m);
	sample_small(MSG_PING, &m);
	m.ping.line = 0;
	assert_int_equal(msg_encode(&m, buf, sizeof(buf)), MSG_PING_LEN);
	memcpy(buf + MSG_PING_LEN, behind, sizeof(behind));
	assert_int_equal(decode_copy(buf, MSG_PING_LEN + sizeof(behind), &back), 0);
	assert_int_equal(back.ping.line, 2);
	for (size_t i = 0; i < array_size(none); i++) {
		memcpy(buf + MSG_PING_LEN, none[i], 3);
		assert_int_equal(decode_copy(buf, MSG_PING_LEN + none_len[i], &back), 0);
		assert_int_equal(back.ping.line, 0);
	}
}

static void test_record_vlans(void **state)
{
	const struct id_range low = { 10, 19 }, high = { 21, 0xffffff };

	(void)state;
	assert_true(with_vlans(RECORD_SEGMENTS, 2, low, high) > 0);
	assert_true(with_vlans(RECORD_SEGMENTS, 0, low, high) > 0); /* no VLAN */
	assert_true(with_vlans(0, 0, low, high) > 0);		    /* all VLANs */
	assert_int_equal(with_vlans(0, 1, low, high), -EINVAL);
	assert_int_equal(with_vlans(RECORD_SEGMENTS, 2, high, low), -EINVAL);
	assert_int_equal(with_vlans(RECORD_SEGMENTS, 2, low, (struct id_range){ 20, 30 }), -EINVAL);
	assert_int_equal(with_vlans(RECORD_SEGMENTS, 1, (struct id_range){ 5, 4 }, low), -EINVAL);
	assert_int_equal(with_vlans(RECORD_SEGMENTS, 1, (struct id_range){ 5, 0x1000000 }, low),
			 -EINVAL);
}

static void test_prefix_mask(void **state)
{
	uint8_t buf[MSG_LEN_MAX];
	struct msg m, back;
	int len;

	(void)state;
	sample_small(MSG_RECORD, &m);
	memset(m.record.prefix[0].ip.b, 0xff, 4);
	len = msg_encode(&m, buf, sizeof(buf));
	assert_int_equal(len, 65 + 7 + 21 + MSG_KEY_LEN + MSG_SIGNATURE_LEN);
	assert_memory_equal(buf + 60, "\xff\xff\x80\x00\x11", 5);
	memset(buf + 60, 0xff, 4);
	assert_int_equal(msg_decode(buf, (size_t)len, &back), 0);
	assert_memory_equal(back.record.prefix[0].ip.b, "\xff\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	for (uint8_t bits = 0; bits <= 32; bits++) {
		const uint8_t *ip = back.record.prefix[0].ip.b;

		buf[64] = bits;
		assert_int_equal(msg_decode(buf, (size_t)len, &back), 0);
		assert_int_equal((uint32_t)ip[0] << 24 | ip[1] << 16 | ip[2] << 8 | ip[3],
				 (uint32_t)(0xffffffff00000000ULL >> bits));
	}
}

static void test_row_ranges(void **state)
{
	uint8_t buf[MSG_LEN_MAX];
	struct msg m, back;

	(void)state;
	sample_full(MSG_ROW, &m);
	m.row.n++;
	refuse_encode(&m);
	sample_small(MSG_ROW, &m);
	m.row.base = m.row.seq;
	refuse_encode(&m);
	m.row.seq = m.row.base = 0;
	refuse_encode(&m);
	sample_small(MSG_ROW, &m);
	m.row.entry[1].link.loss_pm = 1001;
	refuse_encode(&m);
	sample_small(MSG_ROW, &m);
	m.row.entry[1].node = NODE_ID_NONE;
	refuse_encode(&m);
	refuse_decode(MSG_ROW, 1, "\0\0\0\0", 4);    /* origin */
	refuse_decode(MSG_ROW, 13, "\0\0\0\0", 4);   /* sequence */
	refuse_decode(MSG_ROW, 17, "\0\0\0\x29", 4); /* base */
	refuse_decode(MSG_ROW, 21, "\0\1", 2);	     /* part */
	refuse_decode(MSG_ROW, 23, "\0\x41", 2);     /* parts */
	refuse_decode(MSG_ROW, 25, "\0\x41", 2);     /* 65 entries */
	refuse_decode(MSG_ROW, 27, "\0\0\0\0", 4);   /* node */
	refuse_decode(MSG_ROW, 31, "\x83\xe9", 2);   /* loss of 1001 */
	/* Times that are too large saturate without an error. */
	sample_small(MSG_ROW, &m);
	m.row.entry[0].link.rtt_us = 0x1000000;
	m.row.entry[0].link.var_us = UINT32_MAX;
	assert_true(msg_encode(&m, buf, sizeof(buf)) > 0);
	assert_int_equal(msg_decode(buf, sizeof(buf), &back), 0);
	assert_int_equal(back.row.entry[0].link.rtt_us, 0xffffff);
	assert_int_equal(back.row.entry[0].link.var_us, 0xffffff);
}

/* Times of SHORT-ROW have an error of 0.4 % at most, variations one of 3.2 % or 8 us. */
static void test_short_row_precision(void **state)
{
	uint8_t buf[MSG_LEN_MAX];
	struct msg m, back;

	(void)state;
	for (uint32_t us = 0; us < 16711680; us += 1 + us / 97) {
		sample_small(MSG_SHORT_ROW, &m);
		m.row.entry[0].link.rtt_us = us;
		m.row.entry[0].link.long_term_us = us * 3 / 4;
		m.row.entry[0].link.var_us = us / 4;
		assert_true(msg_encode(&m, buf, sizeof(buf)) > 0);
		assert_int_equal(msg_decode(buf, sizeof(buf), &back), 0);
		assert_in_range(back.row.entry[0].link.rtt_us, us - us / 255, us + us / 255);
		assert_in_range(back.row.entry[0].link.long_term_us, us * 3 / 4 - us * 3 / 1020,
				us * 3 / 4 + us * 3 / 1020);
		assert_true(abs((int)back.row.entry[0].link.var_us - (int)us / 4) <=
			    8 + (int)us / 124);
	}
}

static void test_short_row_ranges(void **state)
{
	static const uint8_t zeros[8] = { 0 };
	struct msg m;

	(void)state;
	sample_small(MSG_SHORT_ROW, &m);
	m.row.entry[1].node = m.row.entry[0].node;
	refuse_encode(&m);
	sample_small(MSG_SHORT_ROW, &m);
	m.row.entry[1].link.silent = true;
	refuse_encode(&m);
	sample_small(MSG_SHORT_ROW, &m);
	m.row.n = MSG_SHORT_ROW_MAX + 1;
	refuse_encode(&m);
	refuse_decode(MSG_SHORT_ROW, 1, zeros, 4);	     /* origin */
	refuse_decode(MSG_SHORT_ROW, 13, zeros, 4);	     /* sequence */
	refuse_decode(MSG_SHORT_ROW, 21, "\1", 1);	     /* part */
	refuse_decode(MSG_SHORT_ROW, 22, "\x41", 1);	     /* parts */
	refuse_decode(MSG_SHORT_ROW, 27, "\x81", 1);	     /* 129 entries */
	refuse_decode(MSG_SHORT_ROW, 28, "\x80", 1);	     /* longer than necessary */
	refuse_decode(MSG_SHORT_ROW, 28, zeros, 1);	     /* the same node */
	refuse_decode(MSG_SHORT_ROW, 28, "\x90", 1);	     /* above 32 bits */
	refuse_decode(MSG_SHORT_ROW, 33, "\xe9\x00", 2);     /* a time above 16.7 s */
	refuse_decode(MSG_SHORT_ROW, 35, "\x80\x04\x00", 3); /* a difference would suffice */
	refuse_decode(MSG_SHORT_ROW, 37, zeros, 2);	     /* loss of 0 stated */
}

static int with_lan(uint16_t flags, const struct record_lan *lan)
{
	struct msg m, back;
	uint8_t buf[MSG_LEN_MAX];
	int len;

	sample_small(MSG_RECORD, &m);
	m.record.flags = flags;
	m.record.n_segments = 0;
	m.record.lan = *lan;
	len = msg_encode(&m, buf, sizeof(buf));
	if (len > 0) {
		assert_int_equal(msg_decode(buf, (size_t)len, &back), 0);
		assert_memory_equal(&back.record.lan, lan, sizeof(*lan));
	}
	return len;
}

static void test_record_lan(void **state)
{
	struct record_lan lan = { .n = 2, .node = { 5, 7 } }, none = { 0 }, many = { .n = 9 };

	(void)state;
	assert_true(with_lan(RECORD_LAN, &lan) == with_lan(0, &none) + 17 + 2 * 4);
	assert_true(with_lan(RECORD_LAN, &none) > 0);
	assert_int_equal(with_lan(0, &lan), -EINVAL);
	assert_int_equal(with_lan(RECORD_LAN, &many), -EINVAL);
	lan.node[1] = 5; /* duplicate */
	assert_int_equal(with_lan(RECORD_LAN, &lan), -EINVAL);
	lan.node[1] = NODE_ID_NONE;
	assert_int_equal(with_lan(RECORD_LAN, &lan), -EINVAL);
}

/* Each class counts from 0 to 3 and wraps. Four changes between two observations are not
 * detected. */
static void test_lan_counters(void **state)
{
	struct record_lan a = { 0 }, b = { 0 };

	(void)state;
	for (unsigned i = 1; i < 4; i++) {
		record_lan_count(&b, lan_class(63) | lan_class(64));
		assert_true(record_lan_changed(&a, &b) == (1ULL << 63 | 1));
		assert_true(record_lan_changed(&b, &a) == (1ULL << 63 | 1));
	}
	record_lan_count(&b, lan_class(63));
	assert_true(record_lan_changed(&a, &b) == 1);
	record_lan_count(&b, 0);
	assert_true(record_lan_changed(&a, &b) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_mutation),
		cmocka_unit_test(test_unknown_type),
		cmocka_unit_test(test_hello_ranges),
		cmocka_unit_test(test_list_ranges),
		cmocka_unit_test(test_record_ranges),
		cmocka_unit_test(test_record_attributes),
		cmocka_unit_test(test_attributes_behind_the_body),
		cmocka_unit_test(test_ping_line),
		cmocka_unit_test(test_record_vlans),
		cmocka_unit_test(test_prefix_mask),
		cmocka_unit_test(test_row_ranges),
		cmocka_unit_test(test_short_row_precision),
		cmocka_unit_test(test_short_row_ranges),
		cmocka_unit_test(test_record_lan),
		cmocka_unit_test(test_lan_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
