// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sends a request to the control socket of leon-accel and passes the answer, one line of JSON, to
 * the caller. explain_connection.c uses it. leond does not block: the answer arrives on the loop.
 * Control thread.
 */
#pragma once

#include <stddef.h>

#define ACCEL_RELAYS_MAX       8	    /* requests without an answer */
#define ACCEL_RELAY_ANSWER_MAX (256u << 10) /* bytes of an answer; a longer one is dropped */
#define ACCEL_RELAY_MS	       5000	    /* time limit for an answer */

struct leond;

/* answer: without its newline, NUL-terminated, valid during the call. NULL: there is none. */
typedef void (*accel_relay_fn)(void *arg, const char *answer, size_t len);

/* request: one line with its newline. Returns 0 or -errno; fn is called once after 0, later. */
int accel_relay(struct leond *d, const char *request, size_t len, accel_relay_fn fn, void *arg);
/* Ends all requests without an answer. */
void accel_relays_free(struct leond *d);
