// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * io/udp over loopback: opening, batches with GSO and GRO, errors, and a route that refuses GSO.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <poll.h>
#include <time.h>

#include "base/log.h"
#include "io/udp.h"

#define WAIT_MS 20000
#define ALL	100 /* messages: more than any batch here */

static void silent(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	(void)text;
}

static const struct ip_addr lo4 = { 4, { 127, 0, 0, 1 } };
static const struct ip_addr lo6 = { 6, { [15] = 1 } };

static bool open_pair(struct udp *u, unsigned n, bool v6)
{
	struct udp_config c = { .n = n, .v4 = !v6, .v6 = v6, .source4 = lo4, .source6 = lo6 };

	return udp_open(u, &c) == 0;
}

static int fd_of(const struct udp *u, bool v6)
{
	return v6 ? u->fd6[0] : u->fd4[0];
}

static void wait_readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
}

static void ports(void **state)
{
	struct udp a, b;
	struct udp_config c = { .n = 3, .v4 = true, .source4 = lo4 };
	struct udp_config other = { .n = 1, .v4 = true, .source4 = { 4, { 203, 0, 113, 77 } } };

	(void)state;
	assert_int_equal(udp_open(&a, &c), 0);
	assert_int_not_equal(a.port, 0);
	assert_int_equal(a.n, 3);
	assert_true(a.fd4[2] >= 0);
	assert_int_equal(a.fd6[0], -1);
	assert_true(a.rcvbuf > 0 && a.sndbuf > 0);
	/* Only the sockets of one object share a port with SO_REUSEPORT. */
	c.port = a.port;
	assert_int_equal(udp_open(&b, &c), -EADDRINUSE);
	assert_int_equal(b.n, 0);
	udp_close(&a);
	assert_int_equal(udp_open(&b, &c), 0);
	assert_int_equal(b.port, c.port);
	udp_close(&b);
	assert_int_equal(udp_open(&b, &other), -EADDRNOTAVAIL);
	other = (struct udp_config){ .n = 1 };
	assert_int_equal(udp_open(&b, &other), -EAFNOSUPPORT);
}

/* Reads all datagrams of fd. Returns the number of datagrams. */
static unsigned receive_all(int fd, size_t expect, uint8_t *out, size_t *len, unsigned *messages)
{
	struct udp_rx *rx = udp_rx_new(8, 65536);
	unsigned n = 0;

	*len = *messages = 0;
	while (*len < expect) {
		int got;

		wait_readable(fd);
		got = udp_rx_read(rx, fd, ALL);
		assert_true(got >= 0);
		*messages += (unsigned)got;
		for (int i = 0; i < got; i++) {
			const struct udp_rx_msg *m = udp_rx_get(rx, (unsigned)i);

			assert_false(m->truncated);
			assert_true(m->segment > 0 && m->segment <= m->len);
			memcpy(out + *len, m->data, m->len);
			*len += m->len;
			n += (unsigned)((m->len + m->segment - 1) / m->segment);
		}
	}
	udp_rx_free(rx);
	return n;
}

struct failures {
	unsigned n, datagrams, refused;
	int error;
	uint32_t tag;
};
static void on_failed(void *arg, uint32_t tag, int error, unsigned n, size_t len)
{
	struct failures *f = arg;

	(void)len;
	f->n++;
	f->datagrams += n;
	f->error = error;
	f->tag = tag;
}
static void on_refused(void *arg, uint32_t tag)
{
	struct failures *f = arg;

	f->refused++;
	f->tag = tag;
}
static const struct udp_tx_ops ops = { .failed = on_failed, .gso_refused = on_refused };

