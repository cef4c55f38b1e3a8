// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Header fields and mark of the datagrams that this node sends, from the configuration to the
 * sockets of all workers, which may send meanwhile. Control thread.
 */
#include "daemon/host/datagrams.h"
#include "daemon/leond.h"

int datagrams_apply_conf(struct leond *d)
{
	const struct conf *c = d->conf;
	const struct udp_marking m = { .tos = c->tos,
				       .ttl = c->ttl,
				       .tclass = c->tclass,
				       .hoplimit = c->hoplimit,
				       .df_unset = c->df_unset,
				       .fwmark = c->fwmark };

	return udp_set_marking(&d->udp, &m);
}
