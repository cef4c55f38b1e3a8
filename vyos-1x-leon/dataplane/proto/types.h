// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types shared by all of proto/: common limits, alarms, routes to a peer. Types
 * only.
 */
#pragma once

#include "base/addr.h"
#include "base/mono.h"
#include "wire/datagram/leon.h"

struct overlay;
struct peer;

#define LOG_TOKEN "overlay"

#define DATAGRAM_MAX	9216
#define PENDING_MAX	64	     /* peers that sent a HELLO and proved nothing yet */
#define PENDING_MS	10000	     /* lifetime of a pending peer and of an offered value */
#define REKEY_AFTER	(1ULL << 32) /* datagram limit of AES-GCM for one key */
#define ALIVE_MS	3000	     /* a session without a message for this time may be lost */
#define BACKOFF_MAX_MS	10000u	     /* upper bound of the retry back-off */
#define PROBES_OUT	32	     /* unanswered probes remembered per link */
#define MTU_BASE	1200	     /* datagram size assumed to pass (RFC 8899 BASE_PLPMTU) */
#define STRETCH_MEMBERS 100	     /* number of members above which periodic work slows down */

/* A timer with its expiry time. */
struct alarm {
	struct timer *timer;
	mono_t at; /* never: not armed */
};

/* Route of a datagram to its destination. */
struct via {
	struct endpoint to; /* endpoint of the first hop */
	uint8_t n_hops;
	node_id_t hop[LEON_HOPS_MAX];
};
