// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inter-proxy connections, see peer.h. The backlog is bounded, so that messages do not queue behind
 * more data than the link sends in a short time.
 */
#include "peer.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "base/mem.h"
#include "conn.h"
#include "engine.h"
#include "pack.h"
#include "peer_state.h"
#include "report.h"
#include "streams.h"
#include "wire/bytes.h"
#include "wire/eth.h"
#include "worth.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

#define OUT_MAX (128u << 10) /* backlog at which streams are not served */
/* With a larger backlog in `out`, nothing is read from the node, because the node does not read,
 * either. The limit exceeds OUT_MAX and one message. Otherwise two nodes with bulk data would wait
 * for each other. */
#define OUT_STOP     (384u << 10)
#define CARRIERS_MAX 64 /* of 1 MiB of buffers each */
#define IN_CHUNK     (256u << 10)
#define RETRY_MS     1000
#define SILENT_MS    10000
#define QUIET_MS     2500 /* a live node or leond sends a message each second */
#define MTU_MIN	     1280 /* of IPv6 */
#define HEADERS	     72	  /* of IPv6 and TCP, with timestamps */
#define SEGMENT	     (MTU_MIN - HEADERS)

struct peer_entry {
	struct accel_peer peer;
	UT_hash_handle hh;
};

struct accel_peer *peer_find(struct engine *e, node_id_t id)
{
	struct peer_entry *entry;

	HASH_FIND(hh, e->peers, &id, sizeof(id), entry);
	return entry ? &entry->peer : NULL;
}

node_id_t peer_id(const struct accel_peer *p)
{
	return p->id;
}

bool peer_is_up(const struct accel_peer *p)
{
	return p->state == PEER_UP;
}

bool peer_is_known(const struct accel_peer *p, mono_t now)
{
	return mono_sub_ms(now, p->learned) <= SILENT_MS;
}

bool peer_is_left(const struct accel_peer *p, mono_t now)
{
	const struct engine *e = p->e;

	/* Not during or soon after a silence of leond. */
	return !peer_is_known(p, e->said) && mono_sub_ms(e->said, e->speaks) > SILENT_MS &&
	       mono_sub_ms(now, e->said) <= SILENT_MS;
}

bool peer_accelerates(const struct accel_peer *p)
{
	return p->room > 0;
}

bool peer_is_aside(const struct accel_peer *p)
{
	return p->aside;
}

bool peer_leads(const struct accel_peer *p)
{
	return p->e->self < p->id;
}

uint32_t peer_rtt_us(const struct accel_peer *p)
{
	return p->rtt_us;
}

int64_t peer_rtt_ms(const struct accel_peer *p)
{
	return p->rtt_us / 1000 + 1;
}

struct accel_node *peer_counted(struct accel_peer *p)
{
	p->changed = true;
	return &p->counted;
}

struct node_share *peer_share(struct accel_peer *p)
{
	return &p->share;
}

void peer_misuse(struct accel_peer *p, enum accel_misuse m)
{
	p->e->counters.misuse[m]++;
	peer_counted(p)->misuse[m]++;
}

uint32_t peer_new_stream(struct accel_peer *p)
{
	/* One connection makes an attempt, and the others wait for the answer. */
	if (p->refuses)
		p->not_before = mono_add_ms(loop_now(p->e->loop), PEER_REFUSED_MS);
	return (peer_leads(p) ? 0 : ACCEL_FOLLOWERS) + ++p->last_stream;
}

bool peer_answers(const struct accel_peer *p, mono_t now)
{
	return mono_sub_ms(now, p->ponged) <= QUIET_MS;
}

bool peer_refuses(const struct accel_peer *p, mono_t now)
{
	return mono_before(now, p->not_before);
}

unsigned peer_attempts(const struct accel_peer *p)
{
	unsigned streams = peer_streams(p);

	return streams - min_of(streams, p->counted.taken_now);
}

unsigned peers_attempts(const struct engine *e)
{
	unsigned n = 0;

	for (const struct peer_entry *i = e->peers; i; i = i->hh.next)
		n += peer_attempts(&i->peer);
	return n;
}

enum accel_why peer_refusal(const struct accel_peer *p)
{
	return p->refusal;
}

