// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selection of connections for interception, see accel_settings.h. Pure.
 */
#include "ipc/accel_settings.h"

#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"

#define CACHE_LOG_MIN 20
#define CACHE_LOG_MAX 27
#define SETTINGS_LEN  (64 + 2 * (2 + ACCEL_PREFIXES_MAX * 18 + ACCEL_PORTS_MAX * 4))

/* --- selection --- */

static bool has_host(const struct accel_selection *s, const struct ip_addr *a,
		     const struct ip_addr *b)
{
	for (unsigned i = 0; i < s->n_prefixes; i++)
		if (prefix_has(&s->prefix[i], a) || prefix_has(&s->prefix[i], b))
			return true;
	return false;
}

static bool is_among(const struct accel_ports *p, uint16_t port)
{
	return p->first <= port && port <= p->last;
}

static bool has_port(const struct accel_selection *s, uint16_t a, uint16_t b)
{
	for (unsigned i = 0; i < s->n_ports; i++)
		if (is_among(&s->port[i], a) || is_among(&s->port[i], b))
			return true;
	return false;
}

bool accel_settings_admit(const struct accel_settings *s, const struct ip_addr *a,
			  const struct ip_addr *b, uint16_t a_port, uint16_t b_port)
{
	const struct accel_selection *in = &s->include, *out = &s->exclude;

	if (in->n_prefixes && !has_host(in, a, b))
		return false;
	if (in->n_ports && !has_port(in, a_port, b_port))
		return false;
	return !has_host(out, a, b) && !has_port(out, a_port, b_port);
}

/* --- text --- */

static bool take_port(const char **s, uint16_t *out)
{
	char *end;
	unsigned long n;

	if (**s < '1' || **s > '9')
		return false;
	n = strtoul(*s, &end, 10);
	*s = end;
	*out = (uint16_t)n;
	return n <= UINT16_MAX;
}

bool accel_ports_parse(const char *s, struct accel_ports *out)
{
	struct accel_ports p;

	if (!take_port(&s, &p.first))
		return false;
	p.last = p.first;
	if (*s == '-') {
		s++;
		if (!take_port(&s, &p.last))
			return false;
	}
	if (*s || p.last < p.first)
		return false;
	*out = p;
	return true;
}

/* --- bytes --- */

static void code_prefix(struct codec *b, struct prefix *p)
{
	code_u8(b, &p->ip.family);
	code_bytes(b, p->ip.b, sizeof(p->ip.b));
	code_u8(b, &p->len);
	if (b->in)
		b->in->ok &= (p->ip.family == 4 || p->ip.family == 6) &&
			     p->len <= prefix_host_len(&p->ip);
}

static void code_selection(struct codec *b, struct accel_selection *s)
{
	for (unsigned i = 0, n = code_count(b, &s->n_prefixes, ACCEL_PREFIXES_MAX); i < n; i++)
		code_prefix(b, &s->prefix[i]);
	for (unsigned i = 0, n = code_count(b, &s->n_ports, ACCEL_PORTS_MAX); i < n; i++) {
		code_u16(b, &s->port[i].first);
		code_u16(b, &s->port[i].last);
	}
}

void accel_settings_code(struct codec *b, struct accel_settings *s)
{
	code_u8(b, &s->mode);
	code_u32(b, &s->threshold_us);
	code_u32(b, &s->segments);
	code_u32(b, &s->maximum);
	code_u32(b, &s->undelivered);
	code_u8(b, &s->cache_log);
	if (b->in)
		b->in->ok &= s->mode < ACCEL_MODES &&
			     (!s->cache_log ||
			      (s->cache_log >= CACHE_LOG_MIN && s->cache_log <= CACHE_LOG_MAX));
	code_selection(b, &s->include);
	code_selection(b, &s->exclude);
}

bool accel_settings_equal(const struct accel_settings *a, const struct accel_settings *b)
{
	uint8_t one[SETTINGS_LEN], other[SETTINGS_LEN];
	struct wbuf x = wbuf_of(one, sizeof(one)), y = wbuf_of(other, sizeof(other));

	/* A codec that writes does not change the settings. */
	accel_settings_code(&(struct codec){ .out = &x }, (struct accel_settings *)a);
	accel_settings_code(&(struct codec){ .out = &y }, (struct accel_settings *)b);
	return wbuf_len(&x) == wbuf_len(&y) && memcmp(one, other, wbuf_len(&x)) == 0;
}
