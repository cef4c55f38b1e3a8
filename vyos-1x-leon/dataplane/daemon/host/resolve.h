// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DNS names to addresses without blocking the control thread: one helper thread that calls
 * getaddrinfo(). The control thread posts questions and is woken through a descriptor.
 * Knows nothing of LEON; seeds.c decides what is asked when.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

#define RESOLVE_ADDRS_MAX 8
#define RESOLVE_HOST_LEN  254

struct resolver;

struct resolve_answer {
	uint64_t id;	 /* as in resolver_ask() */
	char error[128]; /* empty: resolved */
	unsigned n;
	struct endpoint ep[RESOLVE_ADDRS_MAX];
};

/* NULL and errno where the thread cannot be made. Signals must be blocked already. */
struct resolver *resolver_new(void);
/* Does not wait for a name server that is silent: a thread that is busy frees what is left. */
void resolver_free(struct resolver *r); /* NULL ok */
/* False where the queue is full: ask again later. */
bool resolver_ask(struct resolver *r, uint64_t id, const char *host, uint16_t port);
int resolver_fd(const struct resolver *r); /* readable when an answer waits */
/* Next answer; false where none waits (and the descriptor is quiet). */
bool resolver_next(struct resolver *r, struct resolve_answer *out);
