// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The server side of the control socket, see ctlsock.h. Control thread. A connection passes four
 * states: reading its request, waiting for the answer, writing the answer, closed. Each state has
 * at most one timer, so an idle client occupies a slot for a few seconds only.
 *
 * If slots are short, a new connection replaces the oldest one without a complete request. Each
 * user has a few slots, and root has reserved ones, so no user can lock out the operator.
 */
#include "io/ctlsock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"

enum conn_state { CONN_READING, CONN_WAITING, CONN_WRITING };

struct ctl_conn {
	struct ctl_server *server;
	struct ctl_conn *next;
	enum conn_state state;
	int fd; /* -1: the client closed, the answer is still pending */
	struct timer *timer;
	struct ctl_peer peer;
	bool privileged;
	char *request;
	size_t request_len, request_size;
	char *answer;
	size_t answer_len, sent;
};

struct ctl_server {
	struct loop *loop;
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	dev_t dev; /* device of the socket file, so that only this file is removed */
	ino_t ino;
	ctl_request_fn fn;
	void *arg;
	struct ctl_conn *conns; /* newest first */
	unsigned n_conns;
	/* Spare descriptor. If the process has no other left, the server closes it for a moment,
	 * accepts a client and closes the client, which sees an end. -1: no spare; `pause` ends at
	 * the time of the next attempt. */
	int spare_fd;
	struct timer *pause;
	struct ctl_counters count;
	struct log_limit busy_limit, descriptor_limit;
};

#define BACKLOG	     128 /* pending connections; beyond, clients retry */
#define ACCEPT_BATCH 64	 /* connections per loop iteration, so that other events run */
#define PAUSE_MS     500 /* pause if no descriptor is free */

static void hang_up(struct ctl_conn *c)
{
	if (c->fd < 0)
		return;
	loop_fd_del(c->server->loop, c->fd);
	close(c->fd);
	c->fd = -1;
}

static void conn_free(struct ctl_conn *c)
{
	struct ctl_conn **p = &c->server->conns;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	c->server->n_conns--;
	hang_up(c);
	timer_free(c->timer);
	free(c->request);
	free(c->answer);
	free(c);
}

/* The state of the connection timed out. */
static void on_timeout(void *arg, mono_t now attr_unused)
{
	conn_free(arg);
}

static void arm(struct ctl_conn *c, int seconds)
{
	timer_set(c->timer, mono_add_ms(loop_now(c->server->loop), seconds * 1000));
}

/* Writes as much as fits. Frees the connection after the last byte or if the client has closed. */
static void write_some(struct ctl_conn *c)
{
	while (c->sent < c->answer_len) {
		ssize_t n = send(c->fd, c->answer + c->sent, c->answer_len - c->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			loop_fd_mod(c->server->loop, c->fd, EPOLLOUT);
			return;
		}
		if (n < 0)
			break;
		c->sent += (size_t)n;
		arm(c, CTL_STALL_S);
	}
	conn_free(c);
}

/* Passes a complete request line to the owner. */
static void dispatch(struct ctl_conn *c, size_t line_len)
{
	timer_stop(c->timer);
	c->state = CONN_WAITING;
	c->request[line_len] = 0;
	/* From here on only a hang-up matters; epoll always reports it. */
	loop_fd_mod(c->server->loop, c->fd, 0);
	c->server->fn(c->server->arg, c, c->request, line_len);
}

static bool grow(struct ctl_conn *c)
{
	size_t size = c->request_size ? c->request_size * 2 : 4096;

	if (c->request_len + 1 < c->request_size)
		return true;
	if (c->request_size > CTL_REQUEST_MAX)
		return false;
	/* Room for the longest line, its newline and a NUL. */
	size = min_of(size, (size_t)CTL_REQUEST_MAX + 1);
	c->request = x_realloc(c->request, size, 1);
	c->request_size = size;
	return true;
}

static void read_some(struct ctl_conn *c)
{
	for (;;) {
		char *at, *eol;
		ssize_t n;

		if (!grow(c)) {
			conn_free(c);
			return;
		}
		at = c->request + c->request_len;
		n = recv(c->fd, at, c->request_size - c->request_len - 1, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			conn_free(c);
			return;
		}
		eol = memchr(at, '\n', (size_t)n);
		c->request_len += (size_t)n;
		if (eol) {
			dispatch(c, (size_t)(eol - c->request));
			return;
		}
	}
}

