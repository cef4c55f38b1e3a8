// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * state/conf: any text as the configuration file. A refusal has one sentence. An accepted
 * configuration can be compared with others, and equals itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "state/conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char plain[] = "{\"version\":1,\"interface\":\"leon0\","
				    "\"authentication\":{\"disable\":true}}";
	char err[256] = "", keys[256];
	struct conf *c = conf_parse((const char *)data, len, err, sizeof(err)), *other;

	if ((c != NULL) == (err[0] != '\0') || strchr(err, '\n'))
		abort();
	if (!c)
		return 0;
	other = conf_parse(plain, sizeof(plain) - 1, err, sizeof(err));
	if (!other || conf_diff(c, c))
		abort();
	conf_restart_keys(other, c, keys, sizeof(keys));
	if (!(conf_diff(other, c) & CONF_RESTART) != !keys[0])
		abort();
	conf_free(other);
	conf_free(c);
	return 0;
}
