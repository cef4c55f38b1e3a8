// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Name resolution thread. A pair of sockets holds the requests and the answers; the thread owns one
 * end, and shares no memory with the caller. getaddrinfo() cannot be interrupted. At the end the
 * thread is therefore left alone: it ends when the name server has answered.
 */
#include "daemon/underlay/underlay.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUEUE_BYTES (1 << 20)

struct question {
	uint64_t id;
	char host[RESOLVE_HOST_LEN];
	uint16_t port;
};

static void take_addresses(const struct addrinfo *list, uint16_t port, struct resolve_answer *a)
{
	for (const struct addrinfo *ai = list; ai && a->n < RESOLVE_ADDRS_MAX; ai = ai->ai_next) {
		struct sockaddr_storage ss = { 0 };

		if (ai->ai_addrlen > sizeof(ss))
			continue;
		memcpy(&ss, ai->ai_addr, ai->ai_addrlen);
		if (endpoint_from_sockaddr(&ss, &a->ep[a->n]) < 0)
			continue;
		a->ep[a->n].port = port;
		if (endpoint_is_usable(&a->ep[a->n]))
			a->n++;
	}
}

static void resolve(const struct question *q, struct resolve_answer *a)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM };
	struct addrinfo *list = NULL;
	int r = getaddrinfo(q->host, NULL, &hints, &list);

	*a = (struct resolve_answer){ .id = q->id };
	if (r != 0) {
		snprintf(a->error, sizeof(a->error), "%s",
			 r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
		return;
	}
	take_addresses(list, q->port, a);
	freeaddrinfo(list);
	if (a->n == 0)
		snprintf(a->error, sizeof(a->error), "the name has no usable address");
}

static void *resolver_main(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct resolve_answer a;
	struct question q;

	/* Without another end, nothing is received, or the answer cannot be sent. */
	while (recv(fd, &q, sizeof(q), 0) == sizeof(q)) {
		resolve(&q, &a);
		if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0)
			break;
	}
	close(fd);
	return NULL;
}

int resolver_open(void)
{
	int end[2], err, bytes = QUEUE_BYTES;
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end) < 0)
		return -errno;
	/* The default takes less than a request for each configured peer. */
	setsockopt(end[0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	err = pthread_create(&thread, NULL, resolver_main, (void *)(intptr_t)end[1]);
	if (err) {
		close(end[0]);
		close(end[1]);
		return -err;
	}
	pthread_detach(thread);
	return end[0];
}

bool resolver_request(int fd, uint64_t id, const char *host, uint16_t port)
{
	struct question q = { .id = id, .port = port };

	snprintf(q.host, sizeof(q.host), "%s", host);
	return send(fd, &q, sizeof(q), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(q);
}

bool resolver_next(int fd, struct resolve_answer *out)
{
	return recv(fd, out, sizeof(*out), MSG_DONTWAIT) == sizeof(*out);
}