static void on_conn(void *arg, int fd attr_unused, uint32_t events)
{
	struct ctl_conn *c = arg;

	if (c->state == CONN_READING)
		read_some(c);
	else if (c->state == CONN_WRITING)
		write_some(c);
	else if (events & (EPOLLHUP | EPOLLERR))
		hang_up(c);
}

void ctl_answer(struct ctl_conn *c, const char *answer, size_t len)
{
	if (c->state != CONN_WAITING)
		bug("request answered twice");
	if (c->fd < 0) {
		conn_free(c);
		return;
	}
	/* The request stays allocated because the caller may still read it. */
	c->answer = x_calloc(len + 1, 1);
	memcpy(c->answer, answer, len);
	c->answer[len] = '\n';
	c->answer_len = len + 1;
	c->state = CONN_WRITING;
	arm(c, CTL_STALL_S);
	/* The write is deferred: the caller holds c, and a complete write would free it. */
	loop_fd_mod(c->server->loop, c->fd, EPOLLOUT);
}

const struct ctl_peer *ctl_conn_peer(const struct ctl_conn *c)
{
	return &c->peer;
}

const struct ctl_counters *ctl_counters(const struct ctl_server *s)
{
	return &s->count;
}

/* --- slot allocation --- */

/* Number of connections of one user, or of all unprivileged users if uid is NULL. */
static unsigned count_of(const struct ctl_server *s, const uid_t *uid)
{
	unsigned n = 0;

	for (const struct ctl_conn *c = s->conns; c; c = c->next)
		n += uid ? c->peer.uid == *uid : !c->privileged;
	return n;
}

/* Returns the oldest connection without a complete request, of one user or (uid NULL) of all
 * unprivileged users. If there is none and `all` is set, privileged users are searched too. */
static struct ctl_conn *oldest_half_open(const struct ctl_server *s, const uid_t *uid, bool all)
{
	struct ctl_conn *oldest = NULL, *privileged = NULL;

	for (struct ctl_conn *c = s->conns; c; c = c->next) {
		if (c->state != CONN_READING || (uid && c->peer.uid != *uid))
			continue;
		if (c->privileged && !uid)
			privileged = c;
		else
			oldest = c;
	}
	return oldest || !all ? oldest : privileged;
}

static bool displace(struct ctl_server *s, const uid_t *uid, bool all)
{
	struct ctl_conn *c = oldest_half_open(s, uid, all);

	if (!c)
		return false;
	s->count.displaced++;
	conn_free(c);
	return true;
}

/* Frees a slot for a new connection; returns false if none can be freed. */
static bool admit(struct ctl_server *s, const struct ctl_peer *peer, bool privileged)
{
	if (!privileged) {
		if (count_of(s, &peer->uid) >= CTL_PER_UID_MAX && !displace(s, &peer->uid, false))
			return false;
		if (count_of(s, NULL) >= CTL_CONNECTIONS_MAX - CTL_RESERVED &&
		    !displace(s, NULL, false))
			return false;
	}
	return s->n_conns < CTL_CONNECTIONS_MAX || displace(s, NULL, privileged);
}

static void add_conn(struct ctl_server *s, int fd)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	struct ctl_peer peer;
	struct ctl_conn *c;
	bool privileged;

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	peer = (struct ctl_peer){ cred.pid, cred.uid, cred.gid };
	privileged = cred.uid == 0 || cred.uid == geteuid();
	if (!admit(s, &peer, privileged)) {
		s->count.refused++;
		log_limited(&s->busy_limit, loop_now(s->loop), LOG_LVL_WARN, "ctl",
			    "too many connections, a connection is refused uid=%u",
			    (unsigned)peer.uid);
		close(fd);
		return;
	}
	s->count.accepted++;
	c = x_new(struct ctl_conn);
	c->server = s;
	c->fd = fd;
	c->peer = peer;
	c->privileged = privileged;
	c->timer = timer_new(s->loop, on_timeout, c);
	c->next = s->conns;
	s->conns = c;
	s->n_conns++;
	arm(c, CTL_REQUEST_S);
	if (loop_fd_add(s->loop, fd, EPOLLIN, on_conn, c) < 0) {
		close(fd);
		c->fd = -1;
		conn_free(c);
		return;
	}
	/* Most clients send at once and are then no longer half-open when the next one needs a
	 * slot. */
	read_some(c);
}

/* --- accepting --- */

