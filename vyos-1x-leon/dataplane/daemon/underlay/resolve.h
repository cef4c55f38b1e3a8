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

struct resolve_answer {
	uint64_t id;	 /* id of resolver_request() */
	char error[128]; /* empty: resolved */
	unsigned n;
	struct endpoint ep[RESOLVE_ADDRS_MAX];
};

/* Returns a descriptor for the other functions, readable if an answer is pending, or -errno.
 * close() does not wait for an unresponsive name server. Signals must be blocked already. */
int resolver_open(void);
/* Returns false if too many requests wait; the caller retries later. */
bool resolver_request(int fd, uint64_t id, const char *host, uint16_t port);
/* Returns the next answer; false if none is pending. */
bool resolver_next(int fd, struct resolve_answer *out);
