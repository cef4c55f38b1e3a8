// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * io/ctlsock with a server on a production loop in its own thread, and clients in the test thread.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "io/ctlsock.h"

#define LARGE	   (8u << 20)
#define UNREAD	   (2u << 20)
#define TIMEOUT_MS 20000

static char dir[] = "/tmp/leon-ctl-XXXXXX", path[64];
static struct loop *loop;
static struct ctl_server *server;
static struct ctl_conn *deferred;
static pthread_t thread;
static int quit_fd;
static _Atomic unsigned n_requests;
static _Atomic uint64_t n_displaced, n_without; /* values of the last request */
static struct ctl_peer peer;

static void silent(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	(void)text;
}

/* Answers with the request itself. "large" has an answer of LARGE bytes, "unread" exceeds the
 * socket buffer, and "wait" is answered after "go". */
static void on_request(void *arg, struct ctl_conn *c, const char *request, size_t len)
{
	static char large[LARGE];

	(void)arg;
	n_requests++;
	if (server) {
		n_displaced = ctl_counters(server)->displaced;
		n_without = ctl_counters(server)->no_descriptors;
	}
	peer = *ctl_conn_peer(c);
	if (strcmp(request, "wait") == 0) {
		deferred = c;
		return;
	}
	if (strcmp(request, "go") == 0 && deferred) {
		ctl_answer(deferred, "late", 4);
		deferred = NULL;
	}
	if (strcmp(request, "large") == 0 || strcmp(request, "unread") == 0) {
		memset(large, 'x', sizeof(large));
		ctl_answer(c, large, *request == 'l' ? sizeof(large) : UNREAD);
		return;
	}
	ctl_answer(c, request, len);
}

static void on_quit(void *arg, int fd, uint32_t events)
{
	(void)fd;
	(void)events;
	loop_quit(arg, 0);
}

static void *serve(void *arg)
{
	loop_run(arg);
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	n_requests = 0;
	deferred = NULL;
	loop = loop_sd_new();
	quit_fd = eventfd(0, EFD_CLOEXEC);
	if (!loop || ctl_listen(&server, loop, path, on_request, NULL) < 0 ||
	    loop_fd_add(loop, quit_fd, EPOLLIN, on_quit, loop) < 0)
		return -1;
	return pthread_create(&thread, NULL, serve, loop);
}

static int teardown(void **state)
{
	(void)state;
	if (eventfd_write(quit_fd, 1) < 0)
		return -1;
	pthread_join(thread, NULL);
	ctl_server_free(server);
	loop_fd_del(loop, quit_fd);
	loop_free(loop);
	close(quit_fd);
	/* The server removes its socket. */
	return access(path, F_OK) == 0;
}

static int raw_client(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	return fd;
}

static void ask(const char *request, const char *answer)
{
	char *got;
	size_t len;

	assert_int_equal(ctl_request(path, request, strlen(request), TIMEOUT_MS, &got, &len), 0);
	assert_int_equal(len, strlen(answer));
	assert_string_equal(got, answer);
	free(got);
}

static void one_request_one_answer(void **state)
{
	struct stat st;

	(void)state;
	ask("{\"version\":1}", "{\"version\":1}");
	ask("", "");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(peer.uid, geteuid());
	assert_int_equal(peer.pid, getpid());
}

static void large_both_ways(void **state)
{
	char *request = malloc(CTL_REQUEST_MAX), *got;
	size_t len;

	(void)state;
	memset(request, 'r', CTL_REQUEST_MAX);
	assert_int_equal(ctl_request(path, request, CTL_REQUEST_MAX - 1, TIMEOUT_MS, &got, &len),
			 0);
	assert_int_equal(len, CTL_REQUEST_MAX - 1);
	assert_memory_equal(got, request, len);
	free(got);
	/* One byte too many is refused without reading the rest. */
	assert_int_equal(ctl_request(path, request, CTL_REQUEST_MAX, TIMEOUT_MS, &got, &len),
			 -EPROTO);
	free(request);
	assert_int_equal(ctl_request(path, "large", 5, TIMEOUT_MS, &got, &len), 0);
	assert_int_equal(len, LARGE);
	free(got);
}

