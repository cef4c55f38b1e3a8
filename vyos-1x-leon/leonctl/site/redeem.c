// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The joining side of protocol 8.2, see site.h. Sends one request to all addresses of the token,
 * and repeats the request with back-off. Only the inviting member answers, and a datagram may be
 * lost. The answer may come from any address, because the seal proves the sender.
 */
#include "site/site.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/defs.h"
#include "base/mem.h"
#include "crypto/invitation.h"
#include "crypto/public_key.h"
#include "io/clock.h"
#include "io/tcp_socket.h"
#include "text/text.h"

#define ADDRESSES_MAX 32

/* Time for an answer after each transmission. */
static const int waits_ms[] = { 250, 500, 1000, 2000, 2000, 2000 };

struct redeemer {
	const struct target *t;
	const struct token *token;
	int fd[2]; /* IPv4, IPv6; -1: unused, or the host has no such socket */
	struct {
		struct endpoint ep;
		int error; /* of the last transmission, 0: sent */
	} to[ADDRESSES_MAX];
	unsigned n;
	char unresolved[256];
	struct invitation_request request;
};

/* --- sockets and addresses --- */

static bool bind_source(const struct redeemer *r, int fd, uint8_t family)
{
	const struct target_given *given = NULL;
	struct ip_addr ip;
	const char *device;

	if (target_option(r->t, "source-interface", &device) &&
	    socket_bind_device(fd, device) < 0) {
		target_complain(r->t, "source-interface %s: %s", device, strerror(errno));
		return false;
	}
	while ((given = target_next_option(r->t, "source-address", given))) {
		if (ip_parse(given->value, &ip) < 0 || ip.family != family ||
		    socket_bind(fd, &ip, family, 0) == 0)
			continue;
		target_complain(r->t, "source-address %s: %s", given->value, strerror(errno));
		return false;
	}
	return true;
}

/* Address families without a source address are unused, as by leond. */
static bool is_used(const struct redeemer *r, uint8_t family)
{
	const struct target_given *given = NULL;
	struct ip_addr ip;
	bool any = false;

	while ((given = target_next_option(r->t, "source-address", given))) {
		if (ip_parse(given->value, &ip) == 0 && ip.family == family)
			return true;
		any = true;
	}
	return !any;
}

/* A host without IPv6 uses IPv4 only. Returns false after an error message. */
static bool open_sockets(struct redeemer *r)
{
	static const int family[] = { AF_INET, AF_INET6 };

	for (int i = 0; i < 2; i++) {
		if (!is_used(r, i ? 6 : 4))
			continue;
		r->fd[i] = socket(family[i], SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (r->fd[i] >= 0 && !bind_source(r, r->fd[i], i ? 6 : 4))
			return false;
	}
	return true;
}

static void add_address(struct redeemer *r, const struct addrinfo *ai)
{
	struct sockaddr_storage ss = { 0 };
	struct endpoint ep;

	memcpy(&ss, ai->ai_addr, min_of((size_t)ai->ai_addrlen, sizeof(ss)));
	if (endpoint_from_sockaddr(&ss, &ep) < 0 || r->n == ADDRESSES_MAX)
		return;
	for (unsigned i = 0; i < r->n; i++)
		if (endpoint_equal(&r->to[i].ep, &ep))
			return;
	r->to[r->n++].ep = ep;
}

static void resolve(struct redeemer *r)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };

	for (unsigned i = 0; i < r->token->n_seeds; i++) {
		const struct token_seed *s = &r->token->seed[i];
		struct addrinfo *list = NULL;
		char port[8];
		int err;

		snprintf(port, sizeof(port), "%u", s->port);
		err = getaddrinfo(s->host, port, &hints, &list);
		if (err)
			snprintf(r->unresolved, sizeof(r->unresolved), "; %.60s: %s", s->host,
				 err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
		for (const struct addrinfo *ai = list; ai; ai = ai->ai_next)
			add_address(r, ai);
		if (list)
			freeaddrinfo(list);
	}
}

/* --- the exchange --- */

static void send_all(struct redeemer *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct endpoint *ep = &r->to[i].ep;
		struct sockaddr_storage ss;
		socklen_t len = endpoint_to_sockaddr(ep, &ss);
		int fd = r->fd[ep->ip.family == 6];

		r->to[i].error = fd < 0 ? EAFNOSUPPORT : 0;
		if (fd >= 0 && sendto(fd, r->request.datagram, sizeof(r->request.datagram), 0,
				      (struct sockaddr *)&ss, len) < 0)
			r->to[i].error = errno;
	}
}

