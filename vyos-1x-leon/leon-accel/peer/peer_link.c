// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The inter-proxy connection to another node, see peer.h. The backlog is bounded, so that messages
 * do not queue behind more data than the link sends in a short time.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "peer/interproxy.h"
#include "engine.h"
#include "io/tcp_socket.h"
#include "peer/pack.h"
#include "peer/peer.h"
#include "peer/streams.h"
#include "wire/frame/eth.h"

#define OUT_MAX (32u << 10) /* backlog at which streams are not served */
/* With a larger backlog in `out`, nothing is read from the node, because the node does not read,
 * either. The limit exceeds OUT_MAX and one message. Otherwise two nodes with bulk data would wait
 * for each other. */
#define OUT_STOP (384u << 10)
#define IN_CHUNK (256u << 10)

void peer_down(struct accel_peer *p, const char *reason, mono_t now)
{
	if (p->state == PEER_DOWN)
		return;
	if (p->state == PEER_UP)
		log_notice("accel", "inter-proxy connection is down: %s node=%s streams=%u", reason,
			   NODE_ID_TEXT(p->id), streams_count(&p->streams));
	p->state = PEER_DOWN;
	p->since = now;
	/* An old value counts less. */
	p->remembered = p->interproxy.known ? p->interproxy.known : p->remembered / 2;
	p->counted.reached = false;
	loop_fd_del(p->e->loop, p->fd);
	close(p->fd);
	p->fd = -1;
	fifo_free(&p->out);
	fifo_free(&p->in);
	packer_free(p->packer);
	unpacker_free(p->unpacker);
	p->packer = NULL;
	p->unpacker = NULL;
	pack_release(&p->e->windows, p->reserved);
	p->reserved = 0;
	p->e->n_interproxies--;
	streams_each(&p->streams, p->e->peer_ops->gone, now);
}

static void watch(struct accel_peer *p, bool out)
{
	uint32_t events = (p->out.len <= OUT_STOP ? EPOLLIN : 0u) | (out ? EPOLLOUT : 0u);

	if (p->watched == events)
		return;
	p->watched = events;
	loop_fd_mod(p->e->loop, p->fd, events);
}

static void flush(struct accel_peer *p)
{
	while (p->out.len) {
		ssize_t n = send(p->fd, fifo_data(&p->out), p->out.len, MSG_NOSIGNAL);

		if (n < 0)
			break; /* the next read reports the error */
		fifo_drop(&p->out, (size_t)n);
	}
	watch(p, p->out.len > 0 || p->somebody_waits);
}

/* Without free space, the streams are served later. */
static bool has_room(struct accel_peer *p)
{
	if (p->state != PEER_UP)
		return false;
	if (p->out.len < OUT_MAX)
		return true;
	p->somebody_waits = true;
	watch(p, true);
	return false;
}

/* Serves the streams while there is free space. The next call continues with the next stream. */
static void serve(struct accel_peer *p)
{
	const struct peer_ops *ops = p->e->peer_ops;
	struct drr *turns = &p->streams.drr;
	struct drr_entry *t;

	while ((t = drr_next(turns)) && has_room(p)) {
		struct stream *s = container_of(t, struct stream, turn);
		uint32_t number = s->number;
		size_t sent = ops->send(s->conn, (size_t)t->deficit);

		/* A failed proxy socket has ended the stream. */
		s = streams_find(&p->streams, number);
		if (!s)
			continue;
		drr_sent(turns, &s->turn, sent);
		if (!s->turn.is_listed)
			ops->turn_over(s->conn);
	}
}

void peer_serve(struct accel_peer *p, uint32_t number)
{
	struct stream *s = streams_find(&p->streams, number);

	if (s)
		drr_add(&p->streams.drr, &s->turn);
	serve(p);
}

void peer_notify(struct accel_peer *p, const struct accel_frame *f)
{
	uint8_t buf[ACCEL_SMALL_MAX];

	if (p->state != PEER_UP && f->type != ACCEL_HELLO)
		return;
	fifo_put(&p->out, buf, accel_encode(f, buf));
	flush(p);
}

