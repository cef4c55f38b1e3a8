// SPDX-License-Identifier: GPL-2.0-or-later
/* wire/accel: messages between accelerators, at both ends of every range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "golden.h"
#include "wire/accel.h"
#include "ipc/accel_queue.h"
#include "wire/bytes.h"
#include "wire/frame/tcp.h"

static struct ip_addr ip(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_parse(text, &a), 0);
	return a;
}

static struct accel_frame offer(const char *near, const char *far)
{
	return (struct accel_frame){
		.type = ACCEL_OFFER,
		.stream = 9,
		.offer = { .key = { 20, ip(near), ip(far), 40000, 2049 },
			   .view = { { .seq = 0xfffffff0,
				       .ack = 0x00001000,
				       .fin = true,
				       .has_ts = true,
				       .ts_val = 0x01020304,
				       .syn = { 7, true, true, 1460 } },
				     { .seq = 0x00001000,
				       .ack = 0xffffffe0,
				       .syn = { TCP_SCALE_UNKNOWN, false, false, 0 } } } },
	};
}

static void test_document(void **state)
{
	struct accel_frame f = offer("192.0.2.1", "192.0.2.2"), accept = f;
	struct accel_frame hello = { .type = ACCEL_HELLO,
				     .hello = { ACCEL_VERSION, 0x0a000001, 26 } };
	struct accel_frame no = { .type = ACCEL_REFUSE,
				  .stream = ACCEL_FOLLOWERS + 1,
				  .refuse = { ACCEL_FIN_DIFFERS } };
	uint8_t buf[ACCEL_SMALL_MAX];

	(void)state;
	assert_golden("accel-hello", buf, accel_encode(&hello, buf));
	assert_golden("accel-offer", buf, accel_encode(&f, buf));
	accept.type = ACCEL_ACCEPT;
	assert_golden("accel-accept", buf, accel_encode(&accept, buf));
	assert_golden("accel-refuse", buf, accel_encode(&no, buf));
}

/* An encoded message decodes to equal bytes, and does not decode if a byte is missing. */
static void assert_round(const struct accel_frame *f, struct accel_frame *back)
{
	uint8_t buf[ACCEL_SMALL_MAX], again[ACCEL_SMALL_MAX];
	size_t len = accel_encode(f, buf), used;

	for (size_t n = 0; n < len; n++)
		assert_int_equal(accel_decode(buf, n, back, &used), ACCEL_MORE);
	assert_int_equal(accel_decode(buf, len, back, &used), ACCEL_OK);
	assert_int_equal(used, len);
	assert_int_equal(accel_encode(back, again), len);
	assert_memory_equal(buf, again, len);
	/* A wrong length for the type. */
	put_u24(buf + 5, (uint32_t)(len - ACCEL_HDR_LEN + 1));
	assert_int_equal(accel_decode(buf, len + 1, back, &used), ACCEL_BAD);
	if (len > ACCEL_HDR_LEN) {
		put_u24(buf + 5, (uint32_t)(len - ACCEL_HDR_LEN - 1));
		assert_int_equal(accel_decode(buf, len, back, &used), ACCEL_BAD);
	}
}

