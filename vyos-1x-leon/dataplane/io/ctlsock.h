// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket: a unix stream socket with a request and an answer per connection. Both are
 * one line of JSON ended by a newline; JSON writers escape newlines inside. The server runs on the
 * control thread's loop. The client is a blocking call with a deadline, for leonctl and tests. The
 * module does not interpret the lines.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"

#define CTL_REQUEST_MAX	    (1u << 20) /* longest request line in bytes */
#define CTL_ANSWER_MAX	    (64u << 20)
#define CTL_CONNECTIONS_MAX 32 /* total */
#define CTL_RESERVED	    8  /* of the total, for root and the daemon's own user */
#define CTL_PER_UID_MAX	    8  /* for any other user */
#define CTL_REQUEST_S	    5  /* time limit for the request, seconds */
#define CTL_STALL_S	    15 /* longest pause while a client reads the answer, seconds */

struct ctl_server;
struct ctl_conn;

struct ctl_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/*
 * Callback for one complete request: without its newline, NUL-terminated, valid during the call.
 * The callee calls ctl_answer() once, now or later. The connection exists until then, even if the
 * client has closed.
 */
typedef void (*ctl_request_fn)(void *arg, struct ctl_conn *c, const char *request, size_t len);

/*
 * Listens at path with mode 0660. Returns 0 or -errno; -EADDRINUSE if a live process listens there.
 * Replaces the socket of a dead process.
 */
int ctl_listen(struct ctl_server **out, struct loop *loop, const char *path, ctl_request_fn fn,
	       void *arg);
/* Closes all connections, answered or not, and removes the socket. NULL ok. */
void ctl_server_free(struct ctl_server *s);
/* Copies the answer (a newline is added), sends it as fast as the client reads, then closes. */
void ctl_answer(struct ctl_conn *c, const char *answer, size_t len);
const struct ctl_peer *ctl_conn_peer(const struct ctl_conn *c);

struct ctl_counters {
	uint64_t accepted;
	uint64_t displaced; /* oldest half-open connections closed in favour of new ones */
	/* connections refused because all slots of the user were in use */
	uint64_t refused;
	/* connections closed unread because the process reached its descriptor limit */
	uint64_t no_descriptors;
};
const struct ctl_counters *ctl_counters(const struct ctl_server *s);

/*
 * Client: sends the request and waits for the answer, at most timeout_ms in total. On 0, *answer is
 * NUL-terminated, without the newline, and the caller frees it. Errors: -ENOENT or -ECONNREFUSED:
 * no daemon; -EACCES; -ETIMEDOUT; -EPROTO: the daemon closed before a complete line.
 */
int ctl_request(const char *path, const char *request, size_t len, int timeout_ms, char **answer,
		size_t *answer_len);
