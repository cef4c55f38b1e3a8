// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sockets made with TCP_REPAIR, see proxy_sock.h. The kernel requires the order of the calls:
 * sequence numbers before connect(), options after it, timestamp and windows last.
 */
#include "flow/proxy_sock.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/defs.h"
#include "io/tcp_socket.h"

#define TCP_OPT_MSS    2
#define TCP_OPT_SCALE  3
#define TCP_OPT_SACK   4
#define TCP_OPT_TS     8
#define TCP_CLOSED     7 /* TCP_CLOSE of the kernel */
#define REPAIR_ON      1
#define REPAIR_SILENT  (-1) /* off, without a window probe */
#define TRANSPARENT_V6 75   /* IPV6_TRANSPARENT */
/* Tolerance for the jiffies of the kernel, and for a loop with a single reading of the clock per
 * iteration. */
#define PROOF_NOISE_MS 50

static int set(int fd, int level, int option, const void *value, size_t len)
{
	return setsockopt(fd, level, option, value, (socklen_t)len) < 0 ? -errno : 0;
}

static int set_seq(int fd, int queue, uint32_t seq)
{
	int rc = socket_set_int(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, queue);

	return rc < 0 ? rc : set(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, sizeof(seq));
}

static int set_buffer(int fd, const struct proxy_sock *s)
{
	int buffer = (int)min_of(s->receive_window, (uint32_t)INT32_MAX / 4);

	return socket_set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, buffer);
}

static int prepare(int fd, const struct proxy_sock *s)
{
	bool v6 = s->far.ip.family == 6;
	int rc =
		socket_set_int(fd, v6 ? SOL_IPV6 : SOL_IP, v6 ? TRANSPARENT_V6 : IP_TRANSPARENT, 1);

	if (rc == 0)
		rc = socket_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (rc == 0 && s->device)
		rc = socket_bind_device(fd, s->device);
	if (rc == 0)
		rc = set_buffer(fd, s);
	/* The kernel doubles the value. */
	if (rc == 0 && s->send_buffer)
		rc = socket_set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, (int)(s->send_buffer / 2));
	/* connect() derives values from the buffer sizes, and later options do not change them. */
	if (rc == 0)
		rc = socket_set_int(fd, IPPROTO_TCP, TCP_MAXSEG, s->mss);
	if (rc == 0)
		rc = socket_set_int(fd, IPPROTO_TCP, TCP_REPAIR, REPAIR_ON);
	if (rc == 0)
		rc = set_seq(fd, TCP_SEND_QUEUE, s->send_seq);
	if (rc == 0)
		rc = set_seq(fd, TCP_RECV_QUEUE, s->receive_seq);
	return rc;
}

/* Replaces the handshake: in repair mode connect() sends nothing. */
static int establish(int fd, const struct proxy_sock *s)
{
	struct sockaddr_storage ss;
	socklen_t len = endpoint_to_sockaddr(&s->near, &ss);
	int rc = socket_bind(fd, &s->far.ip, s->far.ip.family, s->far.port);

	if (rc < 0)
		return rc;
	return connect(fd, (struct sockaddr *)&ss, len) < 0 ? -errno : 0;
}

static int set_options(int fd, const struct proxy_sock *s)
{
	struct tcp_repair_opt o[4];
	size_t n = 0;

	o[n++] = (struct tcp_repair_opt){ TCP_OPT_MSS, s->mss };
	if (s->scaling)
		o[n++] = (struct tcp_repair_opt){ TCP_OPT_SCALE,
						  s->near_scale | (uint32_t)s->far_scale << 16 };
	if (s->sack)
		o[n++] = (struct tcp_repair_opt){ TCP_OPT_SACK, 0 };
	if (s->timestamps)
		o[n++] = (struct tcp_repair_opt){ TCP_OPT_TS, 0 };
	return set(fd, IPPROTO_TCP, TCP_REPAIR_OPTIONS, o, n * sizeof(o[0]));
}

