// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The part of HTTP/1.x (RFC 9112) for `leonctl metrics --listen`: the first line and the end of the
 * head of a request. The client is not trusted, so the parser ignores everything else. Pure.
 */
#pragma once

#include <stddef.h>

#define HTTP_HEAD_MAX 4096

enum http_verdict {
	HTTP_MORE, /* the head is incomplete */
	HTTP_METRICS,
	HTTP_METRICS_HEAD, /* HEAD: answer without body */
	HTTP_ROOT,
	HTTP_NOT_FOUND,
	HTTP_BAD_METHOD,
	HTTP_BAD,
	N_HTTP_VERDICTS,
};
/* Classifies the bytes received until now. */
enum http_verdict http_request(const char *head, size_t len);
