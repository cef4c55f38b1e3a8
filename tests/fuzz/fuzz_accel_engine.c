// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine of leon-accel (peer.c, conn.c, conns.c, flow.c, migrated.c) with a hostile member and
 * hostile hosts, see accel_lab.h. The input is {flags (8)} and steps {action (8), length (8),
 * bytes}. flags & 1: this node leads. & 2: the peer packs. & 4: the peer sends no HELLO by itself.
 * At the end no frame is held and no descriptor is open. The limits of the engine hold at each
 * step.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "accel_lab.h"
#include "conn/conn.h"
#include "wire/bytes.h"
#include "wire/frame/eth.h"
#include "wire/frame/tcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define STEPS_MAX 256 /* more steps add nothing new and take seconds */
#define CACHE_LOG 20
#define TAKEN	  4u /* intercepted connections at one time */

struct step {
	const uint8_t *at;
	size_t len;
};

static uint8_t next8(struct step *s)
{
	if (!s->len)
		return 0;
	s->len--;
	return *s->at++;
}

static uint32_t next16(struct step *s)
{
	uint32_t high = next8(s);

	return high << 8 | next8(s);
}

/* Frames of the connection. Sequence numbers of the near host begin at 5000, of the far host at
 * 1000. bytes: {from the LAN (1), flags}, sequence, acknowledgement, window, length of the
 * payload. */
static void segment(struct accel_lab *l, struct step *s)
{
	static uint8_t message[ACCEL_QUEUE_MAX];
	uint8_t how = next8(s);
	bool near = how & 1;
	struct tcp_segment t = {
		.dst_mac = { { 2, 0, 0, 0, 0, near ? 1 : 2 } },
		.src_mac = { { 2, 0, 0, 0, 0, near ? 2 : 1 } },
		.vlan = ACCEL_LAB_VLAN,
		.src = { 4, { 10, 0, 0, near ? 2 : 1 } },
		.dst = { 4, { 10, 0, 0, near ? 1 : 2 } },
		.src_port = near ? 2 : 1,
		.dst_port = near ? 1 : 2,
		.seq = (near ? 5000u : 1000u) + next16(s),
		.ack = (near ? 1000u : 5000u) + next16(s),
		.window = (uint16_t)(next8(s) << 8 | 255),
		.flags = next8(s),
		.has_ts = how & 2,
		.ts_val = (uint32_t)(loop_now(l->loop).ns / NS_PER_MS),
	};
	uint8_t *frame = message + ACCEL_QUEUE_HDR + ACCEL_VNET_LEN;
	size_t payload = (size_t)next8(s) * 6, ip, len;
	node_id_t node = how & 4 ? ACCEL_LAB_SELF : how & 8 ? 77 : l->peer;

	memset(message, 0, sizeof(message));
	len = tcp_make(&t, frame) + payload;
	ip = ETH_HDR_LEN + 4;
	put_u16(frame + ip + 2, (uint16_t)(len - ip));
	accel_queue_put(message, near ? ACCEL_LAN : ACCEL_NODE, node);
	send(l->queue, message, ACCEL_QUEUE_HDR + ACCEL_VNET_LEN + len, MSG_DONTWAIT);
}

