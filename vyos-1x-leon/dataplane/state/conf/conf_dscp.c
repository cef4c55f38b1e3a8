// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads DSCP values and the section `dscp`, which marks LEON's own datagrams. Pure; control thread.
 */
#include "state/conf/conf_section.h"
#include "wire/frame/ecn.h"

bool conf_dscp(const char *s, uint8_t *out)
{
	unsigned long number;

	if (policy_dscp_parse(s, out))
		return true;
	if (!conf_number(s, DSCP_MAX, &number))
		return false;
	*out = (uint8_t)number;
	return true;
}

static void read_one(struct jsonr_node *obj, const char *key, uint8_t *out)
{
	const char *s;

	if (jsonr_str(obj, key, &s) && !conf_dscp(s, out))
		jsonr_fail_key(obj, key,
			       "is \"%.64s\" and must be a name such as ef, cs6 or af41, or a "
			       "number from 0 to %d",
			       s, DSCP_MAX);
}

void conf_read_dscp(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *obj = jsonr_object(root, "dscp");

	c->dscp_set = c->dscp_control = CONF_DSCP_NONE;
	read_one(obj, "set", &c->dscp_set);
	read_one(obj, "control", &c->dscp_control);
	if (c->dscp_copy && c->dscp_set != CONF_DSCP_NONE)
		jsonr_fail_key(obj, "set", "and copy exclude each other; delete one of them");
}
