// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket: a unix stream socket that carries one request and one answer a connection,
 * each one line of JSON ended by a newline (JSON writers escape newlines inside). The server runs
 * on the control thread's loop; the client is a blocking call with a deadline, for leonctl and
 * tests. Knows nothing of what the lines say.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"

#define CTL_REQUEST_MAX	    (1u << 20) /* bytes of one request line */
#define CTL_ANSWER_MAX	    (64u << 20)
#define CTL_CONNECTIONS_MAX 32 /* in all */
#define CTL_RESERVED	    8  /* of them for root and the daemon's own user */
#define CTL_PER_UID_MAX	    8  /* of any other user */
#define CTL_REQUEST_S	    5  /* a client has this long to send its request */
#define CTL_STALL_S	    15 /* and must take some of its answer at least this often */

struct ctl_server;
struct ctl_conn;

struct ctl_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/*
 * One complete request, without its newline, NUL-terminated, valid during the call. The callee
 * answers with ctl_answer() once, now or later; until then the connection stays, even if the
 * client is gone.
 */
typedef void (*ctl_request_fn)(void *arg, struct ctl_conn *c, const char *request, size_t len);

/*
 * Listens at path, mode 0660. 0 or -errno: -EADDRINUSE where a living process answers there;
 * what a dead one left behind is replaced.
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
	uint64_t displaced;	 /* half-open ones, the oldest, in favour of newer ones */
	uint64_t refused;	 /* where all of those of their user are at work */
	uint64_t no_descriptors; /* closed unheard, as the process may open no more files */
};
const struct ctl_counters *ctl_counters(const struct ctl_server *s);

/*
 * Client: sends the request and waits for the answer, at most timeout_ms in all. On 0 *answer is
 * NUL-terminated without the newline and must be freed. -ENOENT or -ECONNREFUSED: no daemon;
 * -EACCES; -ETIMEDOUT; -EPROTO: the daemon closed before a whole line.
 */
int ctl_request(const char *path, const char *request, size_t len, int timeout_ms, char **answer,
		size_t *answer_len);
