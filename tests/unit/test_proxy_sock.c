// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/flow/proxy_sock: one end of a kernel connection disappears, and a proxy socket
 * continues the connection. Runs in a network namespace over its loopback, and is skipped without
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns_util.h"
#include "flow/proxy_sock.h"

struct pair {
	int near, lost; /* the socket of the host, and the lost socket of the far host */
	struct proxy_sock s;
};

static void raise_loopback(void)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &r), 0);
	r.ifr_flags |= IFF_UP;
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &r), 0);
	close(fd);
}

static uint32_t sequence(int fd, int queue)
{
	socklen_t len = sizeof(uint32_t);
	uint32_t seq;

	assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)), 0);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, &len), 0);
	return seq;
}

static struct endpoint name_of(int fd, bool own)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct endpoint ep;

	assert_int_equal((own ? getsockname : getpeername)(fd, (struct sockaddr *)&ss, &len), 0);
	assert_int_equal(endpoint_from_sockaddr(&ss, &ep), 0);
	return ep;
}

static struct flow_proof proof_of(int fd)
{
	return proxy_sock_proof(fd, (mono_t){ 0 }, (mono_t){ 0 });
}

/* Closes the far host's socket without a segment. The state of the connection stays in p->s. */
static void lose(struct pair *p)
{
	uint32_t clock;
	socklen_t len = sizeof(clock);
	int on = 1;

	p->s = (struct proxy_sock){ .near = name_of(p->lost, false),
				    .far = name_of(p->lost, true),
				    .window = 500,
				    .scaling = true,
				    .near_scale = 7,
				    .far_scale = 7,
				    .receive_window = 1 << 20,
				    .mss = 1460,
				    .sack = true,
				    .timestamps = true };
	assert_int_equal(setsockopt(p->lost, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)), 0);
	p->s.send_seq = sequence(p->lost, TCP_SEND_QUEUE);
	p->s.receive_seq = sequence(p->lost, TCP_RECV_QUEUE);
	assert_int_equal(getsockopt(p->lost, IPPROTO_TCP, TCP_TIMESTAMP, &clock, &len), 0);
	p->s.timestamp = clock;
	close(p->lost);
}

static void open_pair(struct pair *p, const char *address)
{
	struct endpoint at = { .port = 0 };
	struct sockaddr_storage ss;
	socklen_t len;
	int listener;

	assert_int_equal(ip_parse(address, &at.ip), 0);
	len = endpoint_to_sockaddr(&at, &ss);
	listener = socket(ss.ss_family, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&ss, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	at = name_of(listener, true);
	len = endpoint_to_sockaddr(&at, &ss);
	p->near = socket(ss.ss_family, SOCK_STREAM, 0);
	assert_int_equal(connect(p->near, (struct sockaddr *)&ss, len), 0);
	p->lost = accept(listener, NULL, NULL);
	close(listener);
}

/* Reads n bytes and waits for them. */
static void assert_reads(int fd, const char *text)
{
	char got[64] = "";
	size_t n = 0;

	while (n < strlen(text)) {
		struct pollfd p = { fd, POLLIN, 0 };
		ssize_t more;

		assert_int_equal(poll(&p, 1, 20000), 1);
		more = recv(fd, got + n, strlen(text) - n, 0);
		assert_true(more > 0);
		n += (size_t)more;
	}
	assert_memory_equal(got, text, n);
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), 0), strlen(text));
}

static int start(const struct pair *p)
{
	int fd = proxy_sock_open(&p->s);

	assert_true(fd >= 0);
	assert_int_equal(proxy_sock_start(fd, &p->s), 0);
	return fd;
}

static void test_takes_its_place(const char *address)
{
	struct pair p;
	int fd;

	open_pair(&p, address);
	say(p.near, "before");
	assert_reads(p.lost, "before");
	say(p.lost, "answer");
	assert_reads(p.near, "answer");
	lose(&p);
	fd = start(&p);
	assert_false(proof_of(fd).acknowledged);
	say(p.near, "to the stand-in");
	assert_reads(fd, "to the stand-in");
	say(fd, "and from it");
	assert_reads(p.near, "and from it");
	assert_true(proof_of(fd).ts_val - p.s.timestamp < 20000);
	for (unsigned i = 0; proxy_sock_unacknowledged(fd) && i < 2000; i++)
		usleep(10000);
	assert_int_equal(proxy_sock_unacknowledged(fd), 0);
	assert_true(proof_of(fd).acknowledged);
	/* The connection is released, and another proxy socket continues at its state. */
	p.s.send_seq += (uint32_t)strlen("and from it");
	p.s.receive_seq += (uint32_t)strlen("to the stand-in");
	p.s.timestamp += 60000;
	proxy_sock_leave(fd);
	fd = start(&p);
	say(fd, "again");
	assert_reads(p.near, "again");
	proxy_sock_reset(fd);
	assert_int_equal(recv(p.near, &fd, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(p.near);
}

static void test_v4(void **state)
{
	(void)state;
	test_takes_its_place("127.0.0.1");
}

static void test_v6(void **state)
{
	(void)state;
	if (access("/proc/net/if_inet6", F_OK) < 0)
		skip();
	test_takes_its_place("::1");
}

/* Returns whether the kernel accepts data of the host. */
static bool is_received(const struct pair *p, int fd)
{
	for (unsigned i = 0; i < 100 && !proof_of(fd).answered; i++) {
		usleep(2000);
		say(p->near, "x");
	}
	return proof_of(fd).answered;
}

/* A wrong first sequence number proves nothing. */
static void test_proof(void **state)
{
	(void)state;
	for (uint32_t early = 0; early <= 1; early++) {
		struct pair p;
		int fd;

		open_pair(&p, "127.0.0.1");
		say(p.lost, "x");
		assert_reads(p.near, "x");
		lose(&p);
		p.s.send_seq -= early;
		fd = start(&p);
		assert_int_equal(is_received(&p, fd), !early);
		assert_false(proof_of(fd).acknowledged);
		proxy_sock_leave(fd);
		close(p.near);
	}
}

/* A proxy socket that is never started sends nothing, neither before nor at its end. */
static void test_unused(void **state)
{
	struct pair p;
	int fd;

	(void)state;
	open_pair(&p, "127.0.0.1");
	lose(&p);
	fd = proxy_sock_open(&p.s);
	assert_true(fd >= 0);
	proxy_sock_leave(fd);
	assert_int_equal(recv(p.near, &fd, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(p.near);
}

static void test_an_address_in_use(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, "127.0.0.1");
	p.s = (struct proxy_sock){ .near = name_of(p.lost, false),
				   .far = name_of(p.lost, true),
				   .receive_window = 1 << 20,
				   .mss = 1460 };
	assert_true(proxy_sock_open(&p.s) < 0);
	/* The present owner of the connection is not disturbed. */
	say(p.lost, "still here");
	assert_reads(p.near, "still here");
	close(p.near);
	close(p.lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v4),
		cmocka_unit_test(test_v6),
		cmocka_unit_test(test_proof),
		cmocka_unit_test(test_unused),
		cmocka_unit_test(test_an_address_in_use),
	};

	if (!netns_enter()) {
		printf("1..0 # SKIP no network namespaces here\n");
		return 0;
	}
	raise_loopback();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
