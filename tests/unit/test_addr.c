// SPDX-License-Identifier: GPL-2.0-or-later
/* Parsing and formatting of addresses: accepted and refused texts, and equal values after a round
 * trip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/addr.h"
#include "base/defs.h"

/* Returns a copy of the exact size, so that AddressSanitizer detects a read beyond its end. */
static char *exact(const char *s)
{
	char *copy = strdup(s);

	assert_non_null(copy);
	return copy;
}

static void node_id_text(void **state)
{
	static const char *const bad[] = { "",		"0.0.0.0",   "1.2.3",
					   "1.2.3.4.5", "256.1.1.1", "1.2.3.x",
					   " 1.2.3.4",	"1.2.3.4 ",  "16909060" };
	char buf[NODE_ID_STRLEN];
	node_id_t id = 7;

	(void)state;
	for (size_t i = 0; i < array_size(bad); i++)
		assert_int_equal(node_id_parse(bad[i], &id), -EINVAL);
	assert_int_equal(id, 7);
	assert_int_equal(node_id_parse("1.2.3.4", &id), 0);
	assert_int_equal(id, 0x01020304);
	assert_string_equal(node_id_format(0xffffffff, buf, sizeof(buf)), "255.255.255.255");
}

static void mac_text(void **state)
{
	static const char *const bad[] = { "",
					   "0",
					   "02:",
					   "02:00:5e:10:00",
					   "02:00:5e:10:00:0",
					   "02:00:5e:10:00:0g",
					   "02:00:5e:10:00:01:",
					   "02-00-5e-10-00-01",
					   "2:0:5e:10:0:1" };
	char buf[MAC_STRLEN];
	struct mac mac = { { 9 } };

	(void)state;
	for (size_t i = 0; i < array_size(bad); i++) {
		char *s = exact(bad[i]);

		assert_int_equal(mac_parse(s, &mac), -EINVAL);
		free(s);
	}
	assert_int_equal(mac.b[0], 9);
	assert_int_equal(mac_parse("02:aB:5e:10:00:fF", &mac), 0);
	assert_string_equal(mac_format(mac, buf, sizeof(buf)), "02:ab:5e:10:00:ff");
	assert_true(mac_to_u64(mac) == 0x02ab5e1000ffULL);
	assert_memory_equal(mac_from_u64(0x02ab5e1000ffULL).b, mac.b, MAC_LEN);
	assert_false(mac_is_multicast(mac));
	assert_true(mac_is_multicast(mac_from_u64(0x01005e000001ULL)));
}

static struct prefix prefix(const char *text)
{
	struct prefix p;

	assert_int_equal(prefix_parse(text, &p), 0);
	return p;
}

static void prefix_text(void **state)
{
	static const char *const same[] = { "10.1.0.0/16",   "0.0.0.0/0", "192.0.2.1/32",
					    "2001:db8::/32", "::/0",	  "fd00::1/128" };
	static const char *const bad[] = { "",
					   "/8",
					   "10.0.0.0/",
					   "10.0.0.0/33",
					   "10.0.0.0/08",
					   "10.0.0.0/+8",
					   "10.0.0.0/8 ",
					   "10.0.0.1/8",
					   "::1/127",
					   "fd00::/129",
					   "fd00::/1234",
					   "::ffff:1.2.3.4/120",
					   "10.0.0.0/8/9" };
	char buf[PREFIX_STRLEN];
	struct prefix p = { .len = 7 };

	(void)state;
	for (size_t i = 0; i < array_size(bad); i++) {
		char *s = exact(bad[i]);

		assert_int_equal(prefix_parse(s, &p), -EINVAL);
		free(s);
	}
	assert_int_equal(p.len, 7);
	for (size_t i = 0; i < array_size(same); i++) {
		p = prefix(same[i]);
		assert_string_equal(prefix_format(&p, buf, sizeof(buf)), same[i]);
	}
	p = prefix("192.0.2.1");
	assert_string_equal(prefix_format(&p, buf, sizeof(buf)), "192.0.2.1/32");
}

static void prefixes_cover(void **state)
{
	struct prefix all = prefix("0.0.0.0/0"), a = prefix("10.1.0.0/17"),
		      b = prefix("10.1.128.0/17"), c = prefix("10.1.64.0/18"), six = prefix("::/0"),
		      d = prefix("fd00:0:8000::/33"), in = prefix("fd00:0:ffff::1"),
		      out = prefix("fd00:0:7fff::1");

	(void)state;
	assert_true(prefix_covers(&all, &a));
	assert_true(prefix_covers(&a, &a));
	assert_true(prefix_covers(&a, &c));
	assert_false(prefix_covers(&c, &a));
	assert_false(prefix_covers(&b, &c));
	assert_false(prefix_covers(&six, &a));
	assert_true(prefix_covers(&six, &d));
	assert_true(prefix_has(&d, &in.ip));
	assert_false(prefix_has(&d, &out.ip));
	/* A prefix sorts before contained prefixes. The search in state/routes/rib.c depends on the
	 * order. */
	assert_true(prefix_compare(&all, &a) < 0 && prefix_compare(&a, &c) < 0 &&
		    prefix_compare(&c, &b) < 0 && prefix_compare(&b, &six) < 0);
	assert_int_equal(prefix_compare(&c, &c), 0);
	assert_int_equal(prefix_of_host(&d.ip).len, 128);
}

