// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the configuration says of the datagrams that this node sends: their header fields and the mark
 * by which this host routes and filters them. Pure; control thread.
 */
#include <string.h>

#include "state/conf_section.h"

#define ECN_BITS 3

static void get_u8(struct jsonr_node *obj, const char *key, uint8_t max, uint8_t *out)
{
	uint32_t v;

	if (conf_get_u32(obj, key, 0, max, &v))
		*out = (uint8_t)v;
}

/* DSCP and the two bits of ECN, of which only routers and hosts that count marks may make use. */
static void get_class(struct jsonr_node *obj, const char *key, uint8_t *out)
{
	get_u8(obj, key, UINT8_MAX - ECN_BITS, out);
	if (*out & ECN_BITS)
		jsonr_fail_key(
			obj, key,
			"is %u and must be a multiple of 4: the last two bits are those of ECN",
			*out);
}

void conf_read_datagrams(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *parameters = jsonr_object(root, "parameters");
	struct jsonr_node *ip = jsonr_object(parameters, "ip");
	struct jsonr_node *ipv6 = jsonr_object(parameters, "ipv6");
	const char *s;

	get_class(ip, "tos", &c->tos);
	get_u8(ip, "ttl", UINT8_MAX, &c->ttl);
	get_class(ipv6, "tclass", &c->tclass);
	get_u8(ipv6, "hoplimit", UINT8_MAX, &c->hoplimit);
	conf_get_u32(root, "fwmark", 0, UINT32_MAX, &c->fwmark);
	if (!jsonr_str(ip, "df", &s))
		return;
	c->df_unset = strcmp(s, "unset") == 0;
	if (!c->df_unset && strcmp(s, "set") != 0)
		jsonr_fail_key(ip, "df", "must be set or unset");
}

bool conf_datagrams_differ(const struct conf *a, const struct conf *b)
{
	return a->tos != b->tos || a->ttl != b->ttl || a->tclass != b->tclass ||
	       a->hoplimit != b->hoplimit || a->df_unset != b->df_unset || a->fwmark != b->fwmark;
}
