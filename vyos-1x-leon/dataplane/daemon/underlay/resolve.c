// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Name resolution thread. Owns two bounded queues under one mutex, an eventfd and the thread.
 * getaddrinfo() cannot be interrupted. At the end a busy thread is therefore detached: it owns the
 * memory and frees it when the name server has answered.
 */
#include "daemon/underlay/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"

#define QUEUE_MAX 512 /* above CONF_PEERS_MAX: each seed has one pending request */

struct question {
	uint64_t id;
	char host[RESOLVE_HOST_LEN];
	uint16_t port;
};

struct resolver {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	bool stop, busy;
	int wake_fd;
	unsigned q_first, q_n, a_first, a_n;
	struct question question[QUEUE_MAX];
	struct resolve_answer answer[QUEUE_MAX];
};

static void resolver_destroy(struct resolver *r)
{
	close(r->wake_fd);
	pthread_cond_destroy(&r->asked);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

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

/* Called with the lock held. There is always room: the queue of answers is as long as that of
 * requests. */
static void put_answer(struct resolver *r, const struct resolve_answer *a)
{
	if (r->a_n < QUEUE_MAX)
		r->answer[(r->a_first + r->a_n++) % QUEUE_MAX] = *a;
}

/* Called without the lock: a reader with real-time priority runs before write() returns, and takes
 * the lock. */
static void wake(struct resolver *r)
{
	uint64_t one = 1;

	/* Fails only at the maximum of the counter, and then the reader is awake. */
	if (write(r->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static void *resolver_main(void *arg)
{
	struct resolver *r = arg;
	bool stop;

	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		struct question q;
		struct resolve_answer a;

		if (r->q_n == 0) {
			pthread_cond_wait(&r->asked, &r->lock);
			continue;
		}
		q = r->question[r->q_first];
		r->q_first = (r->q_first + 1) % QUEUE_MAX;
		r->q_n--;
		r->busy = true;
		pthread_mutex_unlock(&r->lock);
		resolve(&q, &a);
		pthread_mutex_lock(&r->lock);
		if (r->stop)
			break;
		r->busy = false;
		put_answer(r, &a);
		pthread_mutex_unlock(&r->lock);
		wake(r);
		pthread_mutex_lock(&r->lock);
	}
	/* Busy at the time of the stop: no thread waits for this one, which now owns the memory. */
	stop = r->busy;
	pthread_mutex_unlock(&r->lock);
	if (stop)
		resolver_destroy(r);
	return NULL;
}

struct resolver *resolver_new(void)
{
	struct resolver *r = x_new(struct resolver);
	int err;

	r->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (r->wake_fd < 0) {
		err = errno;
		free(r);
		errno = err;
		return NULL;
	}
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->asked, NULL);
	err = pthread_create(&r->thread, NULL, resolver_main, r);
	if (err != 0) {
		resolver_destroy(r);
		errno = err;
		return NULL;
	}
	return r;
}

void resolver_free(struct resolver *r)
{
	pthread_t thread;
	bool busy;

	if (!r)
		return;
	thread = r->thread;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	busy = r->busy;
	if (busy)
		pthread_detach(thread);
	pthread_cond_signal(&r->asked);
	pthread_mutex_unlock(&r->lock);
	if (busy)
		return;
	pthread_join(thread, NULL);
	resolver_destroy(r);
}

bool resolver_request(struct resolver *r, uint64_t id, const char *host, uint16_t port)
{
	bool ok;

	pthread_mutex_lock(&r->lock);
	ok = r->q_n + r->a_n + 1 < QUEUE_MAX;
	if (ok) {
		struct question *q = &r->question[(r->q_first + r->q_n++) % QUEUE_MAX];

		q->id = id;
		q->port = port;
		snprintf(q->host, sizeof(q->host), "%s", host);
		pthread_cond_signal(&r->asked);
	}
	pthread_mutex_unlock(&r->lock);
	return ok;
}

int resolver_fd(const struct resolver *r)
{
	return r->wake_fd;
}

bool resolver_next(struct resolver *r, struct resolve_answer *out)
{
	uint64_t count;
	bool found;

	pthread_mutex_lock(&r->lock);
	found = r->a_n > 0;
	if (found) {
		*out = r->answer[r->a_first];
		r->a_first = (r->a_first + 1) % QUEUE_MAX;
		r->a_n--;
	} else if (read(r->wake_fd, &count, sizeof(count)) < 0) {
		/* EAGAIN: nothing to acknowledge. */
		count = 0;
	}
	pthread_mutex_unlock(&r->lock);
	return found;
}