/* A GSO message of 20 segments in separate pieces, then two plain messages. */
static void batches(bool v6)
{
	static uint8_t data[30000], got[40000];
	struct sockaddr_storage ss;
	struct udp_tx_result r;
	struct failures f = { 0 };
	struct udp_tx *tx = udp_tx_new(16, 128);
	struct endpoint to = { .ip = v6 ? lo6 : lo4 };
	struct udp a, b;
	unsigned messages, n, sa_len;
	size_t len;

	if (!open_pair(&a, 1, v6) || !open_pair(&b, 1, v6)) {
		print_message("# skipped: no loopback of this family\n");
		skip();
	}
	to.port = b.port;
	sa_len = endpoint_to_sockaddr(&to, &ss);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 17 + (i >> 8));
	udp_tx_begin(tx, &ss, sa_len, 1);
	for (unsigned i = 0; i < 20; i++) {
		udp_tx_add(tx, data + i * 1000, 300);
		udp_tx_add(tx, data + i * 1000 + 300, i == 19 ? 200 : 700);
	}
	if (a.gso)
		udp_tx_set_segment(tx, 1000);
	udp_tx_begin(tx, &ss, sa_len, 2);
	udp_tx_add(tx, data + 19500, 500);
	udp_tx_begin(tx, &ss, sa_len, 3);
	udp_tx_add(tx, data + 20000, 100);
	assert_int_equal(udp_tx_messages(tx), 3);
	r = udp_tx_flush(tx, fd_of(&a, v6), &ops, &f);
	assert_int_equal(f.n, 0);
	assert_int_equal(r.messages, 3);
	assert_int_equal(r.calls, 1);
	assert_int_equal(udp_tx_messages(tx), 0);
	n = receive_all(fd_of(&b, v6), 20100, got, &len, &messages);
	assert_int_equal(len, 20100);
	assert_memory_equal(got, data, 20100);
	if (a.gso)
		assert_int_equal(n, 22);
	if (a.gso && b.gro)
		assert_true(messages < 22);
	udp_tx_free(tx);
	udp_close(&a);
	udp_close(&b);
}

static void batches_v4(void **state)
{
	(void)state;
	batches(false);
}
static void batches_v6(void **state)
{
	(void)state;
	batches(true);
}

/* Reads the next message. Returns its traffic class. */
static unsigned class_of_next(struct udp_rx *rx, int fd, size_t *len)
{
	wait_readable(fd);
	assert_int_equal(udp_rx_read(rx, fd, ALL), 1);
	*len = udp_rx_get(rx, 0)->len;
	return udp_rx_get(rx, 0)->class;
}

/* The class applies to one message, alone or with segments, in either order of the calls. */
static void classes(bool v6)
{
	static uint8_t data[3000];
	struct udp_tx *tx = udp_tx_new(16, 128);
	struct udp_rx *rx = udp_rx_new(1, 65536);
	struct failures f = { 0 };
	struct endpoint to = { .ip = v6 ? lo6 : lo4 };
	struct udp_marking m = { .tos = 40, .tclass = 80 };
	struct sockaddr_storage ss;
	unsigned sa_len, usual = v6 ? 80 : 40, n = 0;
	struct udp a, b;
	size_t len;

	if (!open_pair(&a, 1, v6) || !open_pair(&b, 1, v6)) {
		print_message("# skipped: no loopback of this family\n");
		skip();
	}
	assert_int_equal(udp_set_marking(&a, &m), 0);
	to.port = b.port;
	sa_len = endpoint_to_sockaddr(&to, &ss);
	for (unsigned i = 0; i < 4; i++) {
		udp_tx_begin(tx, &ss, sa_len, i);
		if (i == 1 || i == 2)
			udp_tx_set_class(tx, v6, (uint8_t)(0xb8 | i));
		udp_tx_add(tx, data, i == 2 || i == 3 ? 3000 : 700);
		if (a.gso && i >= 2)
			udp_tx_set_segment(tx, 1000);
	}
	udp_tx_flush(tx, fd_of(&a, v6), &ops, &f);
	assert_int_equal(f.n, 0);
	assert_int_equal(class_of_next(rx, fd_of(&b, v6), &len), usual);
	assert_int_equal(class_of_next(rx, fd_of(&b, v6), &len), 0xb9);
	while (n < 6000) {
		assert_int_equal(class_of_next(rx, fd_of(&b, v6), &len), n < 3000 ? 0xba : usual);
		n += (unsigned)len;
	}
	assert_int_equal(udp_send_class(a.fd4[0], a.fd6[0], &to, "x", 1, 0xc0), 0);
	assert_int_equal(udp_send(a.fd4[0], a.fd6[0], &to, "x", 1), 0);
	assert_int_equal(class_of_next(rx, fd_of(&b, v6), &len), 0xc0);
	assert_int_equal(class_of_next(rx, fd_of(&b, v6), &len), usual);
	udp_rx_free(rx);
	udp_tx_free(tx);
	udp_close(&a);
	udp_close(&b);
}

static void classes_v4(void **state)
{
	(void)state;
	classes(false);
}
static void classes_v6(void **state)
{
	(void)state;
	classes(true);
}

