// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet path of one node without threads, for tests and fuzzers. The TAP of the worker is a
 * socket pair and its UDP socket is on loopback. The snapshot has four nodes with a receiving
 * socket each.
 *
 *   slot 0  self 10.0.0.1
 *   slot 1  10.0.0.2, direct
 *   slot 2  10.0.0.3, through 10.0.0.2
 *   slot 3  10.0.0.4, a member without a link and without a path
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fwd/fwd.h"
#include "fwd/in/receive.h"
#include "fwd/out/from_tap.h"
#include "fwd/worker.h"
#include "io/tap.h"
#include "wire/bytes.h"

#define FX_VNI	 0x123456u
#define FX_SELF	 0x0a000001u
#define FX_NODES 4
#define FX_MTU	 1400

struct fixture {
	struct fwd *f;
	struct worker *w;
	struct fdb *fdb;
	struct neigh *neigh;
	struct snap *snap;	      /* the published snapshot, for tests that change a setting */
	int tap;		      /* the far end of the TAP, on the side of the hosts */
	int near_tap, udp;	      /* the worker's descriptors */
	int node_fd[FX_NODES];	      /* sockets of the other nodes; [0] is unused */
	struct endpoint ep[FX_NODES]; /* [0] is the address of the worker */
};

static inline node_id_t fx_id(unsigned slot)
{
	return FX_SELF + slot;
}

static inline int fx_socket(struct endpoint *ep)
{
	struct sockaddr_storage ss = { 0 };
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;
	socklen_t len = sizeof(*sin);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&ss, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&ss, &len) < 0 ||
	    endpoint_from_sockaddr(&ss, ep) < 0)
		return -1;
	return fd;
}

/* Publishes a new snapshot like the previous one, after change(s). */
static inline void fx_publish(struct fixture *x, void (*change)(struct snap *s))
{
	static const uint16_t direct[] = { 1 }, relayed[] = { 1, 2 };
	struct snap *s = snap_new(FX_NODES);

	s->self = FX_SELF;
	s->vni = FX_VNI;
	s->fdb = x->fdb;
	s->neigh = x->neigh;
	for (unsigned i = 0; i < FX_NODES; i++) {
		s->node[i].id = fx_id(i);
		s->node[i].ep = x->ep[i];
		s->node[i].link_up = i == 1 || i == 2;
		s->node[i].link_mtu = FX_MTU;
	}
	snap_set_path(s, 1, direct, 1, FX_MTU);
	snap_set_path(s, 2, relayed, 2, FX_MTU);
	if (change)
		change(s);
	snap_finish(s);
	x->snap = s;
	fwd_publish(x->f, s);
}

/* accel: the worker's end of the queue to leon-accel, owned by the caller. 0: no queue. */
static inline bool fx_open_with(struct fixture *x, bool gso, int accel)
{
	struct fwd_io io = { .tap = -1, .udp4 = -1, .udp6 = -1, .accel = accel };
	struct fwd_setup setup = {
		.n_workers = 1, .io = &io, .udp_gso = gso, .slots_maximum = FX_NODES
	};
	int pair[2];

	*x = (struct fixture){ .tap = -1 };
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	x->tap = pair[0];
	x->near_tap = io.tap = pair[1];
	x->udp = io.udp4 = fx_socket(&x->ep[0]);
	for (unsigned i = 1; i < FX_NODES; i++)
		x->node_fd[i] = fx_socket(&x->ep[i]);
	x->f = fwd_new(&setup);
	x->w = &x->f->worker[0];
	/* With a random key, one run in 256 has a collision of two reports in lan_state.h, which
	 * repeats a report. */
	x->w->hash_key = (struct hash_key){ 1, 2 };
	x->fdb = fdb_new(1024);
	x->neigh = neigh_new(1024);
	fx_publish(x, NULL);
	return x->udp >= 0;
}

