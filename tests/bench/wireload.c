// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wireload: UDP datagrams for bench_fwd.py, bench_relay.py and bench_copies.py, which start
 * it in their namespaces. Sends at the highest rate, one at a time, or numbered ones at a given
 * rate. One thread. Prints one JSON object and ends by itself.
 *
 *   sink PORT BYTES SECONDS            counts datagrams of this size from the first to the last.
 *   blast ADDRESS PORT BYTES SECONDS   sends as fast as the kernel accepts.
 *   flood FROM PORT TO PORT BYTES SECONDS HEX
 *                                      sends many with one call (UDP_SEGMENT), each beginning with
 *                                      HEX; a leond may own the port.
 *   stream ADDRESS PORT BYTES SECONDS  sends trains (UDP_SEGMENT) within a window, as QUIC programs
 *                                      do; the window grows by a train a round, and halves at
 *                                      loss (RFC 9002 section 7).
 *   drain PORT BYTES SECONDS           receives a stream (UDP_GRO), and acknowledges each read.
 *   echo PORT SECONDS                  returns datagrams until none has arrived for SECONDS.
 *   pingpong ADDRESS PORT BYTES SECONDS
 *                                      one at a time; percentiles of the round-trip time.
 *   paced ADDRESS PORT BYTES COUNT RATE
 *                                      numbered from 0, at RATE per second, with their time.
 *   tally PORT BYTES COUNT SECONDS     counts arrivals of each number; ends when all have arrived,
 *                                      or when none has arrived for SECONDS; percentiles of the
 *                                      delay.
 *
 * BYTES is the UDP payload.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH	      64
#define BYTES_MAX     1500
#define SAMPLES_MAX   1000000
#define STAMPED_BYTES 12 /* a number and a time */
#define NS_PER_S      1000000000LL
#define LOST_MS	      1000     /* until a datagram of pingpong counts as lost */
#define CATCH_UP_NS   20000000 /* largest delay that a paced sender compensates */
#define SEGMENTS      64       /* in one call of flood or stream */
#define GSO_BYTES     65000    /* bytes in one call of flood or stream */
#define WINDOW_FIRST  10       /* trains in flight at first, and at most */
#define WINDOW_MAX    100
#define SILENCE_MS    50 /* until all datagrams in flight count as lost */

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "wireload: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* NULL: any address */
static struct sockaddr_in address(const char *ip, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	if (ip && inet_pton(AF_INET, ip, &sin.sin_addr) != 1)
		die(ip);
	return sin;
}

static int open_socket(const char *to, const char *port)
{
	struct sockaddr_in sin = address(to, port);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), bytes = 4 << 20;

	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		die("receive buffer");
	if (!to) {
		if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) < 0)
			die("bind");
		/* A reader of this line may begin to send. */
		puts("ready");
		fflush(stdout);
	} else if (connect(fd, (struct sockaddr *)&sin, sizeof(sin)) < 0) {
		die(to);
	}
	return fd;
}

static bool wait_for(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1;
}

struct batch {
	struct mmsghdr mm[BATCH];
	struct iovec iov[BATCH];
	uint8_t data[BATCH][BYTES_MAX];
};

static struct batch *new_batch(size_t len)
{
	struct batch *b = calloc(1, sizeof(*b));

	if (!b)
		die("memory");
	for (unsigned i = 0; i < BATCH; i++) {
		b->iov[i] = (struct iovec){ b->data[i], len };
		b->mm[i].msg_hdr = (struct msghdr){ .msg_iov = &b->iov[i], .msg_iovlen = 1 };
	}
	return b;
}

static int sink(int fd, size_t bytes, double seconds)
{
	struct batch *b = new_batch(BYTES_MAX);
	int64_t first = 0, last = 0, end = now_ns() + (int64_t)(seconds * (double)NS_PER_S);
	uint64_t n = 0;

	while (now_ns() < end && wait_for(fd, n ? 300 : 1000)) {
		int got = recvmmsg(fd, b->mm, BATCH, MSG_DONTWAIT, NULL);

		last = now_ns();
		first = first ? first : last;
		for (int i = 0; i < got; i++)
			n += b->mm[i].msg_len == bytes;
	}
	printf("{\"datagrams\": %llu, \"seconds\": %.6f}\n", (unsigned long long)n,
	       (double)(last - first) / (double)NS_PER_S);
	free(b);
	return 0;
}

