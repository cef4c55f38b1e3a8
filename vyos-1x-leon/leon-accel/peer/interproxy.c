// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sockets of inter-proxy connections, see interproxy.h.
 */
#include "peer/interproxy.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/defs.h"
#include "base/log.h"
#include "io/tcp_socket.h"

/* --- kernel buffers --- */

uint32_t buffers_of_one(unsigned n)
{
	return min_of(BUFFERS_MAX, BUFFERS_ALL / 2 / max_of(n, 1u));
}

static void set_buffers(int fd, uint32_t each)
{
	int half = (int)(each / 2);

	/* The kernel doubles the first two, for overhead. The window does not follow a larger
	 * buffer automatically. */
	socket_set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, half);
	socket_set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, half);
	socket_set_int(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, half);
}

static bool is_within(int fd, uint32_t each)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0)
		return true;
	return info[SK_MEMINFO_RMEM_ALLOC] <= each && info[SK_MEMINFO_WMEM_QUEUED] <= each;
}

bool buffers_fit(struct buffers *b, int fd, unsigned n, mono_t now)
{
	uint32_t each = buffers_of_one(n);

	/* The kernel itself exceeds a limit by a segment or two. */
	if (!b->each || is_within(fd, each + each / 8))
		b->fitted = now;
	if (each != b->each)
		set_buffers(fd, each);
	b->each = each;
	return mono_sub_ms(now, b->fitted) <= BUFFERS_MS;
}

#define FIRST_SEGMENTS	   10
#define FIRST_SEGMENTS_MAX 1600
#define FIRST_MSS	   1200
#define START_RATE	   (2 * LEAST_RATE)
#define START_RATE_MAX	   (8 * LEAST_RATE)
#define UNSENT_MIN	   (32u << 10)
#define UNSENT_MAX	   (4u << 20)
#define UNSENT_MS	   20
#define BBR_UNIT	   256
#define START_GAIN	   3 /* above the pacing gain of BBR in its start phase, 2.89 */
#define BBR_STARTING	   (2 * BBR_UNIT) /* pacing gain is higher in the start phase */
#define LOOK_MIN_US	   5000
#define LOOKS_A_ROUND	   16
#define QUEUE_MIN_US	   10000
/* Bytes per second: ten segments of 1200 bytes (RFC 6928) per round trip of 50 ms, the default
 * threshold. The rate is the least pacing limit, and the assumed rate of an unmeasured connection.
 * It does not follow from the initial window, which may exceed the rate of the link. */
#define LEAST_RATE   240000ull
#define SENT_MIN     (64u << 10) /* fewer bytes give no estimate of loss */
#define NO_LIMIT     UINT64_MAX
#define TRY_ROUNDS   8 /* round trips between two bandwidth probes of BBR */
#define TRY_MIN_US   ((int64_t)400000)
#define TRIES	     2
#define WHOLE	     1024ull
#define PAUSE_ROUNDS 2
#define PAUSE_MIN_US ((int64_t)500000)
#define PATH_MIN_US  20000	 /* a restart has no benefit on a shorter path */
#define FULL_ROUNDS  3		 /* with a backlog, until BBR has measured the link */
#define TRY_PART     (WHOLE / 4) /* share of the rate that BBR adds in a probe */
#define MORE_PART    (WHOLE / 32)
#define TRY_QUEUE_US 50000 /* queueing delay that a probe may add */

uint32_t interproxy_first_segments(uint32_t rtt_us, uint32_t mss)
{
	uint64_t n = START_RATE_MAX * rtt_us / 1000000 / mss;

	return (uint32_t)max_of(min_of(n, (uint64_t)FIRST_SEGMENTS_MAX), (uint64_t)FIRST_SEGMENTS);
}

uint64_t interproxy_start_rate(uint64_t train, uint64_t remembered)
{
	uint64_t rate = train && remembered ? min_of(train, remembered) : max_of(train, remembered);

	if (!rate)
		return START_RATE;
	return max_of(min_of(rate / 2, (uint64_t)START_RATE_MAX), LEAST_RATE);
}

