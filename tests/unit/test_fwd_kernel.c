// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet path with the real kernel: three nodes with TAPs, sockets and threads in namespaces of
 * this process (fwd_lab.h). The data of hosts arrives unchanged, directly and through a relay, with
 * and without offloads, segmented and fragmented. Without namespaces or TAP the tests are skipped.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "fwd_lab.h"
#include "wire/bytes.h"
#include "wire/datagram/leon.h"

#define TRANSFER   (4u << 20)
#define DEADLINE_S 30

static struct lab lab;

static struct lab settings(uint32_t tap_mtu, uint32_t wire_mtu, bool offload, bool relayed)
{
	return (struct lab){ .n_workers = 2,
			     .tap_mtu = tap_mtu,
			     .wire_mtu = wire_mtu,
			     .offload = offload,
			     .relayed = relayed };
}

/* Skips the test if the lab cannot open. */
static void begin(struct lab with)
{
	lab = with;
	if (!lab_open(&lab)) {
		print_message("# skipped: no namespaces, veth or TAP here (errno %d)\n", errno);
		skip();
	}
}

/* --- sockets of hosts --- */

/* Opens a socket in the namespace of a node, bound to its overlay address. */
static int host_socket(unsigned node, int type, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd, one = 1;

	assert_true(netns_set(lab.node[node].ns));
	fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	sin.sin_addr.s_addr = htonl(0x0a000001u + node);
	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_true(netns_set(lab.home));
	return fd;
}

static void connect_to(int fd, unsigned node, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	sin.sin_addr.s_addr = htonl(0x0a000001u + node);
	if (connect(fd, (struct sockaddr *)&sin, sizeof(sin)) < 0)
		assert_int_equal(errno, EINPROGRESS);
}

static bool wait_fd(int fd, short events, int seconds)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	return poll(&pfd, 1, seconds * 1000) == 1;
}

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16));
}

