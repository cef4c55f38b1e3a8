// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DSCP and congestion marks of datagrams: the complete table of RFC 6040, the marks of outgoing
 * datagrams, and the effect on inner frames. Frames are single, bundled, fragmented or relayed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "from_tap_lab.h"

#include "fwd/send/send_steps.h"
#include "ones_sum.h"
#include "wire/datagram/leon.h"

#define ALONE 1000 /* bytes of a frame that is never bundled */
#define SMALL 100
#define EF    46
#define CS6   48

/* --- frames --- */

static size_t build4(uint8_t class, size_t len)
{
	uint8_t *ip = frame + fx_eth(frame, REMOTE, HOST, ETHERTYPE_V4);

	memset(out, 0, TAP_VNET_LEN);
	memset(ip, 0, len - ETH_HDR_LEN);
	ip[0] = 0x45;
	ip[1] = class;
	put_u16(ip + 2, (uint16_t)(len - ETH_HDR_LEN));
	ip[8] = 64;
	ip[9] = 253; /* for experiments */
	memcpy(ip + 12, "\x0a\x01\x00\x01\x0a\x01\x00\x02", 8);
	put_u16(ip + 10, (uint16_t)~ones_sum(0, ip, 20));
	return TAP_VNET_LEN + len;
}

static size_t build6(uint8_t class, size_t len)
{
	uint8_t *ip = frame + fx_eth(frame, REMOTE, HOST, ETHERTYPE_V6);

	memset(out, 0, TAP_VNET_LEN);
	memset(ip, 0, len - ETH_HDR_LEN);
	put_u32(ip, 6u << 28 | (uint32_t) class << 20 | 0xabcde);
	put_u16(ip + 4, (uint16_t)(len - ETH_HDR_LEN - 40));
	ip[6] = 253;
	ip[7] = 64;
	ip[8] = ip[24] = 0xfd;
	return TAP_VNET_LEN + len;
}

static size_t build_other(size_t len)
{
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	memset(frame + ETH_HDR_LEN, 0, len - ETH_HDR_LEN);
	return TAP_VNET_LEN + len;
}

/* Inserts a tag into the frame. */
static size_t tagged(size_t len)
{
	memmove(frame + 16, frame + 12, len - TAP_VNET_LEN - 12);
	put_u16(frame + 12, ETHERTYPE_DOT1Q);
	put_u16(frame + 14, 7);
	return len + 4;
}

/* --- outgoing datagrams --- */

static int with_classes(void **state)
{
	int on = 1;

	if (from_tap_setup(state) < 0)
		return -1;
	fdb_learn(fx.fdb, 7, fx_mac(REMOTE), 1, 1);
	return setsockopt(fx.node_fd[1], IPPROTO_IP, IP_RECVTOS, &on, sizeof(on)) |
	       setsockopt(fx.node_fd[2], IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
}

/* Returns the traffic class of the next datagram to the node. -1: none. */
static int class_at(unsigned slot)
{
	_Alignas(struct cmsghdr) uint8_t control[64];
	uint8_t data[4096];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };

	if (recvmsg(fx.node_fd[slot], &m, MSG_DONTWAIT) < 0)
		return -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			return *CMSG_DATA(c);
	return -2;
}

static int sent_as(size_t len)
{
	assert_true(fx_host_sends(&fx, out, len));
	return class_at(1);
}

static void copy(struct snap *s)
{
	s->marking.dscp = SNAP_DSCP_COPY;
}
static void set_ef(struct snap *s)
{
	s->marking.dscp = SNAP_DSCP_SET;
	s->marking.dscp_set = EF;
}
static void without_ecn(struct snap *s)
{
	copy(s);
	s->marking.ecn_disable = true;
}

