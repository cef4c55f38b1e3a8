// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Warnings about permitted but ineffective configurations, printed by --check and logged at start.
 * A reload has only that of the secret. Control thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/defs.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/life/life.h"
#include "state/conf/conf.h"

#define SHORT_SECRET 16

static void peers_without_source(const struct conf *c, advice_fn fn, void *arg)
{
	bool any = c->source4.family == 0 && c->source6.family == 0;
	char text[256];

	for (uint32_t i = 0; i < c->n_peers && !any; i++) {
		const struct conf_peer *p = &c->peer[i];

		if (!p->is_ip || p->disable ||
		    (p->ep.ip.family == 4 ? c->source4.family : c->source6.family))
			continue;
		snprintf(text, sizeof(text),
			 "peer.%s.address: %.64s cannot be asked, since there is no source-address "
			 "of IPv%u",
			 p->name, p->host, p->ep.ip.family);
		fn(arg, text);
	}
}

/* leonctl generate secret draws 32 characters. */
const char *advice_of_secret(const struct conf *c)
{
	if (!c->secret || strlen(c->secret) >= SHORT_SECRET)
		return NULL;
	return "authentication.pre-shared-secret: fewer than 16 characters can be guessed; use the "
	       "output of: leonctl generate secret";
}

void advice_of(const struct conf *c, advice_fn fn, void *arg)
{
	const struct {
		bool holds;
		const char *text;
	} advices[] = {
		{ strcmp(c->source_interface, "lo") == 0,
		  "source-interface: lo does not lead to other hosts; configure an address as "
		  "source-address instead" },
		{ c->source4.family && c->source4.b[0] == 169 && c->source4.b[1] == 254,
		  "source-address: 169.254.0.0/16 reaches only nodes on the same link" },
		{ c->acceleration && !accelerator_is_installed(),
		  "acceleration: leon-accel is not installed, so no TCP connection is accelerated; "
		  "install the package leon-accel" },
		{ c->authentication_disable,
		  "authentication.disable: any host on the path can read and change all frames, "
		  "and any host that forges the address of a member can join" },
		{ advice_of_secret(c) != NULL, advice_of_secret(c) },
	};

	peers_without_source(c, fn, arg);
	for (size_t i = 0; i < array_size(advices); i++)
		if (advices[i].holds)
			fn(arg, advices[i].text);
}
