// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CONNECT through an HTTP proxy, see proxy.h.
 */
#include "proxy.h"

#include <stdio.h>
#include <string.h>

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
