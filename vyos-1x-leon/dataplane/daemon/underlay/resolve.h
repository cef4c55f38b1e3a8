// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asynchronous name resolution: one helper thread that calls getaddrinfo(). The control thread
 * posts requests and is woken through a descriptor. Independent of LEON; seeds.c schedules the
 * requests.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

#define RESOLVE_ADDRS_MAX 8
#define RESOLVE_HOST_LEN  254

struct resolver;

struct resolve_answer {
	uint64_t id;	 /* id of resolver_request() */
	char error[128]; /* empty: resolved */
	unsigned n;
	struct endpoint ep[RESOLVE_ADDRS_MAX];
};

/* Returns NULL and sets errno if the thread cannot be created. Signals must be blocked already. */
struct resolver *resolver_new(void);
/* Does not wait for an unresponsive name server: a busy thread frees the remaining memory. */
void resolver_free(struct resolver *r); /* NULL ok */
/* Returns false if the queue is full; the caller retries later. */
bool resolver_request(struct resolver *r, uint64_t id, const char *host, uint16_t port);
int resolver_fd(const struct resolver *r); /* readable if an answer is pending */
/* Returns the next answer; false if none is pending (the descriptor is then not readable). */
bool resolver_next(struct resolver *r, struct resolve_answer *out);
