// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads `transport` of the configuration: files of the TLS server, and the proxy. Pure; control
 * thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "state/conf/conf_section.h"

#define PROXY_PORT 3128

/* Reads "host", "host:port" or "[address]:port". */
static bool read_place(const char *s, struct conf_proxy *p)
{
	const char *port = *s == '[' ? strstr(s, "]:") : strchr(s, ':');
	size_t len = strcspn(s, ":");
	unsigned long n;

	if (endpoint_parse(s, PROXY_PORT, &p->ep) == 0) {
		ip_format(&p->ep.ip, p->host, sizeof(p->host));
		return endpoint_is_usable(&p->ep);
	}
	p->ep = (struct endpoint){ .port = PROXY_PORT };
	if (len >= sizeof(p->host))
		return false;
	snprintf(p->host, sizeof(p->host), "%.*s", (int)len, s);
	if (port && (!conf_number(port + 1, UINT16_MAX, &n) || n == 0))
		return false;
	if (port)
		p->ep.port = (uint16_t)n;
	return conf_is_dns_name(p->host);
}

/* "http://user:password@host:port/"; a password may contain "@". */
static bool read_url(const char *s, struct conf_proxy *p)
{
	static const char scheme[] = "http://";
	char text[CONF_TLS_PROXY_MAX + 1], *at;
	size_t len = strlen(s);

	if (len > CONF_TLS_PROXY_MAX || strncmp(s, scheme, strlen(scheme)) != 0 ||
	    !ascii_is_word(s, len))
		return false;
	snprintf(text, sizeof(text), "%s", s + strlen(scheme));
	len = strlen(text);
	if (len && text[len - 1] == '/')
		text[len - 1] = '\0';
	at = strrchr(text, '@');
	if (!at)
		return read_place(text, p);
	*at = '\0';
	snprintf(p->login, sizeof(p->login), "%s", text);
	return strchr(text, ':') && read_place(at + 1, p);
}

static void check_peers(struct jsonr_node *root, const struct conf *c)
{
	for (uint32_t i = 0; i < c->n_peers && !c->transport_tls; i++)
		if (c->peer[i].tls_port)
			jsonr_fail_key(root, "transport",
				       "is missing; peer %s has a tls-port, which needs "
				       "\"transport\": { \"tls\": {} }",
				       c->peer[i].name);
}

void conf_read_transport(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *tls = jsonr_object(jsonr_object(root, "transport"), "tls");
	const char *s;

	conf_get_path(tls, "certificate", c->tls_certificate, sizeof(c->tls_certificate));
	conf_get_path(tls, "private-key", c->tls_key, sizeof(c->tls_key));
	if (!c->tls_certificate[0] != !c->tls_key[0])
		jsonr_fail(tls, "has only one of certificate and private-key; give both or none");
	/* No message contains the password. */
	if (jsonr_str(tls, "proxy", &s) && !read_url(s, &c->proxy))
		jsonr_fail_key(tls, "proxy",
			       "must be http://HOST:PORT or http://USER:PASSWORD@HOST:PORT");
	check_peers(root, c);
}

bool conf_transport_differs(const struct conf *a, const struct conf *b)
{
	/* TCP sockets have their mark from their creation. */
	return (a->transport_tls && a->fwmark != b->fwmark) ||
	       strcmp(a->tls_certificate, b->tls_certificate) != 0 ||
	       strcmp(a->tls_key, b->tls_key) != 0 || strcmp(a->proxy.host, b->proxy.host) != 0 ||
	       !endpoint_equal(&a->proxy.ep, &b->proxy.ep) ||
	       strcmp(a->proxy.login, b->proxy.login) != 0;
}
