// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sends a request to the control socket of leon-accel and passes the answer, one line of JSON, to
 * the caller: accel_reports.c and commands. leond does not block: the answer arrives on the loop.
 * Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct jsonw;
struct leond;

#define ACCEL_DIR "/run/leon-accel/" /* made by packaging/debian/leond.tmpfiles */

#define ACCEL_RELAYS_MAX       7	  /* commands without an answer, beside one report */
#define ACCEL_RELAY_ANSWER_MAX (1u << 20) /* bytes of an answer; a longer one is dropped */
#define ACCEL_RELAY_MS	       5000	  /* time limit for an answer */

/* Writes the path of a socket for leon-accel, with that ending in the directory of leon-accel, or
 * beside the control socket. Returns false if it is too long. */
bool accel_path(const struct leond *d, const char *there, const char *beside, char *out,
		size_t room);

/* Starts a request. The caller may add "arguments" and passes it to accel_relay(). */
struct jsonw *accel_request(const char *command);

/* answer: without its newline, NUL-terminated, valid during the call. NULL: there is none. */
typedef void (*accel_relay_fn)(void *arg, const char *answer, size_t len);

/* Frees the request. Returns 0 or -errno; fn is called once after 0, later. fn may start the next
 * request. */
int accel_relay(struct leond *d, struct jsonw *request, accel_relay_fn fn, void *arg);
/* The same for the report, which has a place of its own. */
int accel_relay_report(struct leond *d, accel_relay_fn fn, void *arg);
/* Ends all requests without an answer. */
void accel_relays_free(struct leond *d);
