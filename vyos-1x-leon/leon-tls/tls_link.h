// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A connection: TCP, an optional proxy, TLS, then datagrams between the connection and a separate
 * UDP socket to leond. Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "framing.h"
#include "ipc/stream_control.h"
#include "send_queue.h"
#include "tls.h"

struct hub;

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