static void test_every_type(void **state)
{
	struct accel_frame back, four = offer("192.0.2.1", "192.0.2.2"),
				 six = offer("2001:db8::1", "2001:db8::2");

	(void)state;
	for (uint8_t type = ACCEL_HELLO; type < ACCEL_TYPES; type++) {
		struct accel_frame f = { .type = type, .stream = 1 };

		if (accel_has_data(type) || type == ACCEL_OFFER)
			continue;
		if (type == ACCEL_HELLO || type == ACCEL_PING || type == ACCEL_PONG)
			f.stream = 0;
		assert_round(&f, &back);
		assert_int_equal(back.type, type);
	}
	assert_round(&four, &back);
	assert_round(&six, &back);
	assert_int_equal(back.stream, 9);
	assert_int_equal(back.offer.key.vlan, 20);
	assert_true(ip_equal(&back.offer.key.far, &six.offer.key.far));
	assert_int_equal(back.offer.view.near.seq, 0xfffffff0);
	assert_int_equal(back.offer.view.near.ack, 0x00001000);
	assert_int_equal(back.offer.view.near.ts_val, 0x01020304);
	assert_true(back.offer.view.near.fin && back.offer.view.near.has_ts);
	assert_int_equal(back.offer.view.near.syn.scale, 7);
	assert_true(back.offer.view.near.syn.scaling && back.offer.view.near.syn.sack);
	assert_int_equal(back.offer.view.near.syn.mss, 1460);
	assert_int_equal(back.offer.view.far.syn.scale, TCP_SCALE_UNKNOWN);
	assert_false(back.offer.view.far.fin || back.offer.view.far.has_ts);
}

static void test_data(void **state)
{
	struct accel_frame f = { .type = ACCEL_DATA, .stream = 3, .data = { NULL, 5 } }, back;
	uint8_t buf[ACCEL_SMALL_MAX];
	size_t used;

	(void)state;
	assert_int_equal(accel_encode(&f, buf), ACCEL_HDR_LEN);
	memcpy(buf + ACCEL_HDR_LEN, "hello", 5);
	assert_int_equal(accel_decode(buf, ACCEL_HDR_LEN + 4, &back, &used), ACCEL_MORE);
	assert_int_equal(accel_decode(buf, ACCEL_HDR_LEN + 5, &back, &used), ACCEL_OK);
	assert_int_equal(used, ACCEL_HDR_LEN + 5);
	assert_ptr_equal(back.data.data, buf + ACCEL_HDR_LEN);
	assert_int_equal(back.data.len, 5);
}

static enum accel_parse try(uint8_t type, uint32_t stream, uint32_t len)
{
	uint8_t buf[ACCEL_HDR_LEN];
	struct accel_frame f;
	size_t used;

	buf[0] = type;
	put_u32(buf + 1, stream);
	put_u24(buf + 5, len);
	return accel_decode(buf, sizeof(buf), &f, &used);
}

static void test_bad(void **state)
{
	struct accel_frame f = offer("192.0.2.1", "192.0.2.2"), back;
	uint8_t buf[ACCEL_SMALL_MAX];
	size_t len, used;

	(void)state;
	assert_int_equal(try(0, 0, 0), ACCEL_BAD);
	assert_int_equal(try(ACCEL_TYPES, 1, 0), ACCEL_BAD);
	assert_int_equal(try(255, 1, 0), ACCEL_BAD);
	assert_int_equal(try(ACCEL_DATA, 0, 5), ACCEL_BAD);
	assert_int_equal(try(ACCEL_DATA, 1, 0), ACCEL_BAD);
	assert_int_equal(try(ACCEL_PING, 1, 8), ACCEL_BAD);
	assert_int_equal(try(ACCEL_DATA, 1, ACCEL_BODY_MAX), ACCEL_MORE);
	/* A frame above the largest size is refused at once. */
	assert_int_equal(try(ACCEL_DATA, 1, ACCEL_BODY_MAX + 1), ACCEL_BAD);

	len = accel_encode(&f, buf);
	buf[ACCEL_HDR_LEN + 2] = 5; /* family */
	assert_int_equal(accel_decode(buf, len, &back, &used), ACCEL_BAD);
	buf[ACCEL_HDR_LEN + 2] = 4;
	put_u16(buf + ACCEL_HDR_LEN, 4095); /* VLAN */
	assert_int_equal(accel_decode(buf, len, &back, &used), ACCEL_BAD);
	put_u16(buf + ACCEL_HDR_LEN, 4094);
	assert_int_equal(accel_decode(buf, len, &back, &used), ACCEL_OK);
	buf[len - 4] = TCP_SCALE_MAX + 1; /* of the far host */
	assert_int_equal(accel_decode(buf, len, &back, &used), ACCEL_BAD);
	buf[len - 4] = TCP_SCALE_MAX;
	buf[len - 3] = 0x10; /* an unknown flag */
	assert_int_equal(accel_decode(buf, len, &back, &used), ACCEL_BAD);
}