/* Moves TRANSFER bytes between the hosts of two nodes over TCP and compares them. */
static void tcp_transfer(unsigned from, unsigned to, uint16_t port)
{
	static uint8_t out[65536], in[65536];
	int server = host_socket(to, SOCK_STREAM, port), client = host_socket(from, SOCK_STREAM, 0);
	int conn;
	size_t sent = 0, got = 0;

	assert_int_equal(listen(server, 1), 0);
	connect_to(client, to, port);
	assert_true(wait_fd(server, POLLIN, DEADLINE_S));
	conn = accept4(server, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(conn >= 0);
	while (got < TRANSFER) {
		short more = sent < TRANSFER ? POLLOUT : 0;
		struct pollfd pfd[2] = { { .fd = conn, .events = POLLIN },
					 { .fd = client, .events = more } };
		size_t want = min_of(sizeof(out), TRANSFER - sent);
		ssize_t n;

		assert_true(poll(pfd, 2, DEADLINE_S * 1000) > 0);
		for (size_t i = 0; i < want; i++)
			out[i] = pattern(sent + i);
		n = want ? send(client, out, want, MSG_NOSIGNAL) : 0;
		sent += n > 0 ? (size_t)n : 0;
		n = recv(conn, in, sizeof(in), 0);
		for (ssize_t i = 0; i < n; i++)
			if (in[i] != pattern(got + (size_t)i))
				fail_msg("byte %zu differs", got + (size_t)i);
		got += n > 0 ? (size_t)n : 0;
	}
	close(server);
	close(client);
	close(conn);
}

/* Sends datagrams of these sizes, all different, repeats each until it arrives, and compares
 * them. */
static void udp_sizes(unsigned from, unsigned to, const size_t *size, unsigned n)
{
	static uint8_t out[65536], in[65536];
	int a = host_socket(from, SOCK_DGRAM, 4000), b = host_socket(to, SOCK_DGRAM, 4000);

	connect_to(a, to, 4000);
	for (unsigned k = 0; k < n; k++) {
		unsigned tries = 0;
		ssize_t got;

		for (size_t i = 0; i < size[k]; i++)
			out[i] = pattern(i + k);
		do {
			assert_true(tries++ < 50);
			assert_int_equal(send(a, out, size[k], 0), size[k]);
			/* A copy of the datagram before may come first. */
			do
				got = wait_fd(b, POLLIN, 1) ? recv(b, in, sizeof(in), 0) : -1;
			while (k > 0 && got == (ssize_t)size[k - 1]);
		} while (got < 0);
		assert_int_equal(got, size[k]);
		assert_memory_equal(in, out, size[k]);
		/* Discards late copies. */
		while (recv(b, in, sizeof(in), 0) >= 0)
			;
	}
	close(a);
	close(b);
}

/* --- tests --- */

/* Polls a condition of other threads. */
#define eventually(cond)                                                                           \
	do {                                                                                       \
		for (int ms = 0; !(cond) && ms < DEADLINE_S * 1000; ms += 10)                      \
			poll(NULL, 0, 10);                                                         \
		assert_true(cond);                                                                 \
	} while (0)

static void direct(void **state)
{
	static const size_t size[] = { 1, 2, 63, 64, 999, 1000, 1471, 1472 };

	(void)state;
	begin(settings(1500, 1600, true, false));
	tcp_transfer(0, 1, 5001);
	tcp_transfer(1, 0, 5002);
	udp_sizes(0, 1, size, array_size(size));
	assert_int_equal(lab_count(&lab, 2, CNT_relayed_datagrams), 0);
	assert_int_equal(lab_count(&lab, 0, CNT_fragments_tx), 0);
	assert_true(!lab.node[0].tap.granted.tso || lab_count(&lab, 0, CNT_tap_rx_super) > 0);
	/* Consecutive segments were coalesced. */
	assert_true(!lab.node[1].tap.granted.tso || lab_count(&lab, 1, CNT_tap_tx_super) > 0);
	assert_true(lab_count(&lab, 1, CNT_tap_tx_frames) <=
		    lab_count(&lab, 1, CNT_delivered_frames));
	lab_close(&lab);
}

static void transfers_through_a_relay(struct lab with, const size_t *size, size_t n)
{
	begin(with);
	tcp_transfer(0, 1, 5001);
	udp_sizes(0, 1, size, n);
	assert_true(lab_count(&lab, 2, CNT_relayed_datagrams) > TRANSFER / 1600);
}

static void through_a_relay(void **state)
{
	static const size_t size[] = { 1, 100, 1472 };
	struct fwd_traffic t;

	(void)state;
	transfers_through_a_relay(settings(1500, 1600, true, true), size, array_size(size));
	/* The source counts the frames on its link to the relay. */
	fwd_traffic(lab.node[0].f, lab_slot(0, 2), &t);
	assert_true(t.link_tx > TRANSFER / 1600);
	assert_true(t.directed > 0);
	lab_close(&lab);
}

static void over_ipv6(void **state)
{
	static const size_t size[] = { 1, 1400, 1472 };
	struct lab with = settings(1500, 1500, true, true);

	(void)state;
	with.v6 = true;
	transfers_through_a_relay(with, size, array_size(size));
	lab_close(&lab);
}

static void without_offloads(void **state)
{
	static const size_t size[] = { 1, 1472, 3000 };

	(void)state;
	begin(settings(1500, 1500, false, true));
	tcp_transfer(0, 1, 5001);
	udp_sizes(0, 1, size, array_size(size));
	assert_int_equal(lab_count(&lab, 1, CNT_tap_tx_super), 0);
	lab_close(&lab);
}

/* MTU 9000 inside, 1500 outside: TCP is segmented to fit, UDP is fragmented and reassembled. */
static void jumbo_over_a_narrow_wire(void **state)
{
	static const size_t size[] = { 1, 1400, 1401, 1430, 2900, 5000, 8971, 8972 };

	(void)state;
	begin(settings(9000, 1500, true, true));
	tcp_transfer(0, 1, 5001);
	udp_sizes(0, 1, size, array_size(size));
	assert_true(lab_count(&lab, 0, CNT_fragmented_frames) >= 5);
	assert_true(lab_count(&lab, 1, CNT_reassembled_frames) >= 5);
	assert_int_equal(lab_drops(&lab, 1, DROP_fragment_bad), 0);
	eventually(fwd_reassembly_bytes(lab.node[1].f) == 0);
	lab_close(&lab);
}

/* A UDP super-frame (USO): one send, many datagrams. Datagrams that exceed the path MTU are
 * fragmented. */
static void udp_super_frames(void **state)
{
	static uint8_t out[40000], in[2000];
	int a, b, segment = 1472;
	unsigned n = 0;

	(void)state;
	begin(settings(1500, 1500, true, false));
	a = host_socket(0, SOCK_DGRAM, 4000);
	b = host_socket(1, SOCK_DGRAM, 4000);
	connect_to(a, 1, 4000);
	/* The first datagram triggers the ARP exchange. */
	assert_int_equal(send(a, "x", 1, 0), 1);
	assert_true(wait_fd(b, POLLIN, DEADLINE_S));
	assert_int_equal(recv(b, in, sizeof(in), 0), 1);
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = pattern(i);
	assert_int_equal(setsockopt(a, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
	assert_int_equal(send(a, out, sizeof(out), 0), sizeof(out));
	for (size_t at = 0; at < sizeof(out); at += (size_t)segment, n++) {
		size_t want = min_of((size_t)segment, sizeof(out) - at);

		assert_true(wait_fd(b, POLLIN, DEADLINE_S));
		assert_int_equal(recv(b, in, sizeof(in), 0), want);
		assert_memory_equal(in, out + at, want);
	}
	assert_int_equal(n, 28);
	close(a);
	close(b);
	lab_close(&lab);
}

static int packet_socket(unsigned node)
{
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd, one = 1;

	assert_true(netns_set(lab.node[node].ns));
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
	ll.sll_ifindex = (int)if_nametoindex("leon0");
	assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&ll, sizeof(ll)) == 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)), 0);
	assert_true(netns_set(lab.home));
	return fd;
}

