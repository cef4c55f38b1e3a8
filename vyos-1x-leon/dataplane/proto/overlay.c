// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The façade of overlay.h: life cycle, configuration, notifications of the host. Creates and frees
 * the overlay, and connects the alarms of the agenda with their modules. Called by daemon/ (or the
 * simulation) on the control thread.
 */
#include "proto/overlay.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "proto/admit/admit.h"
#include "proto/measure/measure.h"
#include "proto/session/membership.h"
#include "proto/handshake/handshake.h"
#include "proto/share/share.h"
#include "proto/periodic.h"
#include "state/invitations.h"

/* --- life cycle --- */

struct overlay *overlay_new(struct loop *loop, const struct conf *conf, node_id_t self,
			    const struct overlay_ops *ops, void *arg, uint64_t rng_seed)
{
	struct overlay *o = x_new(struct overlay);
	uint8_t secret[DH_KEY_LEN];

	o->loop = loop;
	o->conf = conf;
	o->ops = *ops;
	o->arg = arg;
	o->self = self;
	o->vni = conf->vni;
	o->rng = rng_seed ? rng_seed : random_u64_nonzero();
	random_bytes(&o->hash_key, sizeof(o->hash_key));
	o->keys = rekey_keyring(o);
	random_bytes(secret, sizeof(secret));
	overlay_set_identity(o, secret);
	x_wipe(secret, sizeof(secret));
	o->rekey_after = REKEY_AFTER;
	o->nodes = nodedb_new(self, conf->nodes_maximum);
	o->lat = latdb_new();
	o->invitations = invitations_new();
	o->log = LOG_LIMIT_INIT(5, 10);
	answer_init(o);
	multicast_init(o);
	asymmetry_init(o);
	endpoint_init(o);
	pairs_init(o);
	paths_init(o);
	topology_init(o);
	trust_init(o);
	alarm_init(o, &o->announce, rows_announce, o);
	alarm_init(o, &o->run, paths_run, o);
	alarm_init(o, &o->snapshot, paths_snapshot, o);
	alarm_init(o, &o->pinging, ping_due, o);
	seed_configure(o, NULL);
	o->n_lines = 1;
	o->line[0] = (struct overlay_line){ .v4 = true, .v6 = true };
	return o;
}

void overlay_free(struct overlay *o)
{
	if (!o)
		return;
	peer_free_all(o);
	ping_free(o);
	seed_free(o);
	answer_free(o);
	multicast_free(o);
	paths_free(o);
	pairs_free(o);
	topology_free(o);
	free(o->locator);
	free(o->asymmetry);
	free(o->query_limit);
	free(o->trust);
	alarm_free(&o->periodic);
	alarm_free(&o->looking);
	alarm_free(&o->announce);
	alarm_free(&o->run);
	alarm_free(&o->snapshot);
	alarm_free(&o->pinging);
	latdb_free(o->lat);
	nodedb_free(o->nodes);
	invitations_free(o->invitations);
	keyring_free(o->keys);
	x_wipe(&o->identity, sizeof(o->identity));
	free(o);
}

void overlay_set_workers(struct overlay *o, unsigned n)
{
	keyring_set_data(o->keys, rekey_offer(o->conf), n);
}

void overlay_set_lines(struct overlay *o, const struct overlay_line *line, unsigned n)
{
	o->n_lines = (uint8_t)min_of(max_of(n, 1u), (unsigned)LINES_MAX);
	memcpy(o->line, line, o->n_lines * sizeof(o->line[0]));
}

struct invitations *overlay_invitations(const struct overlay *o)
{
	return o->invitations;
}

const uint8_t *overlay_identity(const struct overlay *o)
{
	return o->identity.public;
}

void overlay_start(struct overlay *o)
{
	if (o->started)
		return;
	o->started = true;
	overlay_emit(o, EV_STARTED, o->self, NODE_ID_NONE, 0, NULL);
	own_start(o);
	periodic_start(o);
	seed_start(o);
	sync_start(o);
	schedule_snapshot(o);
}

void overlay_leave(struct overlay *o)
{
	if (!o->started)
		return;
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		alarm_set(&p->tick, MONO_NEVER);
	own_leave(o);
	alarm_set(&o->periodic, MONO_NEVER);
	alarm_set(&o->looking, MONO_NEVER);
	alarm_set(&o->seeding, MONO_NEVER);
	alarm_set(&o->announce, MONO_NEVER);
	alarm_set(&o->announcing_groups, MONO_NEVER);
	alarm_set(&o->answering, MONO_NEVER);
	alarm_set(&o->run, MONO_NEVER);
}

/* The record and the interval of PINGs may have changed. Peers learn a new address of this node
 * from any message. */
static void renew(struct overlay *o)
{
	if (!o->started || o->leaving)
		return;
	own_refresh(o, false);
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		schedule_probe(o, p);
}

void overlay_set_conf(struct overlay *o, const struct conf *conf)
{
	const struct conf *old = o->conf;

	/* Nodes were silent for the former interval. */
	if (old && conf->interval_ms < old->interval_ms) {
		o->former_alive_ms = peer_alive_ms(o);
		o->former_until = mono_add_ms(overlay_now(o), o->former_alive_ms);
	}
	o->conf = conf;
	nodedb_set_maximum(o->nodes, conf->nodes_maximum);
	seed_configure(o, old);
	rekey_configure(o, old);
	expel_untrusted(o);
	segmentation_configure(o, old);
	multicast_configure(o, old);
	if (!o->started || o->leaving)
		return;
	renew(o);
	pairs_apply_conf(o);
	schedule_paths_now(o);
}

void overlay_set_locators(struct overlay *o, const struct endpoint *ep, unsigned n)
{
	o->locator = x_realloc(o->locator, n, sizeof(*ep));
	o->n_locators = 0;
	for (unsigned i = 0; i < n; i++)
		if (endpoint_is_usable(&ep[i]))
			o->locator[o->n_locators++] = ep[i];
	renew(o);
}

void overlay_set_mapped(struct overlay *o, const struct endpoint *ep)
{
	o->mapped = ep && endpoint_is_usable(ep) ? *ep : (struct endpoint){ .port = 0 };
	renew(o);
}

/* --- notifications of the host --- */

void overlay_link_used(struct overlay *o, uint16_t slot)
{
	struct peer *p = peer_at(o, slot);

	if (p)
		probe_used(o, p);
}

void overlay_link_floods(struct overlay *o, uint16_t slot)
{
	if (!lazy_permitted(o))
		overlay_link_used(o, slot);
}

void overlay_probe(struct overlay *o, uint16_t slot)
{
	struct peer *p = peer_at(o, slot);

	if (p && p->probe.up)
		schedule_probe(o, p);
}

void overlay_link_error(struct overlay *o, const struct endpoint *ep)
{
	/* ICMP errors can be forged, so each causes at most one probe per fast interval. */
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		if (p->probe.up && endpoint_equal(&p->ep, ep))
			schedule_probe(o, p);
}