uint64_t peer_room(struct accel_peer *p, enum saving_direction d, mono_t now)
{
	uint64_t room = d == SAVING_OUT ? p->carrier.room : p->far_room;

	room = max_of(room, (uint64_t)carrier_first_segments(p->rtt_us, SEGMENT) * SEGMENT);
	return worth_share(room, meter_best(&p->used[d], p->rtt_us, now), peer_streams(p));
}

/* --- streams --- */

void peer_bind(struct accel_peer *p, uint32_t number, struct conn *c)
{
	streams_bind(p->streams, number, c);
}

void peer_unbind(struct accel_peer *p, uint32_t number)
{
	streams_unbind(p->streams, number);
}

unsigned peer_streams(const struct accel_peer *p)
{
	return streams_count(p->streams);
}

/* --- the socket --- */

static void peer_down(struct accel_peer *p, const char *why, mono_t now)
{
	char id[NODE_ID_STRLEN];

	if (p->state == PEER_DOWN)
		return;
	if (p->state == PEER_UP)
		log_notice("accel", "carrier is down: %s node=%s streams=%u", why,
			   node_id_format(p->id, id, sizeof(id)), peer_streams(p));
	p->state = PEER_DOWN;
	p->since = now;
	peer_counted(p)->reached = false;
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
	p->e->n_carriers--;
	streams_each(p->streams, conn_carrier_gone, now);
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
static bool has_room(void *arg)
{
	struct accel_peer *p = arg;

	if (p->state != PEER_UP)
		return false;
	if (p->out.len < OUT_MAX)
		return true;
	p->somebody_waits = true;
	watch(p, true);
	return false;
}

void peer_serve(struct accel_peer *p, uint32_t number)
{
	streams_add(p->streams, number);
	streams_serve(p->streams, has_room, p);
}

bool peer_serves_later(struct accel_peer *p, uint32_t number)
{
	return streams_wait(p->streams, number);
}

void peer_tell(struct accel_peer *p, const struct accel_frame *f)
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
	struct stream *s = streams_find(p->streams, stream);
	size_t n;

	if (!p->packer || (s && !pack_is_worth_it(&s->worth, p->window_log)))
		return 0;
	n = packer_run(p->packer, data, len, out, PACK_BOUND(len));
	/* A zstd stream is not used after a failure. */
	if (!n) {
		packer_free(p->packer);
		p->packer = NULL;
	} else if (s) {
		pack_learn(&s->worth, len, n);
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
	peer_use(p, SAVING_OUT, ACCEL_HDR_LEN + f.data.len);
	carrier_use(&p->carrier, p->fd, p->rtt_us, loop_now(p->e->loop));
	p->e->counters.bytes_out += len;
	p->e->counters.carrier_out += ACCEL_HDR_LEN + f.data.len;
	flush(p);
	return ACCEL_HDR_LEN + f.data.len;
}

void peer_lend(struct accel_peer *p, uint8_t type, uint32_t stream, const uint8_t *vnet,
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

/* --- received messages --- */

static void take_frames(struct accel_peer *p, mono_t now)
{
	struct accel_frame f;
	enum accel_parse parse = ACCEL_MORE;
	size_t used;

	while (p->state != PEER_DOWN) {
		parse = accel_decode(fifo_data(&p->in), p->in.len, &f, &used);
		if (parse != ACCEL_OK)
			break;
		if (!peer_take(p, &f, now)) {
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
	p->heard = now;
	fifo_added(&p->in, (size_t)n);
	take_frames(p, now);
}

/* Reports the size of the window for unpacking, which counts against the budget of this node. */
static void greet(struct accel_peer *p, mono_t now)
{
	struct accel_frame f = { .type = ACCEL_HELLO, .hello = { ACCEL_VERSION, p->e->self, 0 } };

	p->reserved = pack_reserve(&p->e->windows, p->e->settings.cache_log);
	if (p->reserved)
		p->unpacker = unpacker_new(p->reserved);
	f.hello.window_log = p->unpacker ? p->reserved : 0;
	p->state = PEER_GREETING;
	p->heard = now;
	peer_tell(p, &f);
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
		greet(p, now);
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		read_all(p, now);
	if (p->state == PEER_DOWN || !(events & EPOLLOUT))
		return;
	p->somebody_waits = false;
	carrier_tune(&p->carrier, fd, p->rtt_us, now);
	flush(p);
	streams_serve(p->streams, has_room, p);
}

/* The MTU and the initial window are attributes of a route to each node, because paths differ. A
 * path may carry 9,000 bytes, or contain a tunnel. Returns false if there is no route. */
static bool fit_route(struct accel_peer *p)
{
	const struct ip_addr to = accel_address(p->id);
	uint32_t mtu = max_of((uint32_t)p->room, (uint32_t)(ETH_HDR_LEN + MTU_MIN)) - ETH_HDR_LEN;
	uint32_t n = p->first_segments;
	int rc;

	if (p->state == PEER_DOWN)
		n = carrier_first_segments(p->rtt_us, mtu - HEADERS);
	if (mtu == p->mtu && n == p->first_segments)
		return true;
	rc = tun_fit_route(&p->e->carrier, p->e->nl, &to, mtu, n);
	if (rc < 0) {
		log_warn("accel", "no route for a carrier: %s", strerror(-rc));
		return p->mtu;
	}
	p->mtu = mtu;
	p->first_segments = n;
	return true;
}

static void begin(struct accel_peer *p, int fd, enum peer_state state, mono_t now)
{
	p->fd = fd;
	p->state = state;
	p->since = p->heard = p->not_before = now;
	p->watched = EPOLLIN | (state == PEER_CONNECTING ? EPOLLOUT : 0u);
	p->e->n_carriers++;
	p->last_stream = 0;
	p->far_room = 0;
	p->somebody_waits = p->refuses = false;
	carrier_prepare(&p->carrier, fd, SILENT_MS);
	loop_fd_add(p->e->loop, fd, p->watched, on_event, p);
}

/* The attempt is repeated each second. */
static void no_carrier(const struct accel_peer *p, int error, mono_t now)
{
	static struct log_limit limit = LOG_LIMIT_INIT(5, 1);
	char id[NODE_ID_STRLEN];

	log_limited(&limit, now, LOG_LVL_WARN, "accel",
		    "no inter-proxy connection can be opened: %s errno=%d node=%s", strerror(error),
		    error, node_id_format(p->id, id, sizeof(id)));
}

static void connect_out(struct accel_peer *p, mono_t now)
{
	struct endpoint to = { accel_address(p->id), ACCEL_PORT };
	struct endpoint from = { accel_address(p->e->self), 0 };
	struct sockaddr_storage ss;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = endpoint_to_sockaddr(&from, &ss);

	p->since = now;
	if (fd < 0) {
		no_carrier(p, errno, now);
		return;
	}
	if (fit_route(p) && bind(fd, (struct sockaddr *)&ss, len) == 0) {
		len = endpoint_to_sockaddr(&to, &ss);
		if (connect(fd, (struct sockaddr *)&ss, len) == 0 || errno == EINPROGRESS) {
			begin(p, fd, PEER_CONNECTING, now);
			return;
		}
	}
	no_carrier(p, errno, now);
	close(fd);
}

/* Reports whether an inter-proxy connection to the node is wanted, at that percentage of the
 * threshold. */
static bool is_wanted_at(const struct accel_peer *p, uint32_t percent, mono_t now)
{
	const struct accel_settings *s = &p->e->settings;

	if (s->mode == ACCEL_OFF || !p->rtt_us || p->room < ETH_HDR_LEN + MTU_MIN ||
	    !peer_is_known(p, now))
		return false;
	return s->mode == ACCEL_ALWAYS ||
	       (uint64_t)p->rtt_us * 100 >= (uint64_t)s->threshold_us * percent;
}

static bool is_wanted(const struct accel_peer *p, mono_t now)
{
	return is_wanted_at(p, 100, now) && p->e->n_carriers < CARRIERS_MAX;
}

/* The other node measures its own RTT, so a node slightly below the threshold is accepted. */
static bool is_welcome(struct accel_peer *p, mono_t now)
{
	if (is_wanted_at(p, ACCEL_KEEP_PERCENT, now) && p->e->n_carriers < CARRIERS_MAX)
		return true;
	peer_misuse(p, ACCEL_UNWANTED);
	return false;
}

void peer_accept(struct engine *e, int fd, mono_t now)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct accel_peer *p = NULL;
	struct endpoint from;

	if (getpeername(fd, (struct sockaddr *)&ss, &len) == 0 &&
	    endpoint_from_sockaddr(&ss, &from) == 0 && from.ip.family == 6)
		p = peer_find(e, get_u32(from.ip.b + 12));
	if (p && !peer_leads(p))
		peer_down(p, "replaced by a new one", now);
	if (!p || peer_leads(p) || !is_welcome(p, now) || !fit_route(p)) {
		close(fd);
		return;
	}
	begin(p, fd, PEER_GREETING, now);
	greet(p, now);
}

/* --- timers --- */

void peer_learn(struct engine *e, const struct accel_say_frame *f, mono_t now)
{
	struct accel_peer *p = peer_find(e, f->node.id);
	struct peer_entry *entry;

	if (f->node.id == e->self)
		return;
	if (!p) {
		entry = x_new(struct peer_entry);
		p = &entry->peer;
		p->e = e;
		p->id = f->node.id;
		p->fd = -1;
		p->counted.id = p->id;
		p->streams = streams_new();
		HASH_ADD(hh, e->peers, peer.id, sizeof(p->id), entry);
	}
	p->rtt_us = f->node.rtt_us;
	p->room = f->node.room;
	p->aside = f->node.aside;
	p->learned = now;
	/* The route is also set before a connection is made. The other node may connect first, and
	 * the answer to its SYN already uses the route. */
	if (p->state != PEER_DOWN || is_wanted(p, now))
		fit_route(p);
}

static void ping_it(struct accel_peer *p, mono_t now)
{
	struct accel_frame ping = { .type = ACCEL_PING };

	carrier_tune(&p->carrier, p->fd, p->rtt_us, now);
	ping.ping.value = p->carrier.room;
	peer_tell(p, &ping);
}

static void second(struct accel_peer *p, mono_t now)
{
	bool wanted = is_wanted(p, now);

	if (p->state == PEER_DOWN) {
		if (wanted && peer_leads(p) && !p->e->stopping &&
		    mono_sub_ms(now, p->since) >= RETRY_MS)
			connect_out(p, now);
		return;
	}
	if (mono_sub_ms(now, p->heard) > SILENT_MS)
		peer_down(p, "silent", now);
	else if (!buffers_fit(&p->carrier.buffers, p->fd, p->e->n_carriers, now))
		peer_down(p, "kernel buffers exceed the share", now);
	else if (p->state == PEER_UP && !p->e->stopping)
		ping_it(p, now);
}

void peers_second(struct engine *e, mono_t now)
{
	struct peer_entry *i, *next;

	HASH_ITER(hh, e->peers, i, next)
		second(&i->peer, now);
}

void peers_report(struct engine *e, bool all)
{
	for (struct peer_entry *i = e->peers; i; i = i->hh.next) {
		struct accel_peer *p = &i->peer;
		const struct accel_node *n = &p->counted;

		p->changed |= all && (n->reached || n->taken || n->refused);
		if (p->changed && report_node(e, n))
			p->changed = false;
	}
}

static bool is_unsent(const struct accel_peer *p)
{
	int n = 0;

	return p->state == PEER_UP && (p->out.len || (ioctl(p->fd, SIOCOUTQ, &n) == 0 && n > 0));
}

bool peers_unsent(const struct engine *e)
{
	for (const struct peer_entry *i = e->peers; i; i = i->hh.next)
		if (is_unsent(&i->peer))
			return true;
	return false;
}

void peers_write(const struct engine *e, struct jsonw *w)
{
	static const char *const name[] = { "down", "connecting", "connecting", "up" };
	char id[NODE_ID_STRLEN];

	for (const struct peer_entry *i = e->peers; i; i = i->hh.next) {
		const struct accel_peer *p = &i->peer;

		jsonw_object(w, NULL);
		jsonw_str(w, "node", node_id_format(p->id, id, sizeof(id)));
		jsonw_str(w, "carrier", name[p->state]);
		jsonw_u64(w, "latency_us", p->rtt_us);
		jsonw_u64(w, "streams", peer_streams(p));
		jsonw_end(w);
	}
}

void peers_free(struct engine *e)
{
	struct peer_entry *i, *next;

	HASH_ITER(hh, e->peers, i, next) {
		peer_down(&i->peer, "stopping", loop_now(e->loop));
		HASH_DEL(e->peers, i);
		streams_free(i->peer.streams);
		free(i);
	}
}