static struct accel_settings largest(void)
{
	struct accel_settings s = { .mode = ACCEL_MOVED,
				    .threshold_us = 50000,
				    .segments = 32,
				    .maximum = 4096,
				    .undelivered = 4 << 20,
				    .cache_log = 27 };

	s.include.n_prefixes = ACCEL_PREFIXES_MAX;
	for (unsigned i = 0; i < ACCEL_PREFIXES_MAX; i++)
		s.include.prefix[i] = (struct prefix){ { 6, { 0x20, 1 } }, 128 };
	s.include.n_ports = ACCEL_PORTS_MAX;
	for (unsigned i = 0; i < ACCEL_PORTS_MAX; i++)
		s.include.port[i] = (struct accel_ports){ 1, 65535 };
	s.exclude = s.include;
	return s;
}

/* No setting of leond exceeds an array or a window. */
static void test_bad_settings(void **state)
{
	struct accel_notify_frame f = { .what = ACCEL_NOTIFY_SETTINGS, .settings = largest() },
				  back;
	uint8_t buf[ACCEL_NOTIFY_MAX];
	size_t len = accel_notify_encode(&f, buf), prefixes = 19;

	(void)state;
	assert_int_equal(accel_notify_decode(buf, len, &back), 0);
	buf[1] = ACCEL_MODES;
	assert_int_equal(accel_notify_decode(buf, len, &back), -EBADMSG);
	buf[1] = ACCEL_OFF;
	buf[prefixes - 1] = 28; /* log2 of the cache */
	assert_int_equal(accel_notify_decode(buf, len, &back), -EBADMSG);
	buf[prefixes - 1] = 0;
	buf[prefixes] = ACCEL_PREFIXES_MAX + 1;
	assert_int_equal(accel_notify_decode(buf, len, &back), -EBADMSG);
	buf[prefixes] = ACCEL_PREFIXES_MAX;
	buf[prefixes + 1] = 5; /* family */
	assert_int_equal(accel_notify_decode(buf, len, &back), -EBADMSG);
	buf[prefixes + 1] = 4;
	assert_int_equal(accel_notify_decode(buf, len, &back), -EBADMSG); /* 128 bits of IPv4 */
}

static bool admits(const struct accel_settings *s, const char *a, const char *b, uint16_t port)
{
	struct ip_addr x = ip(a), y = ip(b);

	/* Either side may be the client. */
	assert_int_equal(accel_settings_admit(s, &x, &y, port, 50000),
			 accel_settings_admit(s, &y, &x, 50000, port));
	return accel_settings_admit(s, &x, &y, port, 50000);
}

static void test_selection(void **state)
{
	struct accel_settings s = { 0 };

	(void)state;
	assert_true(admits(&s, "10.0.0.1", "10.0.0.2", 80));
	s.include.n_ports = 1;
	assert_true(accel_ports_parse("8000-8080", &s.include.port[0]));
	assert_false(admits(&s, "10.0.0.1", "10.0.0.2", 80));
	assert_true(admits(&s, "10.0.0.1", "10.0.0.2", 8000));
	assert_true(admits(&s, "10.0.0.1", "10.0.0.2", 8080));
	assert_false(admits(&s, "10.0.0.1", "10.0.0.2", 8081));
	/* Both addresses must match. */
	s.include.n_prefixes = 1;
	assert_int_equal(prefix_parse("10.9.0.0/16", &s.include.prefix[0]), 0);
	assert_false(admits(&s, "10.0.0.1", "10.0.0.2", 8000));
	assert_true(admits(&s, "10.9.0.1", "10.0.0.2", 8000));
	assert_false(admits(&s, "2001:db8::1", "2001:db8::2", 8000));
	/* An exclusion has precedence over an inclusion. */
	s.exclude.n_prefixes = 1;
	assert_int_equal(prefix_parse("10.0.0.2", &s.exclude.prefix[0]), 0);
	assert_false(admits(&s, "10.9.0.1", "10.0.0.2", 8000));
	assert_true(admits(&s, "10.9.0.1", "10.0.0.3", 8000));
	s.exclude.n_ports = 1;
	assert_true(accel_ports_parse("8080", &s.exclude.port[0]));
	assert_false(admits(&s, "10.9.0.1", "10.0.0.3", 8080));
}