static void bytes_one_at_a_time(void **state)
{
	int fd = raw_client();
	char got[8] = { 0 };
	size_t n = 0;

	(void)state;
	for (const char *p = "slow\n"; *p; p++)
		assert_int_equal(send(fd, p, 1, 0), 1);
	while (n < 5) {
		ssize_t r = recv(fd, got + n, sizeof(got) - n, 0);

		assert_true(r > 0);
		n += (size_t)r;
	}
	assert_string_equal(got, "slow\n");
	assert_int_equal(recv(fd, got, sizeof(got), 0), 0);
	close(fd);
}

static void slow_readers_do_not_block_others(void **state)
{
	static char buf[1 << 20];
	int fd = raw_client();
	size_t n = 0;

	(void)state;
	assert_int_equal(send(fd, "large\n", 6, 0), 6);
	ask("while it waits", "while it waits");
	for (;;) {
		ssize_t r = recv(fd, buf, sizeof(buf), 0);

		if (r <= 0)
			break;
		n += (size_t)r;
	}
	assert_int_equal(n, LARGE + 1);
	close(fd);
}

static void late_answers(void **state)
{
	int fd = raw_client();
	char got[16] = { 0 };

	(void)state;
	assert_int_equal(send(fd, "wait\n", 5, 0), 5);
	while (n_requests < 1)
		poll(NULL, 0, 1);
	ask("go", "go");
	assert_int_equal(recv(fd, got, sizeof(got), MSG_WAITALL), 5);
	assert_string_equal(got, "late\n");
	close(fd);
	/* A client closes before its answer. The server discards the answer and continues. */
	fd = raw_client();
	assert_int_equal(send(fd, "wait\n", 5, 0), 5);
	while (n_requests < 3)
		poll(NULL, 0, 1);
	close(fd);
	ask("still there", "still there");
	ask("go", "go");
	/* A client closes before its request. */
	close(raw_client());
	ask("still there", "still there");
}

static bool hung_up(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, timeout_ms) == 1 && (pfd.revents & POLLHUP);
}

/* A new client gets the slot of the oldest connection without a request. */
static void half_open_ones_make_room(void **state)
{
	int fd[CTL_CONNECTIONS_MAX + 1];

	(void)state;
	for (unsigned i = 0; i < array_size(fd); i++)
		fd[i] = raw_client();
	assert_true(hung_up(fd[0], TIMEOUT_MS));
	for (unsigned i = 1; i < array_size(fd); i++)
		assert_false(hung_up(fd[i], 0));
	ask("no need to wait", "no need to wait");
	assert_true(hung_up(fd[1], TIMEOUT_MS));
	assert_false(hung_up(fd[2], 0));
	assert_int_equal(n_displaced, 2);
	for (unsigned i = 0; i < array_size(fd); i++)
		close(fd[i]);
}

/* Opens many half-open connections in a child of another user. Reports to `report` and ends when
 * `end` closes. */
static void hog(int report, int end)
{
	char c = 0;

	if (setgroups(0, NULL) < 0 || setuid(65534) < 0)
		_exit(1);
	for (unsigned i = 0; i < 2 * CTL_CONNECTIONS_MAX; i++)
		raw_client();
	for (unsigned i = 0; i < 4; i++) {
		int fd = raw_client();

		if (send(fd, "wait\n", 5, MSG_NOSIGNAL) != 5)
			_exit(2);
	}
	if (write(report, &c, 1) != 1 || read(end, &c, 1) != 0)
		_exit(3);
	_exit(0);
}