static int set_timestamp(int fd, const struct proxy_sock *s)
{
	/* PAWS demands a later timestamp than all before. The lowest bit would select microseconds
	 * (6.7). */
	uint32_t timestamp = (s->timestamp + 2) & ~1u;

	if (!s->timestamps)
		return 0;
	return set(fd, IPPROTO_TCP, TCP_TIMESTAMP, &timestamp, sizeof(timestamp));
}

static int set_windows(int fd, const struct proxy_sock *s)
{
	struct tcp_repair_window w;
	socklen_t len = sizeof(w);

	if (getsockopt(fd, IPPROTO_TCP, TCP_REPAIR_WINDOW, &w, &len) < 0)
		return -errno;
	w.snd_wnd = (uint32_t)s->window << (s->scaling ? s->near_scale : 0);
	w.max_window = max_of(w.max_window, w.snd_wnd);
	w.snd_wl1 = s->receive_seq;
	w.rcv_wnd = s->receive_window / 2;
	w.rcv_wup = s->receive_seq;
	return set(fd, IPPROTO_TCP, TCP_REPAIR_WINDOW, &w, sizeof(w));
}

int proxy_sock_open(const struct proxy_sock *s)
{
	int fd = socket(s->far.ip.family == 6 ? AF_INET6 : AF_INET,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc = fd < 0 ? -errno : prepare(fd, s);

	if (rc == 0)
		rc = establish(fd, s);
	if (rc == 0)
		rc = set_options(fd, s);
	if (rc == 0)
		rc = socket_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (rc == 0)
		return fd;
	/* The socket is still in repair mode, so close() sends nothing. */
	if (fd >= 0)
		close(fd);
	return rc;
}

int proxy_sock_start(int fd, const struct proxy_sock *s)
{
	int rc = set_timestamp(fd, s);

	if (rc == 0)
		rc = set_buffer(fd, s);
	if (rc == 0)
		rc = set_windows(fd, s);
	return rc < 0 ? rc : socket_set_int(fd, IPPROTO_TCP, TCP_REPAIR, REPAIR_SILENT);
}

void proxy_sock_leave(int fd)
{
	socket_set_int(fd, IPPROTO_TCP, TCP_REPAIR, REPAIR_ON);
	close(fd);
}

void proxy_sock_reset(int fd)
{
	struct linger now = { 1, 0 };

	set(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

uint32_t proxy_sock_unacknowledged(int fd)
{
	int n = 0;

	return ioctl(fd, SIOCOUTQ, &n) < 0 || n < 0 ? 0 : (uint32_t)n;
}

uint32_t proxy_sock_unread(int fd)
{
	int n = 0;

	return ioctl(fd, SIOCINQ, &n) < 0 || n < 0 ? 0 : (uint32_t)n;
}

struct flow_proof proxy_sock_proof(int fd, mono_t made, mono_t now)
{
	struct tcp_info t = { 0 };
	socklen_t len = sizeof(t), ts_len = sizeof(uint32_t);
	uint32_t ts_val = 0;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len) < 0)
		return (struct flow_proof){ .acknowledged = true };
	/* The kernel clears the lowest bit of milliseconds (6.7). */
	if (t.tcpi_options & TCPI_OPT_TIMESTAMPS &&
	    getsockopt(fd, IPPROTO_TCP, TCP_TIMESTAMP, &ts_val, &ts_len) == 0)
		ts_val |= 1;
	return (struct flow_proof){
		.acknowledged = t.tcpi_bytes_acked > 0,
		/* The second time is that of an acknowledgement without data, or since the socket
		 * was made. */
		.answered = t.tcpi_bytes_received > 0 ||
			    (int64_t)t.tcpi_last_ack_recv + PROOF_NOISE_MS < mono_sub_ms(now, made),
		.retries = t.tcpi_total_retrans,
		.sent_at = mono_add_ms(now, -(int64_t)t.tcpi_last_data_sent),
		.ts_val = ts_val,
	};
}

bool proxy_sock_is_over(int fd)
{
	struct tcp_info t = { 0 };
	socklen_t len = sizeof(t);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len) == 0 && t.tcpi_state == TCP_CLOSED;
}