uint32_t interproxy_unsent(uint64_t pacing)
{
	/* No limit: the rate of the link is unknown. */
	uint64_t n = pacing < UINT32_MAX ? pacing * UNSENT_MS / 1000 : 0;

	return (uint32_t)max_of(min_of(n, (uint64_t)UNSENT_MAX), (uint64_t)UNSENT_MIN);
}

/* Reports an RTT above the minimum by `queue_us`, or by QUEUE_MIN_US if that is more. */
static bool is_longer(const struct interproxy_sample *s, uint32_t queue_us)
{
	return s->min_us && s->rtt_us > s->min_us + max_of(queue_us, (uint32_t)QUEUE_MIN_US);
}

static bool is_queued(const struct interproxy_sample *s)
{
	return is_longer(s, s->min_us / 8);
}

static bool is_flooded(const struct interproxy *c, const struct interproxy_sample *s)
{
	uint64_t sent = s->sent - c->sent, resent = s->resent - c->resent;

	return sent >= SENT_MIN && resent * 5 >= sent;
}

/* Additional rate of a probe. */
static uint64_t try_part(const struct interproxy *c, const struct interproxy_sample *s)
{
	uint64_t queue = (uint64_t)TRY_QUEUE_US * WHOLE / max_of(s->min_us, 1u);

	return c->is_known ? min_of(queue, (uint64_t)TRY_PART) : TRY_PART;
}

static uint64_t limit_of_tries(const struct interproxy *c, const struct interproxy_sample *s)
{
	uint64_t part = try_part(c, s);

	return part < TRY_PART ? max_of(s->rate + s->rate * part / WHOLE, LEAST_RATE) : 0;
}

uint64_t interproxy_limit(const struct interproxy *c, const struct interproxy_sample *s)
{
	uint64_t limit, rate = s->rate ? s->rate : s->delivery;

	if (s->rate && !s->starting)
		return limit_of_tries(c, s);
	if (is_flooded(c, s))
		limit = rate - rate / 8;
	else if (c->is_known)
		limit = is_queued(s) ? rate
				     : rate + rate * min_of(try_part(c, s), WHOLE / 8) / WHOLE;
	else if (is_queued(s))
		limit = rate + rate / 2;
	else
		limit = max_of(START_GAIN * rate, c->start);
	return max_of(limit, LEAST_RATE);
}

bool interproxy_knows_rate(const struct interproxy *c, const struct interproxy_sample *s)
{
	return c->is_known || (s->starting && s->rate > LEAST_RATE && is_flooded(c, s));
}

static void restart_comparison(struct interproxy *c, uint64_t rate, unsigned grew, mono_t now)
{
	c->turned = now;
	c->past_rate = rate;
	c->grew = grew;
}

/* Half of the queueing delay of one probe, because the queue may have drained partly. */
static bool is_full_of_tries(const struct interproxy_sample *s)
{
	return is_longer(s, min_of(s->min_us / 8, (uint32_t)TRY_QUEUE_US / 2));
}

bool interproxy_restarts(struct interproxy *c, const struct interproxy_sample *s, mono_t now)
{
	/* Half of the probed rate, and more than the usual variation of a rate. */
	uint64_t part = max_of(try_part(c, s) / 2, (uint64_t)MORE_PART);
	bool more = s->rate >= c->past_rate + c->past_rate * part / WHOLE;

	if (s->starting || !s->rate || !c->turned.ns) {
		restart_comparison(c, s->rate, 0, s->starting || !s->rate ? (mono_t){ 0 } : now);
		return false;
	}
	if (mono_sub_us(now, c->turned) < max_of((int64_t)TRY_ROUNDS * s->min_us, TRY_MIN_US))
		return false;
	restart_comparison(c, s->rate, more && !is_full_of_tries(s) ? c->grew + 1 : 0, now);
	if (c->grew < TRIES)
		return false;
	c->grew = 0;
	return true;
}