static void nobody_locks_root_out(void **state)
{
	int report[2], end[2], status, fd[CTL_CONNECTIONS_MAX - CTL_PER_UID_MAX];
	char c;
	pid_t pid;

	(void)state;
	if (geteuid() != 0) /* two users need root */
		return;
	assert_int_equal(chmod(dir, 0711), 0);
	assert_int_equal(pipe(report), 0);
	assert_int_equal(pipe(end), 0);
	pid = fork();
	if (pid == 0) {
		close(end[1]);
		hog(report[1], end[0]);
	}
	close(end[0]);
	assert_int_equal(read(report[0], &c, 1), 1);
	ask("root is served", "root is served");
	/* Another user occupies only the slots of that user. Root has all other slots and loses
	 * none. */
	for (unsigned i = 0; i < array_size(fd); i++)
		fd[i] = raw_client();
	ask("still", "still");
	for (unsigned i = 1; i < array_size(fd); i++)
		assert_false(hung_up(fd[i], 0));
	for (unsigned i = 0; i < array_size(fd); i++)
		close(fd[i]);
	close(end[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(report[0]);
	close(report[1]);
}

/* Connects in a child process, because descriptors are short, and reports a hang-up. */
static pid_t waits_to_be_hung_up(int go)
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	_exit(read(go, &c, 1) == 1 && hung_up(raw_client(), TIMEOUT_MS) ? 0 : 1);
}

static void no_descriptor_left(void **state)
{
	struct rlimit before, low = { .rlim_cur = 200, .rlim_max = 200 };
	int go[2], filler[200], n = 0, status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = waits_to_be_hung_up(go[0]);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	while ((filler[n] = dup(go[0])) >= 0)
		n++;
	assert_int_equal(errno, EMFILE);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (n)
		close(filler[--n]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(status, 0);
	ask("back again", "back again");
	assert_true(n_without >= 1);
	close(go[0]);
	close(go[1]);
}

/* Busy connections are not displaced. The excess connection is refused. */
static void connections_are_limited(void **state)
{
	int fd[CTL_CONNECTIONS_MAX + 1];

	(void)state;
	for (unsigned i = 0; i < array_size(fd); i++) {
		struct pollfd pfd = { .events = POLLIN };

		pfd.fd = fd[i] = raw_client();
		/* The excess connection may end before the request. */
		if (send(fd[i], "unread\n", 7, MSG_NOSIGNAL) != 7)
			assert_int_equal(i, CTL_CONNECTIONS_MAX);
		/* A connection without a received request would be displaced. */
		assert_int_equal(poll(&pfd, 1, TIMEOUT_MS), 1);
	}
	assert_true(hung_up(fd[CTL_CONNECTIONS_MAX], TIMEOUT_MS));
	assert_false(hung_up(fd[0], 0));
	for (unsigned i = 0; i < array_size(fd); i++)
		close(fd[i]);
	for (unsigned tries = 0;; tries++) {
		char *got;
		size_t len;
		int rc = ctl_request(path, "again", 5, TIMEOUT_MS, &got, &len);

		/* The server may not have noticed all closed connections yet. */
		if (rc == 0) {
			free(got);
			break;
		}
		assert_true(tries < 1000);
		poll(NULL, 0, 10);
	}
}

static void living_daemons_are_respected(void **state)
{
	struct ctl_server *second = NULL;
	struct loop *other = loop_sd_new();

	(void)state;
	assert_int_equal(ctl_listen(&second, other, path, on_request, NULL), -EADDRINUSE);
	ask("undisturbed", "undisturbed");
	loop_free(other);
}

static void dead_sockets_are_replaced(void **state)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct ctl_server *s = NULL;
	struct loop *l = loop_sd_new();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char *got;
	size_t len;

	(void)state;
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	close(fd);
	assert_int_equal(ctl_request(path, "x", 1, TIMEOUT_MS, &got, &len), -ECONNREFUSED);
	assert_int_equal(ctl_listen(&s, l, path, on_request, NULL), 0);
	ctl_server_free(s);
	assert_int_equal(ctl_request(path, "x", 1, TIMEOUT_MS, &got, &len), -ENOENT);
	/* A file that is not a socket is not removed. */
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(ctl_listen(&s, l, path, on_request, NULL), -EEXIST);
	unlink(path);
	loop_free(l);
}

/* A server without an answer causes a timeout. */
static void clients_give_up(void **state)
{
	char *got;
	size_t len;

	(void)state;
	assert_int_equal(ctl_request(path, "wait", 4, 50, &got, &len), -ETIMEDOUT);
	ask("go", "go");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(one_request_one_answer),
		T(large_both_ways),
		T(bytes_one_at_a_time),
		T(slow_readers_do_not_block_others),
		T(late_answers),
		T(half_open_ones_make_room),
		T(nobody_locks_root_out),
		T(no_descriptor_left),
		T(connections_are_limited),
		T(living_daemons_are_respected),
		cmocka_unit_test(dead_sockets_are_replaced),
		T(clients_give_up),
	};
	int rc;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/ctl.sock", dir);
	log_set_sink(silent, NULL);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return rc;
}
