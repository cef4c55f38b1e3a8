// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CONNECT through an HTTP proxy (RFC 9110, section 9.3.6): the request, and the answer as it
 * arrives. Pure.
 */
#pragma once

#include <stddef.h>

#define PROXY_REQUEST_MAX 1024
#define PROXY_ANSWER_MAX  4096

/* login: "user:password" in Base64, or empty. Returns the length of the request. */
size_t proxy_request(char out[PROXY_REQUEST_MAX], const char *host_port, const char *login);
/* Returns the length of a complete header; 0: incomplete; -1: no answer of a proxy. *status is the
 * code of the answer. */
long proxy_answer(const char *text, size_t len, int *status);