static inline bool fx_open(struct fixture *x, bool gso)
{
	return fx_open_with(x, gso, 0);
}

static inline void fx_close(struct fixture *x)
{
	fwd_free(x->f);
	fdb_free(x->fdb);
	neigh_free(x->neigh);
	close(x->tap);
	close(x->near_tap);
	close(x->udp);
	for (unsigned i = 1; i < FX_NODES; i++)
		close(x->node_fd[i]);
}

/* Passes one message from `from` to the receive step. segment 0: one datagram. */
static inline void fx_receive(struct fixture *x, const struct endpoint *from, void *data,
			      size_t len, size_t segment)
{
	struct sockaddr_storage ss = { 0 };
	struct udp_rx_msg m = {
		.data = data, .len = len, .segment = segment ? segment : len, .from = &ss
	};

	endpoint_to_sockaddr(from, &ss);
	worker_begin(x->w);
	from_net_message(x->w, &m);
	worker_end(x->w);
}

/* Writes `len` bytes (vnet header first) to the TAP and forwards them as one batch. */
static inline bool fx_host_sends(struct fixture *x, const void *data, size_t len)
{
	if (write(x->tap, data, len) != (ssize_t)len)
		return false;
	worker_begin(x->w);
	from_tap(x->w, x->near_tap);
	worker_end(x->w);
	return true;
}

/* A datagram to another node. */
struct datagram {
	uint8_t b[4096];
	size_t len, hdr_len;
	struct leon_hdr h;
};

/* Reads the next datagram to a node. Returns false without a datagram with a complete header. */
static inline bool fx_node_gets(const struct fixture *x, unsigned slot, struct datagram *d)
{
	ssize_t n = recv(x->node_fd[slot], d->b, sizeof(d->b), MSG_DONTWAIT);

	if (n < 0)
		return false;
	d->len = (size_t)n;
	return leon_decode(d->b, d->len, &d->h, &d->hdr_len) == LEON_OK;
}

static inline uint64_t fx_drops(const struct fixture *x, enum drop_reason r)
{
	return atomic_load(&x->w->stats.drop[r]);
}
static inline uint64_t fx_count(const struct fixture *x, enum counter c)
{
	return atomic_load(&x->w->stats.counter[c]);
}
static inline uint64_t fx_all_drops(const struct fixture *x)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < N_DROPS; i++)
		sum += fx_drops(x, (enum drop_reason)i);
	return sum;
}

/* Free buffers of the queue of the worker. */
static inline unsigned fx_free_places(const struct fixture *x)
{
	unsigned n = 0;

	for (const struct fq_item *i = x->w->queue.large.head; i; i = i->next)
		n++;
	for (const struct fq_item *i = x->w->queue.small.head; i; i = i->next)
		n++;
	return n;
}

/* Writes the header of a datagram from `source` along `hops` to hop `at`. Returns its length. */
static inline size_t fx_header(uint8_t *out, uint8_t kind, uint8_t flags, node_id_t source,
			       uint8_t at, uint8_t n_hops, const node_id_t *hop)
{
	struct leon_hdr h = { .kind = kind,
			      .flags = flags,
			      .n_hops = n_hops,
			      .at = at,
			      .vni = FX_VNI,
			      .source = source };

	memcpy(h.hop, hop, n_hops * sizeof(hop[0]));
	return leon_encode(&h, out);
}

/* Writes an Ethernet header with these last bytes of the MACs (02:00:00:00:00:xx). Returns its
 * length. */
static inline size_t fx_eth(uint8_t *out, uint8_t dst, uint8_t src, uint16_t ethertype)
{
	memset(out, 0, 12);
	out[0] = out[6] = 2;
	out[5] = dst;
	out[11] = src;
	put_u16(out + 12, ethertype);
	return ETH_HDR_LEN;
}
static inline struct mac fx_mac(uint8_t last)
{
	return (struct mac){ { 2, 0, 0, 0, 0, last } };
}
