// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Helpers shared by all sections of the configuration, see conf_section.h. Pure; control thread.
 */
#include "state/conf/conf_section.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define DNS_LABEL_MAX 63
#define NAME_LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

bool conf_get_u32(struct jsonr_node *obj, const char *key, uint32_t min, uint32_t max,
		  uint32_t *out)
{
	uint64_t v;

	if (!jsonr_u64(obj, key, min, max, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

static struct jsonr_node *limited(struct jsonr_node *n, uint32_t max, const char *what)
{
	if (jsonr_len(n) > max)
		jsonr_fail(n, "has more than %u %s", max, what);
	return n;
}

struct jsonr_node *conf_list(struct jsonr_node *obj, const char *key, uint32_t max,
			     const char *what)
{
	return limited(jsonr_array(obj, key), max, what);
}

struct jsonr_node *conf_map(struct jsonr_node *obj, const char *key, uint32_t max, const char *what)
{
	return limited(jsonr_object(obj, key), max, what);
}

void conf_get_path(struct jsonr_node *obj, const char *key, char *out, size_t size)
{
	const char *s;

	if (!jsonr_str(obj, key, &s))
		return;
	if (s[0] != '/' || strlen(s) >= size)
		jsonr_fail_key(obj, key, "must be an absolute path of at most %zu characters",
			       size - 1);
	else
		snprintf(out, size, "%s", s);
}

bool conf_is_node_name(const char *s)
{
	size_t len = strlen(s);

	return len > 0 && len <= MSG_NAME_MAX && ascii_is_word(s, len);
}

bool conf_number(const char *s, unsigned long max, unsigned long *out)
{
	bool is_hex = s[0] == '0' && s[1] == 'x';
	char *end;

	errno = 0;
	*out = strtoul(s, &end, is_hex ? 16 : 10);
	return s[0] >= '0' && s[0] <= '9' && !*end && !errno && *out <= max;
}

/* Returns true if the kernel accepts the name of a network interface. */
static bool is_ifname(const char *s)
{
	size_t len = strlen(s);

	if (len == 0 || len > CONF_IFNAME_MAX || strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
		return false;
	for (; *s; s++)
		if (!isgraph((unsigned char)*s) || *s == '/' || *s == ':' || *s == '%')
			return false;
	return true;
}

void conf_get_ifname(struct jsonr_node *obj, const char *key, char out[CONF_IFNAME_MAX + 1])
{
	const char *s;

	if (!jsonr_str(obj, key, &s))
		return;
	if (!is_ifname(s))
		jsonr_fail_key(obj, key,
			       "must be an interface name of 1 to %d characters without "
			       "spaces, \"/\", \":\" and \"%%\"",
			       CONF_IFNAME_MAX);
	else
		snprintf(out, CONF_IFNAME_MAX + 1, "%s", s);
}

void conf_get_address(struct jsonr_node *obj, const char *key, struct ip_addr *out)
{
	struct ip_addr ip;
	const char *s;

	if (!jsonr_str(obj, key, &s))
		return;
	if (ip_parse(s, &ip) < 0 || !ip_is_usable(&ip) || ip_is_v6_link_local(&ip))
		jsonr_fail_key(obj, key,
			       "must be a unicast IP address that is not of one link only, found "
			       "\"%.64s\"",
			       s);
	else
		*out = ip;
}

void conf_get_name(struct jsonr_node *obj, const char *of, const char *name, char *out, size_t size)
{
	size_t len = strlen(name);

	if (!len || len >= size || strspn(name, NAME_LETTERS) != len)
		jsonr_fail(obj,
			   "a %s's name must have 1 to %zu letters, digits, \".\", \"_\" or \"-\"",
			   of, size - 1);
	else
		memcpy(out, name, len + 1);
}

static bool is_dns_label(const char *s, size_t len)
{
	if (len == 0 || len > DNS_LABEL_MAX || s[0] == '-' || s[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '-')
			return false;
	return true;
}

/* A last label of digits only is a mistyped IPv4 address, not a name (RFC 1123 section 2.1). */
bool conf_is_dns_name(const char *s)
{
	size_t len = strlen(s);
	const char *label = s;

	if (len == 0 || len > CONF_HOST_MAX)
		return false;
	for (;;) {
		size_t n = strcspn(label, ".");

		if (!is_dns_label(label, n))
			return false;
		if (label[n] == '\0' || label[n + 1] == '\0')
			return strspn(label, "0123456789") < n;
		label += n + 1;
	}
}
