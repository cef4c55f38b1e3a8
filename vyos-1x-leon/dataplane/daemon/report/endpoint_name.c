// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of endpoints for people, see endpoint_name.h.
 */
#include "daemon/report/endpoint_name.h"

#include "daemon/leond.h"

char *endpoint_name(const struct leond *d, const struct endpoint *ep, char *buf, size_t len)
{
	for (uint32_t i = 0; i < d->n_stream_links; i++)
		if (endpoint_equal(&d->stream_link[i].local, ep))
			return endpoint_format(&d->stream_link[i].remote, buf, len);
	return endpoint_format(ep, buf, len);
}