static int blast(int fd, size_t bytes, double seconds)
{
	struct batch *b = new_batch(bytes);
	int64_t start = now_ns(), end = start + (int64_t)(seconds * (double)NS_PER_S), now = start;
	uint64_t n = 0;

	while (now < end) {
		int sent = sendmmsg(fd, b->mm, BATCH, 0);

		/* Without a buffer, or after an error of an earlier datagram, the next one may be
		 * sent. */
		n += sent > 0 ? (uint64_t)sent : 0;
		now = now_ns();
	}
	printf("{\"datagrams\": %llu, \"seconds\": %.6f}\n", (unsigned long long)n,
	       (double)(now - start) / (double)NS_PER_S);
	free(b);
	return 0;
}

/* Opens a socket on a port with or without an owner. The owner still receives all datagrams to the
 * port. */
static int open_flood(const char *from, const char *port, size_t bytes)
{
	struct sockaddr_in sin = address(from, port);
	struct sock_filter owner = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { 1, &owner };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1, segment = (int)bytes;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&sin, sizeof(sin)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program)) < 0 ||
	    setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)) < 0)
		die(from);
	return fd;
}

static size_t read_hex(const char *hex, uint8_t *out, size_t room)
{
	size_t n = 0;

	while (n < room && sscanf(hex + 2 * n, "%2hhx", &out[n]) == 1)
		n++;
	return n;
}

/* Number of datagrams in one call. */
static unsigned segments_of(size_t bytes)
{
	return GSO_BYTES / bytes < SEGMENTS ? (unsigned)(GSO_BYTES / bytes) : SEGMENTS;
}

static int flood(int fd, struct sockaddr_in to, size_t bytes, double seconds, const char *hex)
{
	static uint8_t data[GSO_BYTES];
	unsigned segments = segments_of(bytes);
	int64_t start = now_ns(), end = start + (int64_t)(seconds * (double)NS_PER_S), now = start;
	uint64_t n = 0;

	for (unsigned i = 0; i < segments; i++)
		read_hex(hex, data + i * bytes, bytes);
	while (now < end) {
		if (sendto(fd, data, segments * bytes, 0, (struct sockaddr *)&to, sizeof(to)) >= 0)
			n += segments;
		now = now_ns();
	}
	printf("{\"datagrams\": %llu, \"seconds\": %.6f}\n", (unsigned long long)n,
	       (double)(now - start) / (double)NS_PER_S);
	return 0;
}

/* --- a stream with a window --- */

/* Acknowledgement: the next expected number, and the received datagrams. */
struct ack {
	uint64_t next, received;
};

struct stream {
	uint64_t sent, lost; /* datagrams, lost ones as of the last acknowledgement */
	uint64_t recovered;  /* the number from which loss halves the window again */
	double window;	     /* trains */
	struct ack ack;
};

static void halve(struct stream *s)
{
	if (s->ack.next < s->recovered)
		return;
	s->window = s->window < 2 ? 1 : s->window / 2;
	s->recovered = s->sent;
}

/* Returns false if nothing arrives within ms. */
static bool read_ack(int fd, struct stream *s, int ms)
{
	struct ack a;

	if (!wait_for(fd, ms) || recv(fd, &a, sizeof(a), MSG_DONTWAIT) != sizeof(a))
		return false;
	if (a.next - a.received > s->lost)
		halve(s);
	else if (s->window < WINDOW_MAX)
		s->window += 1 / s->window;
	s->lost = a.next - a.received;
	s->ack = a;
	return true;
}

static int stream(int fd, size_t bytes, double seconds)
{
	static uint8_t data[GSO_BYTES];
	unsigned train = segments_of(bytes);
	int64_t start = now_ns(), end = start + (int64_t)(seconds * (double)NS_PER_S);
	struct stream s = { .window = WINDOW_FIRST };
	int size = (int)bytes;

	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) < 0)
		die("UDP_SEGMENT");
	while (now_ns() < end) {
		if ((double)(s.sent + train - s.ack.next) > s.window * train) {
			if (!read_ack(fd, &s, SILENCE_MS)) {
				halve(&s);
				s.ack.next = s.sent;
			}
			continue;
		}
		for (unsigned i = 0; i < train; i++)
			memcpy(data + i * bytes, &(uint64_t){ s.sent + i }, sizeof(s.sent));
		if (send(fd, data, train * bytes, 0) < 0 && errno != ENOBUFS)
			die("send");
		s.sent += train;
		while (read_ack(fd, &s, 0))
			;
	}
	printf("{\"sent\": %llu, \"lost\": %llu, \"seconds\": %.6f}\n", (unsigned long long)s.sent,
	       (unsigned long long)s.lost, (double)(now_ns() - start) / (double)NS_PER_S);
	return 0;
}

