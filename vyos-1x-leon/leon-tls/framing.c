// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats of a connection: datagrams in a stream, and CONNECT through a proxy. */
#include "stream.h"

#include <stdio.h>
#include <string.h>

void frame_header(uint8_t out[FRAME_HDR_LEN], size_t len, uint8_t class)
{
	out[0] = (uint8_t)(len >> 8);
	out[1] = (uint8_t)len;
	out[2] = class;
	out[3] = 0;
}

long frame_next(const uint8_t *data, size_t len, struct framed *out)
{
	size_t n;

	if (len < FRAME_HDR_LEN)
		return 0;
	n = (size_t)data[0] << 8 | data[1];
	if (n == 0 || n > FRAME_DATA_MAX || data[3] != 0)
		return -1;
	if (len < FRAME_HDR_LEN + n)
		return 0;
	*out = (struct framed){ data + FRAME_HDR_LEN, n, data[2] };
	return (long)(FRAME_HDR_LEN + n);
}

/* --- CONNECT through an HTTP proxy --- */

#define STATUS_AT 9 /* behind "HTTP/1.1 " */

size_t proxy_request(char out[PROXY_REQUEST_MAX], const char *host_port, const char *login)
{
	int n = snprintf(out, PROXY_REQUEST_MAX, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n",
			 host_port, host_port, *login ? "Proxy-Authorization: Basic " : "", login,
			 *login ? "\r\n" : "");

	return n > 0 && n < PROXY_REQUEST_MAX ? (size_t)n : 0;
}

long proxy_answer(const char *text, size_t len, int *status)
{
	static const char end[] = "\r\n\r\n";
	const char *found = memmem(text, len, end, strlen(end));

	if (!found)
		return len < PROXY_ANSWER_MAX ? 0 : -1;
	if (found - text < STATUS_AT + 3 || memcmp(text, "HTTP/1.", 7) != 0 || text[8] != ' ')
		return -1;
	*status = 0;
	for (int i = STATUS_AT; i < STATUS_AT + 3; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		*status = *status * 10 + (text[i] - '0');
	}
	return found - text + (long)strlen(end);
}
