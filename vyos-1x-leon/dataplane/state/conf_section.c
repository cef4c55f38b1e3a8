// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Helpers shared by all sections of the configuration, see conf_section.h. Pure; control thread.
 */
#include "state/conf_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool conf_get_u32(struct jsonr_node *obj, const char *key, uint32_t min, uint32_t max,
		  uint32_t *out)
{
	uint64_t v;

	if (!jsonr_u64(obj, key, min, max, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

bool conf_is_node_name(const char *s)
{
	size_t len = strlen(s);

	if (len == 0 || len > MSG_NAME_MAX)
		return false;
	for (; *s; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return true;
}

bool conf_number(const char *s, unsigned long max, unsigned long *out)
{
	bool is_hex = s[0] == '0' && s[1] == 'x';
	char *end;

	errno = 0;
	*out = strtoul(s, &end, is_hex ? 16 : 10);
	return s[0] >= '0' && s[0] <= '9' && !*end && !errno && *out <= max;
}