/* Receives a frame and inserts its outermost tag, which the kernel reports separately. */
static ssize_t recv_frame(int fd, uint8_t *out, size_t size)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct iovec iov = { out, size - 4 };
	struct msghdr mh = { .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(fd, &mh, 0);
	struct tpacket_auxdata aux;
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&mh) : NULL;

	if (!c)
		return n;
	memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
		return n;
	memmove(out + 16, out + 12, (size_t)n - 12);
	put_u16(out + 12, aux.tp_vlan_tpid);
	put_u16(out + 14, aux.tp_vlan_tci);
	return n + 4;
}

/* Sends the frame until an equal frame arrives. Returns false after all tries. */
static bool frame_arrives(int from, int to, const uint8_t *frame, size_t len, int tries)
{
	uint8_t in[2048];

	while (tries--) {
		uint32_t end = lab_now_s() + 2;

		assert_int_equal(send(from, frame, len, 0), len);
		while (lab_now_s() < end && wait_fd(to, POLLIN, 1)) {
			ssize_t n = recv_frame(to, in, sizeof(in));

			if (n == (ssize_t)len && memcmp(in, frame, len) == 0)
				return true;
		}
	}
	return false;
}

static void tagged_and_reserved_frames(void **state)
{
	const struct mac source = { { 2, 0, 0, 0, 0, 0x98 } };
	uint8_t frame[200];
	int a, b, c;
	uint64_t before;

	(void)state;
	begin(settings(1500, 1600, true, false));
	a = packet_socket(0);
	b = packet_socket(1);
	c = packet_socket(2);
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = pattern(i);
	/* Two tags around an EtherType for experiments. Unknown unicast reaches all nodes. */
	memcpy(frame,
	       "\x02\x00\x00\x00\x00\x99\x02\x00\x00\x00\x00\x98"
	       "\x81\x00\x60\x05\x81\x00\x00\x07\x88\xb6",
	       22);
	assert_true(frame_arrives(a, b, frame, sizeof(frame), 10));
	assert_true(frame_arrives(a, c, frame, sizeof(frame), 10));
	/* The address is learned in its VLAN only. */
	eventually(fdb_lookup(lab.node[1].fdb, 5, source) == lab_slot(1, 0));
	assert_int_equal(fdb_lookup(lab.node[1].fdb, 0, source), SLOT_NONE);
	before = lab_drops(&lab, 0, DROP_link_local_control);
	memcpy(frame, "\x01\x80\xc2\x00\x00\x00", 6);
	assert_false(frame_arrives(a, b, frame, sizeof(frame), 1));
	assert_int_equal(lab_drops(&lab, 0, DROP_link_local_control), before + 1);
	close(a);
	close(b);
	close(c);
	lab_close(&lab);
}