static void open_spare(struct ctl_server *s)
{
	s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_pause_over(void *arg, mono_t now attr_unused)
{
	struct ctl_server *s = arg;

	if (s->spare_fd < 0)
		open_spare(s);
	loop_fd_mod(s->loop, s->fd, EPOLLIN);
}

/* No descriptor is left: the spare one is closed to accept one connection and close it. */
static bool turn_away(struct ctl_server *s)
{
	int conn = -1;

	s->count.no_descriptors++;
	log_limited(
		&s->descriptor_limit, loop_now(s->loop), LOG_LVL_ERROR, "ctl",
		"no file descriptor is left for a connection, which is closed: raise LimitNOFILE "
		"of the unit");
	if (s->spare_fd < 0)
		return false;
	close(s->spare_fd);
	conn = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (conn >= 0)
		close(conn);
	open_spare(s);
	return conn >= 0 && s->spare_fd >= 0;
}

static void on_listen(void *arg, int fd, uint32_t events attr_unused)
{
	struct ctl_server *s = arg;
	unsigned i = 0;

	for (; i < ACCEPT_BATCH; i++) {
		int conn = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (conn >= 0) {
			add_conn(s, conn);
			continue;
		}
		if (errno == EAGAIN)
			return;
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if ((errno != EMFILE && errno != ENFILE) || !turn_away(s))
			break;
	}
	if (i == ACCEPT_BATCH)
		return;
	/* A pending connection keeps the socket readable. The watch is removed for a pause, else
	 * the loop would spin. */
	loop_fd_mod(s->loop, fd, 0);
	timer_set(s->pause, mono_add_ms(loop_now(s->loop), PAUSE_MS));
}

/* Returns -EADDRINUSE if a process listens; removes the socket of a dead process. 0 or -errno. */
static int clear_stale(const struct sockaddr_un *sun)
{
	struct stat st;
	int fd, rc;

	if (lstat(sun->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (const struct sockaddr *)sun, sizeof(*sun));
	/* EAGAIN means a full backlog: the other process is alive. */
	rc = rc == 0 || errno == EAGAIN || errno == EINPROGRESS ? -EADDRINUSE : -errno;
	close(fd);
	if (rc != -ECONNREFUSED)
		return rc;
	return unlink(sun->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

static int bind_and_listen(struct ctl_server *s, const struct sockaddr_un *sun)
{
	struct stat st;
	mode_t mask;
	int rc;

	/* The socket is created without permissions and opened to the group afterwards, so its mode
	 * is never wider. */
	mask = umask(0177);
	rc = bind(s->fd, (const struct sockaddr *)sun, sizeof(*sun)) < 0 ? -errno : 0;
	umask(mask);
	if (rc < 0)
		return rc;
	if (stat(s->path, &st) < 0)
		return -errno;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	if (chmod(s->path, 0660) < 0 || listen(s->fd, BACKLOG) < 0)
		return -errno;
	return loop_fd_add(s->loop, s->fd, EPOLLIN, on_listen, s);
}

int ctl_listen(struct ctl_server **out, struct loop *loop, const char *path, ctl_request_fn fn,
	       void *arg)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct ctl_server *s;
	int rc;

	if (strlen(path) >= sizeof(sun.sun_path)) {
		log_error("ctl", "path of the control socket is too long path=%s", path);
		return -ENAMETOOLONG;
	}
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	s = x_new(struct ctl_server);
	s->loop = loop;
	s->fn = fn;
	s->arg = arg;
	s->busy_limit = LOG_LIMIT_INIT(5, 6);
	s->descriptor_limit = LOG_LIMIT_INIT(1, 1);
	s->pause = timer_new(loop, on_pause_over, s);
	open_spare(s);
	snprintf(s->path, sizeof(s->path), "%s", path);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = s->fd < 0 ? -errno : clear_stale(&sun);
	if (rc == 0)
		rc = bind_and_listen(s, &sun);
	if (rc < 0) {
		log_error("ctl", "cannot listen: %s path=%s",
			  rc == -EADDRINUSE ? "another daemon is running" : strerror(-rc), path);
		ctl_server_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void ctl_server_free(struct ctl_server *s)
{
	struct stat st;

	if (!s)
		return;
	while (s->conns)
		conn_free(s->conns);
	if (s->fd >= 0) {
		loop_fd_del(s->loop, s->fd);
		close(s->fd);
	}
	if (s->ino && stat(s->path, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino)
		unlink(s->path);
	if (s->spare_fd >= 0)
		close(s->spare_fd);
	timer_free(s->pause);
	free(s);
}
