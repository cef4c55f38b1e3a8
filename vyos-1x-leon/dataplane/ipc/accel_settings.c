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

static void put_selection(struct wbuf *b, const struct accel_selection *s)
{
	wbuf_u8(b, s->n_prefixes);
	for (unsigned i = 0; i < s->n_prefixes; i++) {
		wbuf_u8(b, s->prefix[i].ip.family);
		wbuf_bytes(b, s->prefix[i].ip.b, sizeof(s->prefix[i].ip.b));
		wbuf_u8(b, s->prefix[i].len);
	}
	wbuf_u8(b, s->n_ports);
	for (unsigned i = 0; i < s->n_ports; i++) {
		wbuf_u16(b, s->port[i].first);
		wbuf_u16(b, s->port[i].last);
	}
}

static void take_prefix(struct rbuf *b, struct prefix *p)
{
	const uint8_t *bytes;

	p->ip.family = rbuf_u8(b);
	bytes = rbuf_take(b, sizeof(p->ip.b));
	p->len = rbuf_u8(b);
	b->ok &= p->ip.family == 4 || p->ip.family == 6;
	if (!bytes || !b->ok)
		return;
	memcpy(p->ip.b, bytes, sizeof(p->ip.b));
	b->ok &= p->len <= prefix_host_len(&p->ip);
}

static void take_selection(struct rbuf *b, struct accel_selection *s)
{
	s->n_prefixes = rbuf_u8(b);
	b->ok &= s->n_prefixes <= ACCEL_PREFIXES_MAX;
	for (unsigned i = 0; b->ok && i < s->n_prefixes; i++)
		take_prefix(b, &s->prefix[i]);
	s->n_ports = rbuf_u8(b);
	b->ok &= s->n_ports <= ACCEL_PORTS_MAX;
	for (unsigned i = 0; b->ok && i < s->n_ports; i++) {
		s->port[i].first = rbuf_u16(b);
		s->port[i].last = rbuf_u16(b);
	}
}

void accel_settings_put(struct wbuf *b, const struct accel_settings *s)
{
	wbuf_u8(b, s->mode);
	wbuf_u32(b, s->threshold_us);
	wbuf_u32(b, s->segments);
	wbuf_u32(b, s->maximum);
	wbuf_u32(b, s->undelivered);
	wbuf_u8(b, s->cache_log);
	put_selection(b, &s->include);
	put_selection(b, &s->exclude);
}

void accel_settings_take(struct rbuf *b, struct accel_settings *s)
{
	*s = (struct accel_settings){ .mode = rbuf_u8(b) };
	s->threshold_us = rbuf_u32(b);
	s->segments = rbuf_u32(b);
	s->maximum = rbuf_u32(b);
	s->undelivered = rbuf_u32(b);
	s->cache_log = rbuf_u8(b);
	b->ok &= s->mode < ACCEL_MODES;
	b->ok &= !s->cache_log || (s->cache_log >= CACHE_LOG_MIN && s->cache_log <= CACHE_LOG_MAX);
	take_selection(b, &s->include);
	take_selection(b, &s->exclude);
}

bool accel_settings_equal(const struct accel_settings *a, const struct accel_settings *b)
{
	uint8_t one[SETTINGS_LEN], other[SETTINGS_LEN];
	struct wbuf x = wbuf_of(one, sizeof(one)), y = wbuf_of(other, sizeof(other));

	accel_settings_put(&x, a);
	accel_settings_put(&y, b);
	return wbuf_len(&x) == wbuf_len(&y) && memcmp(one, other, wbuf_len(&x)) == 0;
}