static void relay_tells_that_it_cannot(void **state)
{
	int a, b;

	(void)state;
	begin(settings(1500, 1600, true, true));
	a = host_socket(0, SOCK_DGRAM, 4000);
	b = host_socket(1, SOCK_DGRAM, 4000);
	connect_to(a, 1, 4000);
	assert_int_equal(send(a, "x", 1, 0), 1);
	assert_true(wait_fd(b, POLLIN, DEADLINE_S));
	lab.link_down = true;
	lab_control_stop(&lab);
	lab_publish(&lab);
	assert_true(lab_control_start(&lab));
	assert_int_equal(send(a, "x", 1, 0), 1);
	eventually(lab.node[2].n_cannot_forward > 0);
	assert_true(lab_drops(&lab, 2, DROP_relay_next_down) > 0);
	close(a);
	close(b);
	lab_close(&lab);
}

/* The socket of the node is closed, its kernel sends an ICMP error, and the owner of the links gets
 * a report. */
static void icmp_errors_make_suspects(void **state)
{
	int a;

	(void)state;
	begin(settings(1500, 1600, true, false));
	a = host_socket(0, SOCK_DGRAM, 4000);
	connect_to(a, 1, 4000);
	fwd_stop(lab.node[1].f);
	for (unsigned i = 0; i < lab.n_workers; i++) {
		close(lab.node[1].udp.fd4[i]);
		lab.node[1].udp.fd4[i] = -1;
	}
	/* An ARP request is sufficient. */
	assert_int_equal(send(a, "x", 1, 0), 1);
	eventually(lab.node[0].n_suspect > 0);
	close(a);
	lab_close(&lab);
}

/* The device of the relay is deleted, and its workers still relay. */
static void tap_deleted(void **state)
{
	(void)state;
	begin(settings(1500, 1600, true, true));
	tcp_transfer(0, 1, 5001);
	assert_true(netns_set(lab.node[2].ns));
	assert_true(run("ip link del leon0"));
	assert_true(netns_set(lab.home));
	tcp_transfer(0, 1, 5002);
	lab_close(&lab);
}

struct publisher {
	_Atomic bool stop;
	_Atomic unsigned n;
};

/* Replaces snapshot and FDB continuously, as changing nodes and routes do. The control thread must
 * not run, because only one thread may publish. */
static void *publish_all_the_time(void *arg)
{
	struct publisher *p = arg;

	while (!p->stop) {
		for (unsigned i = 0; i < LAB_NODES; i++) {
			struct fdb *old = lab.node[i].fdb;

			lab_drain(&lab.node[i]);
			lab.node[i].fdb = fdb_copy(old, 1024);
			lab.relayed = p->n % 2;
			lab_publish(&lab);
			fwd_retire(lab.node[i].f, old, fdb_free);
			fwd_reclaim(lab.node[i].f);
		}
		p->n++;
		poll(NULL, 0, 1);
	}
	return NULL;
}