static void test_ports(void **state)
{
	static const char *const bad[] = {
		"",    "0",  "-",  "1-", "65536", "1-65536",
		"2-1", " 1", "1 ", "+1", "01",	  "99999999999999999999"
	};
	struct accel_ports p;

	(void)state;
	for (unsigned i = 0; i < array_size(bad); i++)
		if (accel_ports_parse(bad[i], &p))
			fail_msg("\"%s\" is a port", bad[i]);
	assert_true(accel_ports_parse("1-65535", &p));
	assert_int_equal(p.last, 65535);
}

static void test_queue(void **state)
{
	struct accel_notify_frame say[] = {
		{ .what = ACCEL_NOTIFY_HERE, .version = 1 },
		{ .what = ACCEL_NOTIFY_SETUP,
		  .setup = { 0x0a000001, { { 2, 1, 2, 3, 4, 5 } }, 2 } },
		{ .what = ACCEL_NOTIFY_NODE, .node = { 0x0a000002, 100000, 1400, false } },
		{ .what = ACCEL_NOTIFY_NODE, .node = { 0x0a000002, 1000, 1400, true } },
		{ .what = ACCEL_NOTIFY_SETTINGS, .settings = { .mode = ACCEL_ALWAYS } },
		{ .what = ACCEL_NOTIFY_SETTINGS, .settings = largest() },
		{ .what = ACCEL_NOTIFY_MOVED,
		  .moved = { 4094, { { 2, 0, 0, 0, 0, 9 } }, 0x0a000003 } },
	};
	uint8_t buf[ACCEL_NOTIFY_MAX], again[ACCEL_NOTIFY_MAX];
	struct accel_notify_frame back;
	size_t len;

	(void)state;
	for (unsigned i = 0; i < array_size(say); i++) {
		len = accel_notify_encode(&say[i], buf);

		assert_int_equal(accel_notify_decode(buf, len, &back), 0);
		assert_int_equal(accel_notify_encode(&back, again), len);
		assert_memory_equal(buf, again, len);
		assert_int_equal(accel_notify_decode(buf, len - 1, &back), -EBADMSG);
		assert_int_equal(accel_notify_decode(buf, len + 1, &back), -EBADMSG);
	}
	len = accel_notify_encode(&say[2], buf);
	buf[len - 1] = 2;
	assert_int_equal(accel_notify_decode(buf, len, &back), -EBADMSG);
	say[1].setup.n_queues = ACCEL_QUEUES_MAX + 1;
	assert_int_equal(accel_notify_decode(buf, accel_notify_encode(&say[1], buf), &back),
			 -EBADMSG);
	buf[0] = ACCEL_NOTIFY_END;
	assert_int_equal(accel_notify_decode(buf, 2, &back), -EBADMSG);
	accel_queue_put(buf, ACCEL_NODE, 0x0a000001);
	assert_memory_equal(buf, "\x02\0\0\0\x0a\0\0\x01", ACCEL_QUEUE_HDR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),  cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_data),	  cmocka_unit_test(test_bad),
		cmocka_unit_test(test_queue),	  cmocka_unit_test(test_bad_settings),
		cmocka_unit_test(test_selection), cmocka_unit_test(test_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