static void ip_text(void **state)
{
	static const char *const same[] = { "192.0.2.1", "2001:db8::1", "::", "0.0.0.0",
					    "fe80::1" };
	static const char *const bad[] = { "",	  "1.2.3", "192.0.2.1/24", "2001:db8::1%eth0",
					   "::g", "[::1]" };
	char buf[IP_STRLEN];
	struct ip_addr ip = { .family = 9 };

	(void)state;
	for (size_t i = 0; i < array_size(bad); i++)
		assert_int_equal(ip_parse(bad[i], &ip), -EINVAL);
	assert_int_equal(ip.family, 9);
	for (size_t i = 0; i < array_size(same); i++) {
		assert_int_equal(ip_parse(same[i], &ip), 0);
		assert_string_equal(ip_format(&ip, buf, sizeof(buf)), same[i]);
	}
	assert_int_equal(ip_parse("::ffff:192.0.2.7", &ip), 0);
	assert_int_equal(ip.family, 4);
	assert_string_equal(ip_format(&ip, buf, sizeof(buf)), "192.0.2.7");
	assert_string_equal(ip_format(&(struct ip_addr){ 0 }, buf, sizeof(buf)), "none");
}

static void endpoint_text(void **state)
{
	static const struct {
		const char *in, *out;
	} good[] = {
		{ "192.0.2.1", "192.0.2.1:5366" },
		{ "192.0.2.1:7", "192.0.2.1:7" },
		{ "::1", "[::1]:5366" },
		{ "[::1]", "[::1]:5366" },
		{ "[2001:db8::2]:65535", "[2001:db8::2]:65535" },
		{ "[::ffff:10.0.0.1]:9", "10.0.0.1:9" },
	};
	static const char *const bad[] = {
		"",
		"192.0.2.1:",
		"192.0.2.1:0",
		"192.0.2.1:65536",
		"192.0.2.1:-1",
		"192.0.2.1:+5",
		"192.0.2.1: 5",
		"192.0.2.1:5x",
		"192.0.2.1:05",
		"[::1",
		"[::1]x",
		"[::1]:",
		"[192.0.2.1]:5",
		"example.org",
		":5",
		"1111111111111111111111111111111111111111111111111111111111111111",
	};
	char buf[ENDPOINT_STRLEN];
	struct endpoint ep = { .port = 3 };

	(void)state;
	for (size_t i = 0; i < array_size(bad); i++)
		assert_int_equal(endpoint_parse(bad[i], 5366, &ep), -EINVAL);
	assert_int_equal(ep.port, 3);
	for (size_t i = 0; i < array_size(good); i++) {
		assert_int_equal(endpoint_parse(good[i].in, 5366, &ep), 0);
		assert_string_equal(endpoint_format(&ep, buf, sizeof(buf)), good[i].out);
	}
}

static void format_never_overruns(void **state)
{
	struct endpoint ep;
	char buf[8];

	(void)state;
	assert_int_equal(endpoint_parse("[2001:db8::2]:65535", 0, &ep), 0);
	memset(buf, 'x', sizeof(buf));
	assert_string_equal(endpoint_format(&ep, buf, 5), "[200");
	assert_int_equal(buf[5], 'x');
}

static void equality(void **state)
{
	struct endpoint a, b;

	(void)state;
	assert_int_equal(endpoint_parse("192.0.2.1:5", 0, &a), 0);
	b = a;
	assert_true(endpoint_equal(&a, &b));
	b.port = 6;
	assert_false(endpoint_equal(&a, &b));
	assert_true(ip_equal(&a.ip, &b.ip));
	b.ip.b[3] = 2;
	assert_false(ip_equal(&a.ip, &b.ip));
	assert_int_equal(ip_parse("c000:201::", &b.ip), 0);
	assert_false(ip_equal(&a.ip, &b.ip));
}

static void usable(void **state)
{
	static const struct {
		const char *text;
		bool usable;
	} cases[] = {
		{ "192.0.2.1:5", true },       { "127.0.0.1:5", true },
		{ "0.0.0.0:5", false },	       { "255.255.255.255:5", false },
		{ "224.0.0.1:5", false },      { "239.255.0.1:5", false },
		{ "[2001:db8::1]:5", true },   { "[::]:5", false },
		{ "[ff02::1]:5", false },      { "[::1]:5", true },
		{ "223.255.255.255:5", true },
	};
	struct endpoint ep;

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++) {
		assert_int_equal(endpoint_parse(cases[i].text, 0, &ep), 0);
		assert_int_equal(endpoint_is_usable(&ep), cases[i].usable);
	}
	assert_int_equal(endpoint_parse("192.0.2.1", 0, &ep), 0);
	assert_false(endpoint_is_usable(&ep));
	assert_false(endpoint_is_usable(&(struct endpoint){ .port = 5 }));
	/* A mapped address from a message, which no parser has normalised, is not usable. */
	ep = (struct endpoint){ .port = 5,
				.ip.family = 6,
				.ip.b = { [10] = 0xff, [11] = 0xff, [12] = 10 } };
	assert_false(endpoint_is_usable(&ep));
}