static void to_peer(struct accel_lab *l, const void *data, size_t len)
{
	if (l->interproxy >= 0)
		send(l->interproxy, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* One frame on the inter-proxy connection: type, stream (a small number of the leader or, with 128,
 * of the follower), body. OFFER refers to the connection of segment(). */
static void message(struct accel_lab *l, struct step *s)
{
	struct accel_frame f = { .type = next8(s) };
	uint8_t stream = next8(s), out[ACCEL_SMALL_MAX + 256];
	size_t n = ACCEL_HDR_LEN;

	f.stream = (stream & 127) + (stream & 128 ? ACCEL_FOLLOWERS : 0);
	if (f.type == ACCEL_OFFER) {
		f.offer.key = accel_lab_key();
		f.offer.key.near = accel_lab_key().far;
		f.offer.key.far = accel_lab_key().near;
		f.offer.key.near_port = 1;
		f.offer.key.far_port = 2;
		f.offer.view.near.seq = f.offer.view.far.ack = 1000 + next16(s);
		f.offer.view.far.seq = f.offer.view.near.ack = 5000 + next16(s);
		f.offer.view.near.syn = f.offer.view.far.syn =
			(struct accel_options){ 7, true, true, 1460 };
		to_peer(l, out, accel_encode(&f, out));
		return;
	}
	out[0] = f.type;
	put_u32(out + 1, f.stream);
	out[5] = out[6] = 0;
	out[7] = (uint8_t)s->len;
	memcpy(out + n, s->at, s->len);
	to_peer(l, out, n + s->len);
}

static void hello(struct accel_lab *l, uint8_t window_log)
{
	struct accel_frame f = { .type = ACCEL_HELLO,
				 .hello = { ACCEL_VERSION, l->peer, window_log } };
	uint8_t out[ACCEL_SMALL_MAX];

	to_peer(l, out, accel_encode(&f, out));
}

/* Sends bytes from the near host to its proxy socket, or ends that direction, or reads. */
static void host(struct accel_lab *l, struct step *s)
{
	static uint8_t buf[65536];
	uint8_t what = next8(s);
	int fd = l->host[what % ACCEL_LAB_PROXY];

	if (fd < 0)
		return;
	if (what & 0x80)
		shutdown(fd, what & 0x40 ? SHUT_WR : SHUT_RDWR);
	else if (what & 0x40)
		while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
	else
		send(fd, buf, (size_t)next8(s) * 256, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static struct accel_settings settings(uint8_t how, bool packs)
{
	return (struct accel_settings){ .mode = how % ACCEL_MODES,
					.threshold_us = 50000,
					.segments = 1,
					.maximum = TAKEN,
					.cache_log = packs ? CACHE_LOG : 0 };
}

static void leond(struct accel_lab *l, struct step *s)
{
	uint8_t what = next8(s);
	struct accel_settings set = settings(what >> 2, false);
	struct mac mac = { { 2, 0, 0, 0, 0, what & 4 ? 1 : 2 } };

	engine_leond_seen(&l->e);
	if ((what & 3) == 0)
		engine_set(&l->e, &set);
	else if ((what & 3) == 1)
		conns_moved(&l->e, ACCEL_LAB_VLAN, mac, next8(s), loop_now(l->loop));
	else if ((what & 3) == 2)
		accel_lab_node(l, next16(s) * 100, (uint16_t)next16(s), what & 4);
	else
		conns_release_all(&l->e, loop_now(l->loop));
}

static void close_interproxy(struct accel_lab *l)
{
	if (l->interproxy >= 0)
		close(l->interproxy);
	l->interproxy = -1;
}

static void take_step(struct accel_lab *l, uint8_t what, struct step *s)
{
	switch (what % 10) {
	case 0:
	case 1:
		segment(l, s);
		break;
	case 2:
		message(l, s);
		break;
	case 3:
		to_peer(l, s->at, s->len);
		break;
	case 4:
		send(l->queue, s->at, s->len, MSG_DONTWAIT);
		break;
	case 5:
		accel_lab_run(l, (int64_t)next16(s));
		break;
	case 6:
		host(l, s);
		break;
	case 7:
		leond(l, s);
		break;
	case 8:
		l->unacknowledged = next8(s);
		accel_lab_drain(l);
		break;
	default:
		close_interproxy(l);
		accel_lab_run(l, 1000);
		accel_lab_connect(l);
		hello(l, 0);
		break;
	}
}

static void check(const struct accel_lab *l)
{
	if (l->e.held < 0 || l->e.held > HELD_MAX || l->e.n_intercepted > TAKEN ||
	    l->e.n_conns > CONNS_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct accel_lab l;
	struct accel_settings set;
	uint8_t flags;

	if (len < 1)
		return 0;
	flags = data[0];
	set = settings(ACCEL_ALWAYS, flags & 2);
	accel_lab_begin(&l, flags & 1 ? ACCEL_LAB_SELF + 1 : ACCEL_LAB_SELF - 1, &set);
	if (!(flags & 4))
		hello(&l, flags & 2 ? CACHE_LOG : 0);
	data++;
	len--;
	for (unsigned i = 0; i < STEPS_MAX && len >= 2; i++) {
		uint8_t what = data[0];
		struct step s = { data + 2, data[1] < len - 2 ? data[1] : len - 2 };

		data += 2 + s.len;
		len -= 2 + s.len;
		take_step(&l, what, &s);
		accel_lab_run(&l, 1);
		check(&l);
	}
	accel_lab_end(&l);
	return 0;
}