/* Returns the length. 0: the data is sent uncompressed. */
static size_t pack(struct accel_peer *p, uint32_t stream, const void *data, size_t len,
		   uint8_t *out)
{
	struct stream *s = streams_find(&p->streams, stream);
	size_t n;

	if (!p->packer || (s && !pack_has_benefit(&s->benefit, p->window_log)))
		return 0;
	n = packer_run(p->packer, data, len, out, PACK_BOUND(len));
	/* A zstd stream is not used after a failure. */
	if (!n) {
		packer_free(p->packer);
		p->packer = NULL;
	} else if (s) {
		pack_learn(&s->benefit, len, n);
	}
	return n;
}

size_t peer_send(struct accel_peer *p, uint32_t stream, const void *data, size_t len)
{
	struct accel_frame f = { .type = ACCEL_DATA, .stream = stream, .data = { data, len } };
	uint8_t *out = fifo_reserve(&p->out, ACCEL_HDR_LEN + PACK_BOUND(len));
	uint8_t header[ACCEL_SMALL_MAX];
	size_t n = pack(p, stream, data, len, out + ACCEL_HDR_LEN);

	if (n) {
		f.type = ACCEL_PACKED;
		f.data.len = n;
	} else {
		memcpy(out + ACCEL_HDR_LEN, data, len);
	}
	memcpy(out, header, accel_encode(&f, header));
	fifo_added(&p->out, ACCEL_HDR_LEN + f.data.len);
	peer_use(p, SAVED_OUT, ACCEL_HDR_LEN + f.data.len);
	interproxy_use(&p->interproxy, p->fd, p->rtt_us, loop_now(p->e->loop));
	p->e->counters.bytes.out += len;
	p->e->counters.bytes.carried_out += ACCEL_HDR_LEN + f.data.len;
	flush(p);
	return ACCEL_HDR_LEN + f.data.len;
}

void peer_forward(struct accel_peer *p, uint8_t type, uint32_t stream, const uint8_t *vnet,
		  const uint8_t *frame, size_t len)
{
	struct accel_frame f = { .type = type,
				 .stream = stream,
				 .data = { NULL, ACCEL_VNET_LEN + len } };
	uint8_t header[ACCEL_SMALL_MAX];

	if (p->state != PEER_UP || !stream || p->out.len > OUT_MAX || f.data.len > ACCEL_BODY_MAX)
		return;
	fifo_put(&p->out, header, accel_encode(&f, header));
	fifo_put(&p->out, vnet, ACCEL_VNET_LEN);
	fifo_put(&p->out, frame, len);
	flush(p);
}

static void take_frames(struct accel_peer *p, mono_t now)
{
	struct accel_frame f;
	enum accel_parse parse = ACCEL_MORE;
	size_t used;

	while (p->state != PEER_DOWN) {
		parse = accel_decode(fifo_data(&p->in), p->in.len, &f, &used);
		if (parse != ACCEL_OK)
			break;
		if (!p->e->peer_ops->take(p, &f, now)) {
			parse = ACCEL_BAD;
			break;
		}
		fifo_drop(&p->in, used);
	}
	if (parse != ACCEL_BAD)
		return;
	peer_misuse(p, ACCEL_BAD_MESSAGE);
	peer_down(p, "a message is invalid, or exceeds the credit", now);
}

static void read_all(struct accel_peer *p, mono_t now)
{
	ssize_t n = recv(p->fd, fifo_reserve(&p->in, IN_CHUNK), IN_CHUNK, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		peer_down(p, n ? strerror(errno) : "closed by the other node", now);
		return;
	}
	p->silent = 0;
	fifo_added(&p->in, (size_t)n);
	take_frames(p, now);
}

/* Reports the size of the window for unpacking, which counts against the budget of this node. */
void peer_greet(struct accel_peer *p)
{
	struct accel_frame f = { .type = ACCEL_HELLO, .hello = { ACCEL_VERSION, p->e->self, 0 } };

	p->reserved = pack_reserve(&p->e->windows, p->e->settings.cache_log);
	if (p->reserved)
		p->unpacker = unpacker_new(p->reserved);
	f.hello.window_log = p->unpacker ? p->reserved : 0;
	p->state = PEER_GREETING;
	p->silent = 0;
	peer_notify(p, &f);
}

