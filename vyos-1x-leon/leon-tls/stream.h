// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes of a connection: datagrams as frames, frames that wait, CONNECT through a proxy.
 * Main thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

/* --- framing.c ---
 * Datagrams in a stream: a length of 16 bits, the TOS or traffic class of the datagram, a byte 0,
 * then the datagram. doc/protocol.md section 1.2. Pure.
 */

#define FRAME_HDR_LEN  4
#define FRAME_DATA_MAX 9216 /* above the largest datagram of path MTU discovery */
#define FRAME_LEN_MAX  (FRAME_HDR_LEN + FRAME_DATA_MAX)

struct framed {
	const uint8_t *data;
	size_t len;
	uint8_t class;
};

void frame_header(uint8_t out[FRAME_HDR_LEN], size_t len, uint8_t class);
/*
 * Takes the frame at the start of `data`. Returns the number of bytes taken; 0: incomplete; -1: no
 * frame, the stream is unusable.
 */
long frame_next(const uint8_t *data, size_t len, struct framed *out);

/* --- send_queue.c ---
 * Frames that wait for a connection. The queue is bounded in bytes and in time, and drops its
 * oldest frame, as an interface with a short buffer does. A frame that waits for a retransmission
 * of TCP is worth less than the next frame. Allocates at creation only.
 */

#define QUEUE_BYTES  (1u << 20)
#define QUEUE_AGE_MS 10 /* longest wait of the oldest frame */

struct send_queue;

struct send_queue *send_queue_new(void); /* to be freed */
/* Adds a datagram. Returns the number of displaced older frames. */
unsigned send_queue_push(struct send_queue *q, const uint8_t *data, size_t len, uint8_t class,
			 mono_t now);
/* Drops frames after the longest wait, but not the newest. Returns the number. */
unsigned send_queue_expire(struct send_queue *q, mono_t now);
/* Moves whole frames with headers to `out`: at most `room` bytes, or one frame of any length.
 * Returns the number of bytes, and adds the number of frames to *n. */
size_t send_queue_pull(struct send_queue *q, uint8_t *out, size_t room, uint64_t *n);

/* --- framing.c: the proxy ---
 * CONNECT through an HTTP proxy (RFC 9110, section 9.3.6): the request, and the answer as it
 * arrives. Pure.
 */

#define PROXY_REQUEST_MAX 1024
#define PROXY_ANSWER_MAX  4096

/* login: "user:password" in Base64, or empty. Returns the length of the request. */
size_t proxy_request(char out[PROXY_REQUEST_MAX], const char *host_port, const char *login);
/* Returns the length of a complete header; 0: incomplete; -1: no answer of a proxy. *status is the
 * code of the answer. */
long proxy_answer(const char *text, size_t len, int *status);