/* Traffic continues during all changes. ThreadSanitizer and AddressSanitizer verify this test. */
static void snapshots_under_traffic(void **state)
{
	struct publisher p = { .stop = false };
	pthread_t thread;

	(void)state;
	begin(settings(1500, 1500, true, false));
	lab_control_stop(&lab);
	assert_int_equal(pthread_create(&thread, NULL, publish_all_the_time, &p), 0);
	tcp_transfer(0, 1, 5001);
	tcp_transfer(1, 0, 5002);
	p.stop = true;
	pthread_join(thread, NULL);
	assert_true(p.n > 0);
	assert_true(lab_control_start(&lab));
	lab_close(&lab);
}

/* --- sealed --- */

/* Sessions of all pairs, [from][to] on the side of `from`: the present and the previous one. */
static struct seal *session[LAB_NODES][LAB_NODES][2];
static unsigned n_sessions;
static bool use_new; /* seal with the present session, else with the previous one */

static struct seal *end_of_session(unsigned from, unsigned to)
{
	struct seal_secrets s = { .tx_link = n_sessions << 8 | from << 4 | to,
				  .rx_link = n_sessions << 8 | to << 4 | from };

	memset(s.tx_key, (int)(n_sessions * 7 + from * 3 + to), sizeof(s.tx_key));
	memset(s.rx_key, (int)(n_sessions * 7 + to * 3 + from), sizeof(s.rx_key));
	return seal_new(&s, SEAL_AES_256_GCM, n_sessions % 16, lab.n_workers);
}

static void renew_sessions(void)
{
	n_sessions++;
	for (unsigned i = 0; i < LAB_NODES; i++)
		for (unsigned k = 0; k < LAB_NODES; k++) {
			seal_unref(session[i][k][1]);
			session[i][k][1] = session[i][k][0];
			session[i][k][0] = i == k ? NULL : end_of_session(i, k);
		}
}

static void free_sessions(void)
{
	for (unsigned i = 0; i < LAB_NODES; i++)
		for (unsigned k = 0; k < LAB_NODES; k++)
			for (unsigned n = 0; n < 2; n++) {
				seal_unref(session[i][k][n]);
				session[i][k][n] = NULL;
			}
}

static void set_keys(struct snap *s)
{
	unsigned self = s->self - lab_id(0);

	s->secret = true;
	for (unsigned k = 0; k < LAB_NODES; k++) {
		struct seal *const *both = session[self][k];

		if (k != self)
			snap_set_keys(s, lab_slot(self, k), use_new ? both[0] : both[1], both[0],
				      both[1]);
	}
}

static void begin_sealed(bool relayed)
{
	struct lab with = settings(9000, 1500, true, relayed);

	lab.n_workers = with.n_workers;
	renew_sessions();
	use_new = true;
	with.change = set_keys;
	begin(with);
}

static uint64_t seal_trouble(unsigned node)
{
	static const enum drop_reason reason[] = { DROP_bad_link_value,	    DROP_not_sealed,
						   DROP_seal_unknown_key,   DROP_no_key,
						   DROP_seal_not_authentic, DROP_seal_replayed };
	uint64_t sum = 0;

	for (unsigned i = 0; i < array_size(reason); i++)
		sum += lab_drops(&lab, node, reason[i]);
	return sum;
}