/* Without privilege, the kernel refuses the fwmark, and the other fields are set. */
static void a_new_socket_has_the_marking(void **state)
{
	struct udp_config c = { .n = 1, .v4 = true, .source4 = lo4 };
	struct udp_marking m = { .ttl = 9 };
	socklen_t len = sizeof(int);
	struct udp a;
	int ttl = 0;

	(void)state;
	assert_int_equal(udp_open(&a, &c), 0);
	udp_set_marking(&a, &m);
	assert_int_equal(udp_reopen(&a, &c), 0);
	assert_int_equal(getsockopt(a.fd4[0], IPPROTO_IP, IP_TTL, &ttl, &len), 0);
	assert_int_equal(ttl, 9);
	udp_close(&a);
}

static void arrival_times(void **state)
{
	struct udp_rx *rx = udp_rx_new(2, 2048);
	struct endpoint to = { .ip = lo4 }, from;
	struct timespec now;
	struct udp a, b;
	int64_t age;

	(void)state;
	assert_true(open_pair(&a, 1, false) && open_pair(&b, 1, false));
	to.port = b.port;
	assert_int_equal(udp_send(a.fd4[0], -1, &to, "hello", 5), 0);
	wait_readable(b.fd4[0]);
	assert_int_equal(udp_rx_read(rx, b.fd4[0], ALL), 1);
	clock_gettime(CLOCK_REALTIME, &now);
	assert_int_equal(udp_rx_get(rx, 0)->len, 5);
	assert_int_equal(endpoint_from_sockaddr(udp_rx_get(rx, 0)->from, &from), 0);
	assert_int_equal(from.port, a.port);
	assert_true(ip_equal(&from.ip, &lo4));
	if (b.timestamps) {
		age = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec -
		      udp_rx_get(rx, 0)->rx_real_ns;
		assert_true(age >= 0 && age < 60LL * 1000000000);
	}
	assert_int_equal(udp_rx_read(rx, b.fd4[0], ALL), 0);
	to.ip = lo6;
	assert_int_equal(udp_send(a.fd4[0], -1, &to, "x", 1), -EAFNOSUPPORT);
	udp_rx_free(rx);
	udp_close(&a);
	udp_close(&b);
}

static void too_large_for_the_buffer(void **state)
{
	static uint8_t data[3000];
	struct udp_rx *rx = udp_rx_new(2, 1000);
	struct endpoint to = { .ip = lo4 };
	struct udp a, b;

	(void)state;
	assert_true(open_pair(&a, 1, false) && open_pair(&b, 1, false));
	to.port = b.port;
	assert_int_equal(udp_send(a.fd4[0], -1, &to, data, sizeof(data)), 0);
	wait_readable(b.fd4[0]);
	assert_int_equal(udp_rx_read(rx, b.fd4[0], ALL), 1);
	assert_true(udp_rx_get(rx, 0)->truncated);
	udp_rx_free(rx);
	udp_close(&a);
	udp_close(&b);
}

/* An ICMP error about one peer must not lose datagrams to another. */
static void errors_of_others(void **state)
{
	struct udp_rx *rx = udp_rx_new(8, 2048);
	struct udp_tx *tx = udp_tx_new(4, 4);
	struct endpoint gone = { .ip = lo4 }, there = { .ip = lo4 };
	struct sockaddr_storage ss;
	struct failures f = { 0 };
	struct udp_error e;
	struct udp a, b, c;
	struct pollfd pfd;

	(void)state;
	assert_true(open_pair(&a, 1, false) && open_pair(&b, 1, false) && open_pair(&c, 1, false));
	gone.port = b.port;
	there.port = c.port;
	udp_close(&b);
	pfd = (struct pollfd){ .fd = a.fd4[0], .events = 0 };
	assert_int_equal(udp_send(a.fd4[0], -1, &gone, "x", 1), 0);
	assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
	assert_true(pfd.revents & POLLERR);
	assert_int_equal(udp_send(a.fd4[0], -1, &there, "1", 1), 0);
	assert_int_equal(udp_send(a.fd4[0], -1, &gone, "x", 1), 0);
	assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
	udp_tx_begin(tx, &ss, endpoint_to_sockaddr(&there, &ss), 0);
	udp_tx_add(tx, "2", 1);
	udp_tx_flush(tx, a.fd4[0], &ops, &f);
	assert_int_equal(f.n, 0);
	wait_readable(c.fd4[0]);
	assert_int_equal(udp_rx_read(rx, c.fd4[0], ALL), 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(udp_error_next(a.fd4[0], &e));
		assert_int_equal(e.error, ECONNREFUSED);
		assert_true(endpoint_equal(&e.to, &gone));
	}
	assert_false(udp_error_next(a.fd4[0], &e));
	assert_int_equal(poll(&pfd, 1, 0), 0);
	udp_rx_free(rx);
	udp_tx_free(tx);
	udp_close(&a);
	udp_close(&c);
}

