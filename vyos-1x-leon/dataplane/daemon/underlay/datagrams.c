// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applies header fields and fwmark of sent datagrams from the configuration to the sockets of all
 * workers, which may send concurrently. Control thread.
 */
#include "daemon/leond.h"
#include "daemon/underlay/datagrams.h"
#include "daemon/underlay/lines.h"
#include "io/udp.h"
#include "state/conf/conf.h"

int datagrams_apply_conf(struct leond *d)
{
	const struct conf *c = d->conf;
	const struct udp_marking m = { .tos = c->tos,
				       .ttl = c->ttl,
				       .tclass = c->tclass,
				       .hoplimit = c->hoplimit,
				       .df_unset = c->df_unset,
				       .fwmark = c->fwmark };

	int first = udp_set_marking(d->udp, &m), second = udp_set_marking(lines_udp(d, 1), &m);

	return first ? first : second;
}
