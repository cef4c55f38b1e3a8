// SPDX-License-Identifier: GPL-2.0-or-later
/* Parser of HTTP requests. serve.c calls this parser for each connection. */
#include "live/live.h"

#include <stdbool.h>
#include <string.h>

/* Lines end with CR LF, or with LF alone (RFC 9112 section 2.2). */
static bool has_ended(const char *head, size_t len)
{
	return memmem(head, len, "\r\n\r\n", 4) || memmem(head, len, "\n\n", 2);
}

/* Returns true if all characters are printable and the line does not exceed its maximum. */
static size_t first_line(const char *head, size_t len)
{
	size_t n = 0;

	while (n < len && head[n] >= ' ' && head[n] <= '~')
		n++;
	return n < len && (head[n] == '\r' || head[n] == '\n') ? n : 0;
}

static bool is_word(const char *at, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(at, word, len) == 0;
}

static enum http_verdict target(const char *at, size_t len, bool head_only)
{
	const char *query = memchr(at, '?', len);

	if (query)
		len = (size_t)(query - at);
	if (is_word(at, len, "/metrics"))
		return head_only ? HTTP_METRICS_HEAD : HTTP_METRICS;
	return is_word(at, len, "/") ? HTTP_ROOT : HTTP_NOT_FOUND;
}

static enum http_verdict request_line(const char *line, size_t len)
{
	const char *first = memchr(line, ' ', len), *end = line + len, *second;
	bool get, head;

	if (!first || first == line)
		return HTTP_BAD;
	second = memchr(first + 1, ' ', (size_t)(end - first - 1));
	if (!second || end - second != 9 || memcmp(second, " HTTP/1.", 8) != 0)
		return HTTP_BAD;
	get = is_word(line, (size_t)(first - line), "GET");
	head = is_word(line, (size_t)(first - line), "HEAD");
	if (!get && !head)
		return HTTP_BAD_METHOD;
	return target(first + 1, (size_t)(second - first - 1), head);
}

enum http_verdict http_request(const char *head, size_t len)
{
	size_t n;

	if (!has_ended(head, len))
		return len < HTTP_HEAD_MAX ? HTTP_MORE : HTTP_BAD;
	n = first_line(head, len);
	return n ? request_line(head, n) : HTTP_BAD;
}