static void sockaddr_both_ways(void **state)
{
	static const char *const texts[] = { "192.0.2.1:5366", "[2001:db8::1]:65535" };
	static const unsigned lens[] = { sizeof(struct sockaddr_in), sizeof(struct sockaddr_in6) };
	struct sockaddr_storage ss;
	struct endpoint a, b;

	(void)state;
	for (size_t i = 0; i < array_size(texts); i++) {
		assert_int_equal(endpoint_parse(texts[i], 0, &a), 0);
		assert_int_equal(endpoint_to_sockaddr(&a, &ss), lens[i]);
		assert_int_equal(endpoint_from_sockaddr(&ss, &b), 0);
		assert_true(endpoint_equal(&a, &b));
	}
	ss.ss_family = AF_UNIX;
	assert_int_equal(endpoint_from_sockaddr(&ss, &b), -EAFNOSUPPORT);
	assert_true(endpoint_equal(&a, &b));
}

static void mapped_sockaddr_is_ipv4(void **state)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(9) };
	struct sockaddr_storage ss = { 0 };
	struct endpoint ep;
	char buf[ENDPOINT_STRLEN];

	(void)state;
	assert_int_equal(inet_pton(AF_INET6, "::ffff:192.0.2.5", &sin6.sin6_addr), 1);
	memcpy(&ss, &sin6, sizeof(sin6));
	assert_int_equal(endpoint_from_sockaddr(&ss, &ep), 0);
	assert_string_equal(endpoint_format(&ep, buf, sizeof(buf)), "192.0.2.5:9");
}

static void an_address_with_its_length(void **state)
{
	static const char *const bad[] = { "",	  "10.0.0.1", "10.0.0.1/",    "10.0.0.1/33",
					   "/24", "a/24",     "10.0.0.1/8/8", "fd00::1/129" };
	struct ip_addr ip;
	uint8_t len;

	(void)state;
	assert_int_equal(ip_and_len_parse("10.99.0.1/24", &ip, &len), 0);
	assert_int_equal(ip.b[3], 1);
	assert_int_equal(len, 24);
	assert_int_equal(ip_and_len_parse("fd00::1/128", &ip, &len), 0);
	assert_int_equal(len, 128);
	for (size_t i = 0; i < array_size(bad); i++)
		assert_int_equal(ip_and_len_parse(bad[i], &ip, &len), -EINVAL);
	assert_int_equal(len, 128);
}

static void global_addresses(void **state)
{
	static const char *const global[] = { "44.0.0.1",     "1.1.1.1",    "9.255.255.255",
					      "11.0.0.0",     "100.63.0.1", "100.128.0.0",
					      "172.15.0.1",   "172.32.0.0", "192.0.1.1",
					      "198.17.0.1",   "198.20.0.1", "223.255.255.254",
					      "2a00:1450::1", "3fff::1" };
	static const char *const other[] = {
		"0.0.0.0",	"10.0.0.1",   "100.64.0.1", "100.127.255.1", "127.0.0.1",
		"169.254.1.1",	"172.16.0.1", "172.31.0.1", "192.0.0.1",     "192.0.2.1",
		"192.168.77.1", "198.18.0.1", "198.19.0.1", "198.51.100.7",  "203.0.113.9",
		"224.0.0.1",	"255.1.1.1",  "::1",	    "fe80::1",	     "fc00::1",
		"2001:db8::1",	"ff02::1"
	};
	struct ip_addr ip;

	(void)state;
	for (size_t i = 0; i < array_size(global); i++) {
		assert_int_equal(ip_parse(global[i], &ip), 0);
		assert_true(ip_is_global(&ip));
	}
	for (size_t i = 0; i < array_size(other); i++) {
		assert_int_equal(ip_parse(other[i], &ip), 0);
		assert_false(ip_is_global(&ip));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(global_addresses),
		cmocka_unit_test(node_id_text),
		cmocka_unit_test(mac_text),
		cmocka_unit_test(prefix_text),
		cmocka_unit_test(prefixes_cover),
		cmocka_unit_test(an_address_with_its_length),
		cmocka_unit_test(ip_text),
		cmocka_unit_test(endpoint_text),
		cmocka_unit_test(format_never_overruns),
		cmocka_unit_test(equality),
		cmocka_unit_test(usable),
		cmocka_unit_test(sockaddr_both_ways),
		cmocka_unit_test(mapped_sockaddr_is_ipv4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
