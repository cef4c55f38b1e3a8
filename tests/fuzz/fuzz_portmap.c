// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz target of the reports of leon-portmap, which a hostile gateway may control. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "ipc/portmap_control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct portmap_report p = { 0 };
	char text[ENDPOINT_STRLEN];
	size_t n;

	if (len)
		memcpy(&p, data, len < sizeof(p) ? len : sizeof(p));
	if (!portmap_report_check(&p))
		return 0;
	n = strnlen(p.reason, sizeof(p.reason));
	if (n == sizeof(p.reason))
		abort();
	for (size_t i = 0; i < n; i++)
		if (p.reason[i] < ' ' || p.reason[i] > '~')
			abort();
	if (p.news != PORTMAP_MAPPED)
		return 0;
	if (!endpoint_is_usable(&p.external) || p.external.ip.family != 4 || p.external.line ||
	    p.lifetime_s == 0 || p.lifetime_s > PORTMAP_LIFETIME_MAX ||
	    !portmap_method_name(p.method))
		abort();
	endpoint_format(&p.external, text, sizeof(text));
	return 0;
}