static int drain(int fd, size_t bytes, double seconds)
{
	static uint8_t data[1 << 16];
	int64_t first = 0, last = 0, end = now_ns() + (int64_t)(seconds * (double)NS_PER_S);
	struct sockaddr_in from;
	struct ack a = { 0 };
	int on = 1;

	if (setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) < 0)
		die("UDP_GRO");
	while (now_ns() < end && wait_for(fd, first ? 300 : 1000)) {
		socklen_t from_len = sizeof(from);
		ssize_t n = recvfrom(fd, data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&from,
				     &from_len);
		uint64_t number;

		last = now_ns();
		first = first ? first : last;
		if (n < (ssize_t)bytes)
			continue;
		memcpy(&number, data + ((size_t)n / bytes - 1) * bytes, sizeof(number));
		a.received += (size_t)n / bytes;
		a.next = number + 1 > a.next ? number + 1 : a.next;
		if (sendto(fd, &a, sizeof(a), 0, (struct sockaddr *)&from, from_len) < 0)
			fprintf(stderr, "wireload: drain: %s\n", strerror(errno));
	}
	printf("{\"datagrams\": %llu, \"missing\": %llu, \"seconds\": %.6f}\n",
	       (unsigned long long)a.received, (unsigned long long)(a.next - a.received),
	       (double)(last - first) / (double)NS_PER_S);
	return 0;
}

