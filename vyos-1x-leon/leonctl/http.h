// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `leonctl metrics --listen` understands of HTTP/1.x (RFC 9112): the first line of a request,
 * and where its head ends. Whoever can connect may send anything, so nothing else is looked at.
 * Pure.
 */
#pragma once

#include <stddef.h>

#define HTTP_HEAD_MAX 4096

enum http_verdict {
	HTTP_MORE, /* the head has not ended yet */
	HTTP_METRICS,
	HTTP_METRICS_HEAD, /* asked for without the text */
	HTTP_ROOT,
	HTTP_NOT_FOUND,
	HTTP_BAD_METHOD,
	HTTP_BAD,
	N_HTTP_VERDICTS,
};
/* Of what has come so far. */
enum http_verdict http_request(const char *head, size_t len);
