// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of the configured peers and of the lines, for the files of this folder. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "daemon/underlay/resolve.h"
#include "io/udp.h"

struct leond;

/* A configured or cached peer, indexed like conf->peer. */
struct seed_host {
	mono_t request_at;  /* earliest next resolution */
	uint32_t backoff_s; /* wait after the next resolution */
	bool asking;	    /* a resolution is pending */
	bool failing;	    /* the failure was reported */
	unsigned n;	    /* number of addresses of the last resolution */
	struct endpoint ep[RESOLVE_ADDRS_MAX];
	struct endpoint stream; /* fallback.c; family 0: none */
	mono_t resolved_at;	/* last answer with addresses */
	char error[128];	/* error of the last answer; empty: none */
	/* State of reach.c. */
	uint64_t name; /* hash of the peer's definition; survives a reload */
	bool reached;  /* last known state */
	bool reported; /* its absence was reported */
	mono_t since;  /* time of the last change of `reached` */
};

/* NULL: no such peer. */
struct seed_host *seeds_host(const struct leond *d, uint32_t i);

struct line {
	int index;	  /* of its interface; 0: none, or missing */
	int bind_error;	  /* errno of the last request or bind; 0: none */
	const char *lost; /* reason why it cannot be used; NULL: none */
};

struct line_states {
	struct line line[LINES_MAX];
	struct udp second; /* sockets of the second line */
};