static void what_cannot_be_sent(void **state)
{
	static uint8_t data[70000];
	struct endpoint bad = { .ip = { 4, { 255, 255, 255, 255 } }, .port = 9 },
			good = { .ip = lo4 };
	struct sockaddr_storage ss_bad, ss_good;
	unsigned bad_len = endpoint_to_sockaddr(&bad, &ss_bad), good_len;
	struct udp_tx *tx = udp_tx_new(8, 64);
	struct udp_rx *rx = udp_rx_new(8, 2048);
	struct udp_tx_result r;
	struct failures f = { 0 };
	struct udp a, b;

	(void)state;
	assert_true(open_pair(&a, 1, false) && open_pair(&b, 1, false));
	good.port = b.port;
	good_len = endpoint_to_sockaddr(&good, &ss_good);
	/* The broadcast is refused, and the messages before and after it are sent. */
	udp_tx_begin(tx, &ss_good, good_len, 7);
	udp_tx_add(tx, "a", 1);
	udp_tx_begin(tx, &ss_bad, bad_len, 8);
	udp_tx_add(tx, "b", 1);
	udp_tx_begin(tx, &ss_good, good_len, 9);
	udp_tx_add(tx, "c", 1);
	r = udp_tx_flush(tx, a.fd4[0], &ops, &f);
	assert_int_equal(r.messages, 2);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.datagrams, 1);
	assert_int_equal(f.tag, 8);
	assert_int_equal(f.error, EACCES);
	wait_readable(b.fd4[0]);
	assert_int_equal(udp_rx_read(rx, b.fd4[0], ALL), 2);
	/* Larger than any datagram. */
	f = (struct failures){ 0 };
	udp_tx_begin(tx, &ss_good, good_len, 1);
	udp_tx_add(tx, data, sizeof(data));
	udp_tx_flush(tx, a.fd4[0], &ops, &f);
	assert_int_equal(f.error, EMSGSIZE);
	udp_tx_free(tx);
	udp_rx_free(rx);
	udp_close(&a);
	udp_close(&b);
}

/* With SO_NO_CHECK the kernel refuses GSO, as for a route through IPsec. */
static void gso_refused(void **state)
{
	static uint8_t data[5000], got[6000];
	struct endpoint to = { .ip = lo4 };
	struct sockaddr_storage ss;
	struct udp_tx *tx = udp_tx_new(8, 64);
	struct failures f = { 0 };
	struct udp_tx_result r;
	struct udp a, b;
	unsigned messages, sa_len;
	int one = 1;
	size_t len;

	(void)state;
	assert_true(open_pair(&a, 1, false) && open_pair(&b, 1, false));
	if (!a.gso) {
		print_message("# skipped: no UDP_SEGMENT\n");
		skip();
	}
	assert_int_equal(setsockopt(a.fd4[0], SOL_SOCKET, SO_NO_CHECK, &one, sizeof(one)), 0);
	to.port = b.port;
	sa_len = endpoint_to_sockaddr(&to, &ss);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 5 + (i >> 8));
	udp_tx_begin(tx, &ss, sa_len, 5);
	/* Segments that begin and end inside pieces. */
	udp_tx_add(tx, data, 1);
	udp_tx_add(tx, data + 2000, 1499);
	udp_tx_add(tx, data + 1, 1100);
	udp_tx_set_segment(tx, 700);
	r = udp_tx_flush(tx, a.fd4[0], &ops, &f);
	assert_int_equal(f.n, 0);
	assert_int_equal(f.refused, 1);
	assert_int_equal(f.tag, 5);
	assert_int_equal(r.messages, 4);
	receive_all(b.fd4[0], 2600, got, &len, &messages);
	assert_int_equal(len, 2600);
	assert_memory_equal(got, data, 1);
	assert_memory_equal(got + 1, data + 2000, 1499);
	assert_memory_equal(got + 1500, data + 1, 1100);
	udp_tx_free(tx);
	udp_close(&a);
	udp_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports),
		cmocka_unit_test(batches_v4),
		cmocka_unit_test(batches_v6),
		cmocka_unit_test(classes_v4),
		cmocka_unit_test(classes_v6),
		cmocka_unit_test(a_new_socket_has_the_marking),
		cmocka_unit_test(arrival_times),
		cmocka_unit_test(too_large_for_the_buffer),
		cmocka_unit_test(errors_of_others),
		cmocka_unit_test(what_cannot_be_sent),
		cmocka_unit_test(gso_refused),
	};

	log_set_sink(silent, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