uint64_t interproxy_least_room(uint32_t rtt_us)
{
	return max_of(LEAST_RATE * rtt_us / 1000000, (uint64_t)FIRST_SEGMENTS * FIRST_MSS);
}

uint64_t interproxy_capacity(struct interproxy *c, const struct interproxy_sample *s)
{
	if (s->rate && (!s->starting || c->is_known))
		return s->rate * s->min_us / 1000000;
	c->proven = max_of(c->proven, 2 * s->delivery * s->min_us / 1000000);
	return min_of(c->proven, s->window);
}

static bool look(int fd, struct interproxy_sample *s)
{
	struct tcp_info t = { 0 };
	union tcp_cc_info cc = { 0 };
	socklen_t len = sizeof(t), cc_len = sizeof(cc);

	*s = (struct interproxy_sample){ 0 };
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len) < 0)
		return false;
	s->pacing = t.tcpi_pacing_rate;
	s->delivery = t.tcpi_delivery_rate;
	s->app_limited = !t.tcpi_notsent_bytes;
	s->recovering = t.tcpi_ca_state != TCP_CA_Open;
	s->least_us = t.tcpi_min_rtt;
	s->sent = t.tcpi_bytes_sent;
	s->resent = t.tcpi_bytes_retrans;
	s->rtt_us = t.tcpi_rtt;
	s->min_us = t.tcpi_min_rtt;
	s->window = (uint64_t)t.tcpi_snd_cwnd * t.tcpi_snd_mss;
	/* Other congestion controls report fewer or other values. */
	if (getsockopt(fd, IPPROTO_TCP, TCP_CC_INFO, &cc, &cc_len) == 0 &&
	    cc_len == sizeof(cc.bbr)) {
		s->starting = cc.bbr.bbr_pacing_gain > BBR_STARTING;
		s->probing = cc.bbr.bbr_cwnd_gain == BBR_UNIT;
		s->rate = (uint64_t)cc.bbr.bbr_bw_hi << 32 | cc.bbr.bbr_bw_lo;
		/* Minimum of the last ten seconds, not of five minutes, because paths change. */
		if (cc.bbr.bbr_min_rtt && cc.bbr.bbr_min_rtt != UINT32_MAX)
			s->min_us = cc.bbr.bbr_min_rtt;
	}
	return true;
}

static void set_unsent(struct interproxy *c, int fd, uint32_t unsent)
{
	if (unsent == c->unsent)
		return;
	c->unsent = unsent;
	socket_set_int(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)unsent);
}

static void set_limit(struct interproxy *c, int fd, uint64_t limit)
{
	uint64_t value = limit ? limit : NO_LIMIT;

	if (limit == c->limit)
		return;
	c->limit = limit;
	setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &value, sizeof(value));
}

static int set_congestion(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name));
}

void interproxy_prepare(struct interproxy *c, int fd, uint64_t start)
{
	*c = (struct interproxy){ .start = start };
	set_unsent(c, fd, UNSENT_MIN);
	/* The initial window is larger than the first flight. */
	set_limit(c, fd, start);
	socket_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	/* The default congestion control of the kernel serves if BBR is not available. */
	if (set_congestion(fd, "bbr") < 0)
		log_info("accel", "no BBR for inter-proxy connections: %s", strerror(errno));
}

/* A switch to another congestion control and back restarts BBR. The window remains. */
static void restart(int fd)
{
	set_congestion(fd, "reno");
	set_congestion(fd, "bbr");
}

static void start_again(struct interproxy *c, int fd, uint64_t rate)
{
	c->is_known = false;
	/* The initial rate of BBR would be six times the delivery rate. */
	set_limit(c, fd, 2 * rate);
	restart(fd);
	log_info("accel",
		 "inter-proxy connection starts again, the access link has capacity: bytes_s=%llu",
		 (unsigned long long)rate);
}

static bool is_measured(const struct interproxy *c, const struct interproxy_sample *s, mono_t now)
{
	return !s->app_limited && c->app_limited.ns &&
	       mono_sub_us(now, c->app_limited) >= FULL_ROUNDS * (int64_t)s->min_us;
}