static int echo(int fd, double seconds)
{
	uint8_t buf[BYTES_MAX];

	while (wait_for(fd, (int)(seconds * 1000))) {
		struct sockaddr_storage from;
		socklen_t from_len = sizeof(from);
		ssize_t n = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &from_len);

		if (n > 0 && sendto(fd, buf, (size_t)n, 0, (struct sockaddr *)&from, from_len) < 0)
			fprintf(stderr, "wireload: echo: %s\n", strerror(errno));
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns whether the datagram is the answer to number i, and not a late answer. */
static bool answered(int fd, uint8_t *buf, uint32_t i)
{
	uint32_t got;

	while (wait_for(fd, LOST_MS)) {
		ssize_t n = recv(fd, buf, BYTES_MAX, MSG_DONTWAIT);

		if (n < (ssize_t)sizeof(got))
			continue;
		memcpy(&got, buf, sizeof(got));
		if (got == i)
			return true;
	}
	return false;
}

static int pingpong(int fd, size_t bytes, double seconds)
{
	uint32_t *sample = calloc(SAMPLES_MAX, sizeof(*sample)), n = 0, lost = 0;
	int64_t end = now_ns() + (int64_t)(seconds * (double)NS_PER_S);
	uint8_t buf[BYTES_MAX] = { 0 };

	if (!sample)
		die("memory");
	for (uint32_t i = 0; n < SAMPLES_MAX && now_ns() < end; i++) {
		int64_t start = now_ns();

		memcpy(buf, &i, sizeof(i));
		if (send(fd, buf, bytes, 0) < 0 || !answered(fd, buf, i))
			lost++;
		else
			sample[n++] = (uint32_t)(now_ns() - start);
	}
	qsort(sample, n, sizeof(*sample), compare);
	printf("{\"round_trips\": %u, \"lost\": %u, \"min_us\": %.1f, \"p50_us\": %.1f, "
	       "\"p99_us\": %.1f}\n",
	       n, lost, n ? sample[0] / 1e3 : 0, n ? sample[n / 2] / 1e3 : 0,
	       n ? sample[(uint64_t)n * 99 / 100] / 1e3 : 0);
	free(sample);
	return 0;
}

/* --- numbered datagrams --- */

static void sleep_until(int64_t ns)
{
	struct timespec ts = { ns / NS_PER_S, ns % NS_PER_S };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static int paced(int fd, size_t bytes, uint32_t count, double rate)
{
	uint8_t buf[BYTES_MAX] = { 0 };
	int64_t start = now_ns(), due = start, worst = 0;
	uint32_t failed = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t now = now_ns();

		if (now < due)
			sleep_until(due);
		worst = now - due > worst ? now - due : worst;
		/* After a stall the sender restarts from now: a burst would measure queues, not
		 * paths. */
		due = (due > now - CATCH_UP_NS ? due : now) + (int64_t)((double)NS_PER_S / rate);
		memcpy(buf, &i, sizeof(i));
		if (bytes >= STAMPED_BYTES) {
			now = now_ns();
			memcpy(buf + sizeof(i), &now, sizeof(now));
		}
		failed += send(fd, buf, bytes, 0) < 0;
	}
	printf("{\"datagrams\": %u, \"failed\": %u, \"seconds\": %.6f, \"late_ms\": %.1f}\n",
	       count - failed, failed, (double)(now_ns() - start) / (double)NS_PER_S,
	       (double)worst / 1e6);
	return 0;
}

/* Delay of a datagram of paced(), in the same machine. */
static uint32_t age_us(const uint8_t *data)
{
	int64_t sent;

	memcpy(&sent, data + sizeof(uint32_t), sizeof(sent));
	return (uint32_t)((now_ns() - sent) / 1000);
}

static int tally(int fd, size_t bytes, uint32_t count, double seconds)
{
	uint32_t once = 0, again = 0, late = 0, highest = 0, strange = 0;
	struct batch *b = new_batch(BYTES_MAX);
	uint8_t *seen = calloc(count, 1);
	uint32_t *delay = calloc(count, sizeof(*delay)), n_delays = 0;

	if (!seen || !delay)
		die("memory");
	/* Duplicates arrive soon. */
	while (wait_for(fd, once < count ? (int)(seconds * 1000) : LOST_MS)) {
		int got = recvmmsg(fd, b->mm, BATCH, MSG_DONTWAIT, NULL);

		for (int i = 0; i < got; i++) {
			uint32_t number;

			memcpy(&number, b->data[i], sizeof(number));
			if (b->mm[i].msg_len != bytes || number >= count) {
				strange++;
				continue;
			}
			again += seen[number];
			once += !seen[number];
			seen[number] = 1;
			if (bytes >= STAMPED_BYTES && n_delays < count)
				delay[n_delays++] = age_us(b->data[i]);
			late += number < highest;
			highest = number > highest ? number : highest;
		}
	}
	qsort(delay, n_delays, sizeof(*delay), compare);
	printf("{\"arrived\": %u, \"again\": %u, \"missing\": %u, \"out_of_order\": %u, "
	       "\"strange\": %u, \"p50_us\": %u, \"p99_us\": %u}\n",
	       once, again, count - once, late, strange, n_delays ? delay[n_delays / 2] : 0,
	       n_delays ? delay[(uint64_t)n_delays * 99 / 100] : 0);
	free(delay);
	free(seen);
	free(b);
	return 0;
}

static size_t read_bytes(const char *text)
{
	unsigned long n = strtoul(text, NULL, 10);

	if (n < sizeof(uint32_t) || n > BYTES_MAX) {
		fprintf(stderr, "wireload: 4 to %d bytes\n", BYTES_MAX);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0);
	if (strcmp(what, "sink") == 0 && argc == 5)
		return sink(open_socket(NULL, argv[2]), read_bytes(argv[3]), atof(argv[4]));
	if (strcmp(what, "blast") == 0 && argc == 6)
		return blast(open_socket(argv[2], argv[3]), read_bytes(argv[4]), atof(argv[5]));
	if (strcmp(what, "flood") == 0 && argc == 9) {
		size_t bytes = read_bytes(argv[6]);

		return flood(open_flood(argv[2], argv[3], bytes), address(argv[4], argv[5]), bytes,
			     atof(argv[7]), argv[8]);
	}
	if (strcmp(what, "stream") == 0 && argc == 6)
		return stream(open_socket(argv[2], argv[3]), read_bytes(argv[4]), atof(argv[5]));
	if (strcmp(what, "drain") == 0 && argc == 5)
		return drain(open_socket(NULL, argv[2]), read_bytes(argv[3]), atof(argv[4]));
	if (strcmp(what, "echo") == 0 && argc == 4)
		return echo(open_socket(NULL, argv[2]), atof(argv[3]));
	if (strcmp(what, "pingpong") == 0 && argc == 6)
		return pingpong(open_socket(argv[2], argv[3]), read_bytes(argv[4]), atof(argv[5]));
	if (strcmp(what, "paced") == 0 && argc == 7)
		return paced(open_socket(argv[2], argv[3]), read_bytes(argv[4]),
			     (uint32_t)atoll(argv[5]), atof(argv[6]));
	if (strcmp(what, "tally") == 0 && argc == 6)
		return tally(open_socket(NULL, argv[2]), read_bytes(argv[3]),
			     (uint32_t)atoll(argv[4]), atof(argv[5]));
	fprintf(stderr, "usage: wireload sink|blast|echo|... ...; see wireload.c\n");
	return 2;
}
