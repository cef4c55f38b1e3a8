// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of the program: the socket to leond, listening sockets, all connections and their limits.
 * Main thread.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>

#include "base/bucket.h"
#include "base/loop.h"
#include "ipc/stream_control.h"
#include "io/udp.h"
#include "tls_link.h"

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