void interproxy_learn(struct interproxy *c, const struct interproxy_sample *s, mono_t now)
{
	/* The socket may have been empty between two examinations that are far apart. */
	if (mono_sub_us(now, c->looked) > max_of((int64_t)s->min_us, PAUSE_MIN_US))
		c->app_limited = now;
	if (is_measured(c, s, now) && s->rate)
		c->known = s->rate;
	else if (s->app_limited || !c->app_limited.ns)
		c->app_limited = now;
}

uint64_t interproxy_rate(const struct interproxy *c, const struct interproxy_sample *s, mono_t now)
{
	if (!s->starting || !c->is_known || is_flooded(c, s) || is_measured(c, s, now))
		return s->rate;
	return max_of(s->rate, c->known);
}

/* A restarted BBR takes the minimum of several minutes as the round-trip time of the path. BBR may
 * have discarded the value as old while the connection was idle. BBR then limits the window to two
 * such round trips. */
static bool is_path_longer(const struct interproxy_sample *s)
{
	struct interproxy_sample then = { .min_us = s->least_us, .rtt_us = s->min_us };

	return is_queued(&then) || is_longer(s, s->min_us);
}

/* If the connection has carried data and the rate of the link is still unknown, window and rate are
 * still growing. */
static bool is_on_its_way(const struct interproxy *c, const struct interproxy_sample *s)
{
	return s->starting && !c->is_known && s->sent > SENT_MIN;
}

bool interproxy_may_restart(struct interproxy *c, const struct interproxy_sample *s, mono_t now)
{
	bool is_known = c->is_known || !s->starting;
	uint64_t known = c->known;

	/* A backlog is a sign of a slow link, not of a pause. During a probe for the round-trip
	 * time or during recovery, the window is nearly 0 and would remain so. */
	if (!s->rate || !s->app_limited || s->probing || s->recovering || s->min_us < PATH_MIN_US ||
	    is_path_longer(s) || is_on_its_way(c, s))
		return false;
	/* The start phase ended without flooding the link. */
	if (!known && !c->is_known && !s->starting)
		known = s->rate;
	if (is_known && (!known || s->window < known * s->min_us / 1000000 / 2))
		return false;
	c->is_known = is_known;
	c->known = known;
	c->app_limited = now;
	c->sent = s->sent;
	c->resent = s->resent;
	return true;
}

void interproxy_use(struct interproxy *c, int fd, uint32_t rtt_us, mono_t now)
{
	int64_t pause_us = max_of(PAUSE_ROUNDS * (int64_t)rtt_us, PAUSE_MIN_US);
	bool paused = mono_sub_us(now, c->used) > pause_us;
	struct interproxy_sample s;

	c->used = now;
	if (!paused || !look(fd, &s) || !interproxy_may_restart(c, &s, now))
		return;
	set_limit(c, fd, c->is_known ? max_of(c->known, LEAST_RATE) : interproxy_limit(c, &s));
	restart(fd);
}

void interproxy_tune(struct interproxy *c, int fd, uint32_t rtt_us, mono_t now)
{
	struct interproxy_sample s;

	if (mono_sub_us(now, c->looked) <
		    max_of((int64_t)rtt_us / LOOKS_A_ROUND, (int64_t)LOOK_MIN_US) ||
	    !look(fd, &s))
		return;
	set_unsent(c, fd, interproxy_unsent(s.pacing));
	interproxy_learn(c, &s, now);
	s.rate = interproxy_rate(c, &s, now);
	if (interproxy_restarts(c, &s, now))
		start_again(c, fd, s.rate);
	else
		set_limit(c, fd, interproxy_limit(c, &s));
	c->is_known = interproxy_knows_rate(c, &s);
	c->room = interproxy_capacity(c, &s);
	c->looked = now;
	if (s.sent - c->sent < SENT_MIN)
		return;
	c->sent = s.sent;
	c->resent = s.resent;
}