static void classes_go_out(void **state)
{
	(void)state;
	for (unsigned class = 0; class < 256; class += 5) {
		uint8_t c = (uint8_t) class, ecn = c & ECN_MASK;

		/* Without the option only the ECN bits are copied. */
		fx_publish(&fx, NULL);
		assert_int_equal(sent_as(build4(c, ALONE)), ecn);
		assert_int_equal(sent_as(build6(c, ALONE)), ecn);
		fx_publish(&fx, copy);
		assert_int_equal(sent_as(build4(c, ALONE)), c);
		assert_int_equal(sent_as(build6(c, ALONE)), c);
		assert_int_equal(sent_as(tagged(build4(c, ALONE))), c);
		assert_int_equal(sent_as(tagged(build6(c, ALONE))), c);
		/* The frame exceeds the path MTU and is fragmented. */
		assert_int_equal(sent_as(build4(c, 2 * FX_MTU)), c);
		while (class_at(1) >= 0)
			;
		fx_publish(&fx, set_ef);
		assert_int_equal(sent_as(build4(c, ALONE)), EF << DSCP_SHIFT | ecn);
		fx_publish(&fx, without_ecn);
		assert_int_equal(sent_as(build4(c, ALONE)), c & ~ECN_MASK);
	}
	fx_publish(&fx, copy);
	assert_int_equal(sent_as(build_other(ALONE)), 0);
	fx_publish(&fx, set_ef);
	assert_int_equal(sent_as(build_other(ALONE)), EF << DSCP_SHIFT);
	assert_int_equal(fx_all_drops(&fx), 0);
}

static void all_pieces_have_it(void **state)
{
	unsigned n = 0;
	int class;

	(void)state;
	fx_publish(&fx, copy);
	for (assert_true(fx_host_sends(&fx, out, build4(EF << 2 | 2, 3 * FX_MTU)));
	     (class = class_at(1)) >= 0; n++)
		assert_int_equal(class, EF << 2 | 2);
	assert_int_equal(n, 4);
}