/* Returns true if one of the received datagrams is the answer. */
static bool read_answer(struct redeemer *r, int fd, struct invitation_text *out)
{
	uint8_t data[INVITATION_LEN + 1];
	ssize_t n;

	while ((n = recv(fd, data, sizeof(data), 0)) >= 0)
		if (invitation_open_answer(&r->request, data, (size_t)n, out) == 0)
			return true;
	return false;
}

static bool wait_for_answer(struct redeemer *r, int wait_ms, struct invitation_text *out)
{
	int64_t end = mono_now_ms() + wait_ms, left;

	while ((left = end - mono_now_ms()) > 0) {
		struct pollfd pfd[2] = { { .fd = r->fd[0], .events = POLLIN },
					 { .fd = r->fd[1], .events = POLLIN } };

		poll(pfd, 2, (int)left);
		for (int i = 0; i < 2; i++)
			if (pfd[i].revents && read_answer(r, r->fd[i], out))
				return true;
	}
	return false;
}

static bool exchange(struct redeemer *r, struct invitation_text *out)
{
	for (size_t i = 0; i < array_size(waits_ms) && r->n; i++) {
		send_all(r);
		if (wait_for_answer(r, waits_ms[i], out))
			return true;
	}
	return false;
}

/* --- the result --- */

/* The clock of the member decides, so the local clock gives a hint only. */
static void expiry_hint(const struct token *token, char *buf, size_t len)
{
	time_t end = (time_t)token->expires;
	struct tm tm;

	buf[0] = '\0';
	if (token->expires && time(NULL) > end)
		strftime(buf, len, " (it was valid until %Y-%m-%d %H:%M:%S UTC)",
			 gmtime_r(&end, &tm));
}

static int no_answer(const struct redeemer *r)
{
	char list[512] = "", when[64];

	for (unsigned i = 0; i < r->n; i++) {
		const struct endpoint *ep = &r->to[i].ep;
		int error = r->to[i].error;

		text_add(list, sizeof(list), ", ",
			 text_format("%s port %u%s%s%s", IP_TEXT(&ep->ip), ep->port,
				     error ? " (" : "", error ? strerror(error) : "",
				     error ? ")" : ""));
	}
	expiry_hint(r->token, when, sizeof(when));
	target_complain(r->t,
			"no answer from %s%s. The token has expired%s or was ended, or UDP does "
			"not reach the inviting member. Make a new token there, with an address "
			"within reach: leonctl invite ADDRESS. Where UDP is blocked, members "
			"with `transport tls` need: leonctl invite --with-secret there, and "
			"leonctl join TOKEN --tls-port PORT here",
			r->n ? list : "any address", r->unresolved, when);
	return EXIT_NO_ANSWER;
}

static int take(const struct redeemer *r, const struct invitation_text *text, struct token *token)
{
	if (text->status == INVITATION_USED_UP) {
		target_complain(r->t,
				"the token is used up: another machine has joined with it. If "
				"the machine is not yours, the secret has leaked. Make a new "
				"token on a member: leonctl invite");
		return EXIT_REFUSED;
	}
	snprintf(token->secret, sizeof(token->secret), "%s", text->secret);
	token->pbkdf2 = text->pbkdf2;
	return 0;
}

static bool is_permitted(const struct target *t, const struct token *token)
{
	const enum primitive needed[] = { PRIMITIVE_AES_256_GCM, PRIMITIVE_HMAC_SHA_256,
					  token->p256 ? PRIMITIVE_P256 : PRIMITIVE_X25519 };

	for (size_t i = 0; i < array_size(needed); i++) {
		if (primitive_is_permitted(needed[i]))
			continue;
		target_complain(t,
				"OpenSSL of this host does not permit %s, which the token needs; "
				"see default_properties in openssl.cnf",
				primitive_name(needed[i]));
		return false;
	}
	return true;
}

int redeem_token(const struct target *t, struct token *token)
{
	struct redeemer r = { .t = t, .token = token, .fd = { -1, -1 } };
	struct invitation_text text;
	int code = EXIT_REFUSED;

	if (is_permitted(t, token) && open_sockets(&r)) {
		resolve(&r);
		invitation_request(&r.request, token);
		code = exchange(&r, &text) ? take(&r, &text, token) : no_answer(&r);
	}
	for (int i = 0; i < 2; i++)
		if (r.fd[i] >= 0)
			close(r.fd[i]);
	x_wipe(&text, sizeof(text));
	x_wipe(&r, sizeof(r));
	return code;
}