static void on_event(void *arg, int fd, uint32_t events)
{
	struct accel_peer *p = arg;
	mono_t now = loop_now(p->e->loop);

	if (p->state == PEER_CONNECTING && events & (EPOLLERR | EPOLLHUP)) {
		peer_down(p, "no connection", now);
		return;
	}
	if (p->state == PEER_CONNECTING && events & EPOLLOUT) {
		watch(p, false);
		peer_greet(p);
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		read_all(p, now);
	if (p->state == PEER_DOWN || !(events & EPOLLOUT))
		return;
	p->somebody_waits = false;
	interproxy_tune(&p->interproxy, fd, p->rtt_us, now);
	flush(p);
	serve(p);
}

/* The MTU and the initial window are attributes of a route to each node, because paths differ. A
 * path may carry 9,000 bytes, or contain a tunnel. Returns false if there is no route. */
bool peer_fit_route(struct accel_peer *p)
{
	const struct ip_addr to = accel_address(p->id);
	uint32_t mtu =
		max_of((uint32_t)p->room, (uint32_t)(ETH_HDR_LEN + PEER_MTU_MIN)) - ETH_HDR_LEN;
	uint32_t n = p->first_segments;
	int rc;

	if (p->state == PEER_DOWN)
		n = interproxy_first_segments(p->rtt_us, mtu - PEER_HEADERS);
	if (mtu == p->mtu && n == p->first_segments)
		return true;
	rc = tun_fit_route(&p->e->interproxy, p->e->nl, &to, mtu, n);
	if (rc < 0) {
		log_warn("accel", "no route for an inter-proxy connection: %s", strerror(-rc));
		return p->mtu;
	}
	p->mtu = mtu;
	p->first_segments = n;
	return true;
}

void peer_begin(struct accel_peer *p, int fd, enum peer_state state, mono_t now)
{
	p->fd = fd;
	p->state = state;
	p->since = p->not_before = p->needed = now;
	p->silent = 0;
	p->watched = EPOLLIN | (state == PEER_CONNECTING ? EPOLLOUT : 0u);
	p->e->n_interproxies++;
	p->last_stream = 0;
	p->far_room = 0;
	p->somebody_waits = p->refuses = false;
	interproxy_prepare(&p->interproxy, fd, interproxy_start_rate(p->train.rate, p->remembered));
	loop_fd_add(p->e->loop, fd, p->watched, on_event, p);
}

/* The attempt is repeated each second. */
static void no_interproxy(const struct accel_peer *p, int error, mono_t now)
{
	static struct log_limit limit = LOG_LIMIT_INIT(5, 1);

	log_limited(&limit, now, LOG_LVL_WARN, "accel",
		    "no inter-proxy connection can be opened: %s errno=%d node=%s", strerror(error),
		    error, NODE_ID_TEXT(p->id));
}

void peer_connect(struct accel_peer *p, mono_t now)
{
	struct endpoint to = { .ip = accel_address(p->id), .port = ACCEL_PORT };
	struct tcp_config own = { .source6 = accel_address(p->e->self) };
	int fd = peer_fit_route(p) ? tcp_connect(&own, &to) : -ENETUNREACH;

	p->since = now;
	if (fd >= 0)
		peer_begin(p, fd, PEER_CONNECTING, now);
	else
		no_interproxy(p, -fd, now);
}

void peer_ping(struct accel_peer *p, mono_t now)
{
	struct accel_frame ping = { .type = ACCEL_PING };

	interproxy_tune(&p->interproxy, p->fd, p->rtt_us, now);
	ping.ping.value = p->interproxy.room;
	peer_notify(p, &ping);
}

bool peer_is_unsent(const struct accel_peer *p)
{
	int n = 0;

	return p->state == PEER_UP && (p->out.len || (ioctl(p->fd, SIOCOUTQ, &n) == 0 && n > 0));
}