/* If the socket already has the class of the parameters, no control message repeats that class. */
static void with_tos(struct snap *s)
{
	copy(s);
	s->marking.tos = 40;
	s->marking.tclass = 80;
}
static void socket_has_its_own(void **state)
{
	int tos = 40;

	(void)state;
	setsockopt(fx.udp, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	fx_publish(&fx, with_tos);
	assert_int_equal(marking_bits(fx.snap, CLASS_OF_SOCKET | ECN_ECT0, false), 42);
	assert_int_equal(marking_bits(fx.snap, CLASS_OF_SOCKET | ECN_ECT0, true), 82);
	assert_int_equal(sent_as(build_other(ALONE)), 40);
	assert_int_equal(sent_as(build4(0, ALONE)), 0);
	assert_int_equal(sent_as(build4(40, ALONE)), 40);
	assert_int_equal(sent_as(build4(41, ALONE)), 41);
	expect_silence();
}

/* Frames of one class are bundled. Frames of two classes are not, and keep their order. */
static void company_is_of_one_class(void **state)
{
	static const uint8_t class[] = { 0, 0, EF << 2, EF << 2, 2, 0, 0 };
	static const int want[] = { 0, EF << 2, 2, 0, -1 };

	(void)state;
	fx_publish(&fx, copy);
	for (size_t i = 0; i < array_size(class); i++) {
		size_t len = build4(class[i], SMALL);

		assert_int_equal(write(fx.tap, out, len), len);
	}
	worker_begin(fx.w);
	from_tap(fx.w, fx.near_tap);
	worker_end(fx.w);
	for (size_t i = 0; i < array_size(want); i++)
		assert_int_equal(class_at(1), want[i]);
	assert_int_equal(fx_count(&fx, CNT_bundled_frames_tx), 6);
}

/* --- incoming datagrams --- */

static void receive(unsigned from, uint8_t *data, size_t len, uint8_t class)
{
	struct sockaddr_storage ss = { 0 };
	struct udp_rx_msg m = { .data = data,
				.len = len,
				.segment = len,
				.from = &ss,
				.class = class };

	endpoint_to_sockaddr(&fx.ep[from], &ss);
	worker_begin(fx.w);
	from_net_message(fx.w, &m);
	worker_end(fx.w);
}

static const node_id_t to_us[] = { N(0) };

/* Returns the traffic class of the delivered frame. -1: none. */
static int delivered(void)
{
	uint8_t got[4096];
	struct eth_view v;
	uint8_t class;
	ssize_t n = recv(fx.tap, got, sizeof(got), MSG_DONTWAIT);
	uint8_t *f = got + TAP_VNET_LEN;

	if (n < 0)
		return -1;
	assert_int_equal(eth_parse(f, (size_t)n - TAP_VNET_LEN, &v), 0);
	if (!ip_class(f, (size_t)n - TAP_VNET_LEN, &v, &class))
		return -2;
	if (v.ip_version == 4)
		assert_int_equal(ones_sum(0, f + v.l3_offset, 20), 0xffff);
	else
		assert_int_equal(get_u32(f + v.l3_offset) & 0xfffff, 0xabcde);
	return class;
}

static int arrives(size_t len, uint8_t class)
{
	uint8_t b[4096];
	size_t at = fx_header(b, LEON_FRAME, 0, N(1), 0, 1, to_us);

	len -= TAP_VNET_LEN;
	memcpy(b + at, frame, len);
	receive(1, b, at + len, class);
	return delivered();
}

/* RFC 6040, figure 4: rows are the inner header, columns the outer header. -1: dropped. */
static const int rfc6040[4][4] = {
	[ECN_NOT_ECT] = { [ECN_NOT_ECT] = 0, [ECN_ECT0] = 0, [ECN_ECT1] = 0, [ECN_CE] = -1 },
	[ECN_ECT0] = { [ECN_NOT_ECT] = ECN_ECT0,
		       [ECN_ECT0] = ECN_ECT0,
		       [ECN_ECT1] = ECN_ECT1,
		       [ECN_CE] = ECN_CE },
	[ECN_ECT1] = { [ECN_NOT_ECT] = ECN_ECT1,
		       [ECN_ECT0] = ECN_ECT1,
		       [ECN_ECT1] = ECN_ECT1,
		       [ECN_CE] = ECN_CE },
	[ECN_CE] = { [ECN_NOT_ECT] = ECN_CE,
		     [ECN_ECT0] = ECN_CE,
		     [ECN_ECT1] = ECN_CE,
		     [ECN_CE] = ECN_CE },
};

static void the_whole_table(void **state)
{
	unsigned marked = 0;

	(void)state;
	for (unsigned inner = 0; inner < 4; inner++)
		for (unsigned outer = 0; outer < 4; outer++) {
			int want = rfc6040[inner][outer];

			assert_int_equal(ecn_leaves_tunnel((enum ecn)inner, (enum ecn)outer), want);
			for (unsigned dscp = 0; dscp <= DSCP_MAX; dscp += 9) {
				uint8_t class = (uint8_t)(dscp << 2 | inner);
				int all = want < 0 ? -1 : (int)(dscp << 2) | want;

				/* The outer DSCP does not change the inner DSCP. */
				assert_int_equal(arrives(build4(class, SMALL), outer | 0x28), all);
				assert_int_equal(arrives(build6(class, SMALL), (uint8_t)outer),
						 all);
				assert_int_equal(
					arrives(tagged(build6(class, SMALL)), (uint8_t)outer), all);
				marked += want == ECN_CE && inner != ECN_CE ? 3 : 0;
			}
		}
	assert_int_equal(fx_count(&fx, CNT_marked_in_transit), marked);
	assert_int_equal(fx_drops(&fx, DROP_ecn_not_capable), 3 * 8);
	assert_int_equal(fx_all_drops(&fx), 3 * 8);
	/* The frame has no ECN field and no sender that would react to a drop. */
	assert_int_equal(arrives(build_other(SMALL), ECN_CE), -2);
}

static void in_company(void **state)
{
	static const uint8_t inner[] = { ECN_ECT0, ECN_NOT_ECT, ECN_ECT1 };
	uint8_t b[1024];
	size_t at = fx_header(b, LEON_BUNDLE, 0, N(1), 0, 1, to_us);

	(void)state;
	for (size_t i = 0; i < array_size(inner); i++) {
		build4(inner[i], SMALL);
		bundle_encode(SMALL, 0, b + at);
		memcpy(b + at + BUNDLE_HDR_LEN, frame, SMALL);
		at += BUNDLE_HDR_LEN + SMALL;
	}
	receive(1, b, at, ECN_CE);
	assert_int_equal(delivered(), ECN_CE);
	assert_int_equal(delivered(), ECN_CE);
	assert_int_equal(delivered(), -1);
	assert_int_equal(fx_drops(&fx, DROP_ecn_not_capable), 1);
}

/* Delivers a frame in two fragments with these classes. */
static int in_pieces(uint8_t inner, uint8_t first, uint8_t second)
{
	static uint32_t id;
	const uint8_t class[] = { first, second };

	build4(inner, 2 * ALONE);
	id++;
	for (unsigned i = 0; i < 2; i++) {
		struct fragment_hdr h = { .id = id,
					  .offset = (uint16_t)(i * ALONE),
					  .total = 2 * ALONE };
		uint8_t b[2048];
		size_t at = fx_header(b, LEON_FRAGMENT, 0, N(1), 0, 1, to_us);

		fragment_encode(&h, b + at);
		memcpy(b + at + FRAGMENT_HDR_LEN, frame + i * ALONE, ALONE);
		receive(1, b, at + FRAGMENT_HDR_LEN + ALONE, class[i]);
	}
	return delivered();
}

static void one_marked_piece_marks_the_frame(void **state)
{
	(void)state;
	assert_int_equal(in_pieces(ECN_ECT0, ECN_ECT0, ECN_ECT0), ECN_ECT0);
	assert_int_equal(in_pieces(ECN_ECT0, ECN_CE, ECN_ECT0), ECN_CE);
	assert_int_equal(in_pieces(ECN_ECT0, ECN_ECT0, ECN_CE), ECN_CE);
	assert_int_equal(in_pieces(ECN_ECT0, ECN_NOT_ECT, ECN_NOT_ECT), ECN_ECT0);
	assert_int_equal(in_pieces(ECN_NOT_ECT, ECN_NOT_ECT, ECN_CE), -1);
	assert_int_equal(fx_all_drops(&fx), 1);
}

/* --- relayed datagrams --- */

static int relayed(uint8_t kind, uint8_t class)
{
	static const node_id_t hops[] = { N(0), N(2) };
	uint8_t b[256] = { 0 };
	size_t at = fx_header(b, kind, 0, N(1), 0, 2, hops);

	receive(1, b, at + SMALL, class);
	return class_at(2);
}

static void with_control(struct snap *s)
{
	set_ef(s);
	s->marking.control_has_dscp = true;
	s->marking.dscp_control = CS6;
}

static void relays_lose_no_mark(void **state)
{
	(void)state;
	for (uint8_t ecn = 0; ecn < 4; ecn++) {
		fx_publish(&fx, NULL);
		assert_int_equal(relayed(LEON_FRAME, EF << 2 | ecn), ecn);
		/* The source of the datagram decides about ECN, not the relay. */
		fx_publish(&fx, without_ecn);
		assert_int_equal(relayed(LEON_FRAME, EF << 2 | ecn), EF << 2 | ecn);
		assert_int_equal(relayed(LEON_CONTROL, CS6 << 2 | ecn), CS6 << 2 | ecn);
		fx_publish(&fx, set_ef);
		assert_int_equal(relayed(LEON_FRAME, 40 | ecn), EF << 2 | ecn);
		assert_int_equal(relayed(LEON_CONTROL, 40 | ecn), ecn);
		fx_publish(&fx, with_control);
		assert_int_equal(relayed(LEON_CONTROL, 40 | ecn), CS6 << 2 | ecn);
	}
	assert_int_equal(fx_count(&fx, CNT_relayed_marked), 6);
	assert_int_equal(fx_all_drops(&fx), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, with_classes, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(classes_go_out),
		T(all_pieces_have_it),
		T(socket_has_its_own),
		T(company_is_of_one_class),
		T(the_whole_table),
		T(in_company),
		T(one_marked_piece_marks_the_frame),
		T(relays_lose_no_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