static void sealed(void **state)
{
	static const size_t size[] = { 1, 64, 1400, 1401, 1420, 2900, 8972 };

	(void)state;
	for (unsigned relayed = 0; relayed < 2; relayed++) {
		begin_sealed(relayed);
		tcp_transfer(0, 1, 5001);
		tcp_transfer(1, 0, 5002);
		udp_sizes(0, 1, size, array_size(size));
		assert_true(lab_count(&lab, 0, CNT_sealed_tx) > TRANSFER / 1500);
		assert_true(lab_count(&lab, 1, CNT_sealed_rx) > TRANSFER / 1500);
		assert_int_equal(lab_count(&lab, 2, CNT_relayed_datagrams) > 0, relayed);
		assert_true(lab_count(&lab, 0, CNT_fragmented_frames) >= 2);
		/* Sealed segments are coalesced like other segments. */
		assert_true(!lab.node[1].tap.granted.tso ||
			    lab_count(&lab, 1, CNT_tap_tx_super) > 0);
		for (unsigned i = 0; i < LAB_NODES; i++)
			assert_int_equal(seal_trouble(i), 0);
		lab_close(&lab);
	}
	free_sessions();
}

static void passed(void *arg)
{
	(*(_Atomic unsigned *)arg)++;
}

/* Waits until the workers of all nodes use the last publication, at any delay. */
static void wait_for_workers(void)
{
	static _Atomic unsigned n_passed;

	n_passed = 0;
	for (unsigned i = 0; i < LAB_NODES; i++)
		fwd_retire(lab.node[i].f, (void *)&n_passed, passed);
	while (n_passed < LAB_NODES) {
		poll(NULL, 0, 1);
		for (unsigned i = 0; i < LAB_NODES; i++) {
			lab_drain(&lab.node[i]);
			fwd_reclaim(lab.node[i].f);
		}
	}
}

/* Waits until hosts have received frames under these keys. Two key changes lose only frames in
 * flight, so the transfer continues on a slow machine. */
static void wait_for_frames(const struct publisher *p)
{
	uint64_t enough =
		200 + lab_count(&lab, 0, CNT_sealed_rx) + lab_count(&lab, 1, CNT_sealed_rx);

	while (!p->stop &&
	       lab_count(&lab, 0, CNT_sealed_rx) + lab_count(&lab, 1, CNT_sealed_rx) < enough) {
		poll(NULL, 0, 1);
		for (unsigned i = 0; i < LAB_NODES; i++)
			lab_drain(&lab.node[i]);
	}
}

/* Renews keys as the protocol does: all nodes can open with the new keys before any node seals with
 * them. The new keys are in use before the next renewal. */
static void *renew_all_the_time(void *arg)
{
	struct publisher *p = arg;

	while (!p->stop) {
		renew_sessions();
		use_new = false;
		lab_publish(&lab);
		wait_for_workers();
		use_new = true;
		lab_publish(&lab);
		wait_for_workers();
		p->n++;
		wait_for_frames(p);
	}
	return NULL;
}

/* Workers seal and open while keys change. The sanitizers verify this test too. */
static void keys_change_under_traffic(void **state)
{
	struct publisher p = { .stop = false };
	pthread_t thread;

	(void)state;
	begin_sealed(true);
	lab_control_stop(&lab);
	assert_int_equal(pthread_create(&thread, NULL, renew_all_the_time, &p), 0);
	tcp_transfer(0, 1, 5001);
	tcp_transfer(1, 0, 5002);
	p.stop = true;
	pthread_join(thread, NULL);
	print_message("keys changed %u times\n", p.n);
	assert_true(p.n > 2);
	assert_true(lab_control_start(&lab));
	lab_close(&lab);
	free_sessions();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(direct),
		cmocka_unit_test(through_a_relay),
		cmocka_unit_test(over_ipv6),
		cmocka_unit_test(without_offloads),
		cmocka_unit_test(jumbo_over_a_narrow_wire),
		cmocka_unit_test(udp_super_frames),
		cmocka_unit_test(tagged_and_reserved_frames),
		cmocka_unit_test(relay_tells_that_it_cannot),
		cmocka_unit_test(icmp_errors_make_suspects),
		cmocka_unit_test(tap_deleted),
		cmocka_unit_test(snapshots_under_traffic),
		cmocka_unit_test(sealed),
		cmocka_unit_test(keys_change_under_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
