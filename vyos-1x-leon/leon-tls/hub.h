// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of the program: the socket to leond, listening sockets, all connections and their limits.
 * Main thread.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/bucket.h"
#include "base/loop.h"
#include "io/udp.h"
#include "ipc/stream_control.h"
#include "stream.h"
#include "tls.h"

struct hub;
struct send_queue;

/* --- tls_link.c ---
 * A connection: TCP, an optional proxy, TLS, then datagrams between the connection and a separate
 * UDP socket to leond. Main thread.
 */

enum stream_state {
	STREAM_CONNECTING, /* TCP */
	STREAM_PROXYING,   /* the proxy has the request */
	STREAM_SHAKING,	   /* TLS handshake */
	STREAM_OPEN,
	STREAM_ENDED, /* freed by the hub within a second */
};

struct tls_link {
	struct hub *r;
	struct tls_link *next;
	uint32_t id;
	enum stream_state state;
	bool kept; /* leond knows the other end, or began the connection */
	mono_t since;
	uint64_t received; /* bytes */
	struct endpoint remote;
	int tcp, udp; /* udp -1 before STREAM_OPEN */
	struct tls *tls;
	char server[STREAM_NAME_LEN];

	/* Proxy: the request, then the answer. */
	char *text;
	size_t text_len;

	/* Datagrams to the connection: the queue, and the record that libssl has. */
	struct send_queue *queue;
	uint8_t *record;
	size_t record_len;
	size_t unsent;		     /* limit of the unsent bytes in the kernel, and of a record */
	bool full;		     /* the socket has no room */
	uint8_t rest[FRAME_LEN_MAX]; /* incomplete frame of the connection */
	size_t rest_len;
};

/* Takes the socket of a stranger. */
struct tls_link *tls_link_accepted(struct hub *r, int fd, const struct endpoint *from, uint32_t id);
/* Takes the connecting socket. */
struct tls_link *tls_link_dialed(struct hub *r, int fd, const struct stream_command *c);
/* Ends the connection, and reports the end if leond knows the connection. */
void tls_link_end(struct tls_link *s, const char *reason);
/* Frees an ended stream. */
void tls_link_free(struct tls_link *s);

/* --- leond_udp.c ---
 * UDP between a connection and leond: the socket of each connection, batches of datagrams from
 * leond, and of datagrams to leond. Only tls_link.c calls this file; main thread.
 */

/* Opens a socket with an address of its own, connected to the sockets of leond. Returns the
 * descriptor and the address, or -errno. */
int leond_udp_open(struct hub *r, bool accepted, struct endpoint *local);
/* Moves a batch of datagrams to the queue. Returns the number of messages, at most RX_MESSAGES, or
 * -errno. */
int leond_udp_take(struct hub *r, int fd, struct send_queue *q);
/* Sends the frames to leond. Returns the number of bytes of complete frames, or -1 if the bytes are
 * no frames. */
long leond_udp_deliver(struct hub *r, int fd, const uint8_t *data, size_t len);

/* Connections of strangers, until leond names a member. */
#define STRANGERS_MAX	     64
#define STRANGERS_PER_SOURCE 8 /* of one IPv4 address or IPv6 /64 */
#define STRANGER_MS	     10000
#define STRANGER_BYTES	     (1u << 20) /* limit until a member is named */
#define STREAMS_MAX	     400	/* two descriptors each; the unit permits 1024 */
/* Handshakes take processor time from members. */
#define ACCEPTS_PER_S 100u

#define RX_MESSAGES 32
#define TX_MESSAGES 128
#define TX_PIECES   1024
#define READ_BYTES  (64u << 10)

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct hub {
	struct loop *loop;
	int control;
	struct timer *tick, *accepting;
	struct tls_context *client, *server;
	struct endpoint sockets; /* of leond */
	int listener[2];	 /* IPv4, IPv6; or -1 */
	bool paused;		 /* no connection is accepted for a moment */
	struct bucket accepts;	 /* limit of the rate */
	struct tls_link *streams;
	unsigned n_streams;
	uint32_t next_id;     /* of accepted connections */
	uint16_t next_number; /* of the address of a stream */
	struct stream_counts counts;

	struct udp_rx *rx;
	struct udp_tx *tx;
	uint8_t read[FRAME_LEN_MAX + READ_BYTES];
};

/* Returns false and a sentence in err if the setup fails. */
bool hub_setup(struct hub *r, const struct stream_command *c, char *err, size_t err_len);
/* Reads the files of the server again. Open connections keep their certificate. */
void hub_renew(struct hub *r, const struct stream_command *c);
void hub_listen(struct hub *r, int fd);
struct tls_link *hub_find(struct hub *r, uint32_t id);
void hub_add(struct hub *r, struct tls_link *s);
/* Frees ended connections. */
void hub_reap(struct hub *r);
/* leond would wait for ever for a lost report other than counters, so the program ends, and leond
 * starts it again. -EPIPE: leond ended, which the control socket reports. */
static inline void hub_report(const struct hub *r, const struct stream_report *p)
{
	struct stream_report out = *p;
	int rc;

	out.protocol = STREAM_PROTOCOL;
	rc = stream_send(r->control, &out, sizeof(out), -1);
	if (rc < 0 && rc != -EPIPE && p->news != STREAM_COUNTS)
		loop_quit(r->loop, EXIT_FAILED);
}
