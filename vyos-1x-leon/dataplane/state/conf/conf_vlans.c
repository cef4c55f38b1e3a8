// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads `vlan`: the VLANs that this node serves. Pure; control thread.
 */
#include <stdio.h>
#include <string.h>

#include "state/conf/conf_section.h"

#define VLAN_TEXT_MAX 16

/* Parses "10" or "20-29". */
static bool parse_range(const char *s, struct id_range *r)
{
	char first[VLAN_TEXT_MAX];
	const char *dash = strchr(s, '-');
	unsigned long from, to;

	if (!dash)
		dash = s + strlen(s);
	if ((size_t)(dash - s) >= sizeof(first))
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)(dash - s), s);
	if (!conf_number(first, CONF_VLAN_MAX, &from) ||
	    !conf_number(*dash ? dash + 1 : first, CONF_VLAN_MAX, &to) || from > to)
		return false;
	*r = (struct id_range){ (uint32_t)from, (uint32_t)to };
	return true;
}

void conf_read_vlans(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *list = jsonr_array(root, "vlan");
	struct id_range r;
	const char *s;

	if (jsonr_len(list) > CONF_VLANS_MAX) {
		jsonr_fail(list, "has more than %d entries; write ranges such as 20-29",
			   CONF_VLANS_MAX);
		return;
	}
	for (size_t i = 0; i < jsonr_len(list) && jsonr_str_at(list, i, &s); i++) {
		if (!parse_range(s, &r)) {
			jsonr_fail(list,
				   "\"%.64s\" is no VLAN; write a number such as 10 or a range "
				   "such as 20-29, from 0 (untagged frames) to %d",
				   s, CONF_VLAN_MAX);
			return;
		}
		c->has_vlans = true;
		vlan_set_add_range(&c->vlans, (uint16_t)r.first, (uint16_t)r.last);
	}
}

bool conf_vlans_differ(const struct conf *a, const struct conf *b)
{
	return a->has_vlans != b->has_vlans || !vlan_set_equal(&a->vlans, &b->vlans);
}
