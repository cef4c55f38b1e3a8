// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The façade of overlay.h: life cycle, the first look at each datagram, configuration, what the
 * daemon reads. Called by daemon/ (or the simulation) on the control thread.
 */
#include "proto/overlay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "proto/core.h"

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
	identity_set(o, secret);
	x_wipe(secret, sizeof(secret));
	o->rekey_after = REKEY_AFTER;
	o->nodes = nodedb_new(self, conf->nodes_maximum);
	o->lat = latdb_new();
	o->answer = x_calloc(ANSWERS_MAX, sizeof(struct answer));
	o->log = LOG_LIMIT_INIT(5, 10);
	alarm_init(o, &o->upkeep, member_upkeep, o);
	alarm_init(o, &o->answering, sync_answer_some, o);
	alarm_init(o, &o->announce, share_announce, o);
	alarm_init(o, &o->routing, route_run, o);
	alarm_init(o, &o->changed, route_tell, o);
	alarm_init(o, &o->pinging, ping_due, o);
	seed_configure(o, NULL);
	return o;
}

void overlay_free(struct overlay *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i])
			peer_drop(o, o->by_slot[i]);
	while (o->n_pending)
		peer_drop(o, o->pending[0]);
	peer_bury(o);
	ping_free(o);
	seed_free(o);
	route_free(o);
	alarm_free(&o->upkeep);
	alarm_free(&o->answering);
	alarm_free(&o->announce);
	alarm_free(&o->routing);
	alarm_free(&o->changed);
	alarm_free(&o->pinging);
	free(o->by_slot);
	free(o->answer);
	latdb_free(o->lat);
	nodedb_free(o->nodes);
	keyring_free(o->keys);
	x_wipe(&o->identity, sizeof(o->identity));
	free(o);
}

void overlay_set_workers(struct overlay *o, unsigned n)
{
	keyring_set_data(
		o->keys,
		seal_offer(o->conf->cipher, o->conf->encryption_disable, aead_aes_is_fast()), n);
}

void overlay_set_identity(struct overlay *o, const uint8_t secret[32])
{
	identity_set(o, secret);
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
	member_start(o);
	seed_start(o);
	sync_start(o);
	route_changed(o);
}

void overlay_set_conf(struct overlay *o, const struct conf *conf)
{
	const struct conf *old = o->conf;

	o->conf = conf;
	nodedb_set_maximum(o->nodes, conf->nodes_maximum);
	seed_configure(o, old);
	rekey_configure(o, old);
	trust_configure(o);
	if (!o->started || o->leaving)
		return;
	member_refresh_own(o, false);
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i])
			probe_soon(o, o->by_slot[i]);
	route_now(o);
}

void overlay_set_locators(struct overlay *o, const struct endpoint *ep, unsigned n)
{
	o->n_locators = 0;
	for (unsigned i = 0; i < n && o->n_locators < MSG_LOCATORS_MAX; i++)
		if (endpoint_is_usable(&ep[i]))
			o->locator[o->n_locators++] = ep[i];
	if (!o->started || o->leaving)
		return;
	member_refresh_own(o, false);
	/* Our address may have changed: whoever hears from us learns the new one. */
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i])
			probe_soon(o, o->by_slot[i]);
}

void overlay_set_prefixes(struct overlay *o, const struct prefix *p, unsigned n)
{
	o->prefixes_are_given = true;
	o->n_prefixes = (uint8_t)min_of(n, (unsigned)MSG_PREFIXES_MAX);
	if (n)
		memcpy(o->prefix, p, o->n_prefixes * sizeof(*p));
	if (o->started && !o->leaving)
		member_refresh_own(o, false);
}

void overlay_set_lan(struct overlay *o, uint16_t lan_flags)
{
	o->lan_flags = lan_flags & RECORD_LAN_MASK;
	if (o->started && !o->leaving)
		member_refresh_own(o, false);
}

/* --- input --- */

void overlay_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		   mono_t rx)
{
	struct leon_hdr h;
	size_t hdr_len;
	uint64_t session;

	peer_bury(o);
	if (!o->started || o->leaving)
		return;
	o->count.rx_msgs++;
	o->count.rx_bytes += len;
	if (leon_decode(data, len, &h, &hdr_len) != LEON_OK || h.kind != LEON_CONTROL ||
	    h.vni != o->vni || !leon_is_last(&h) || !leon_is_for(&h, o->self) ||
	    h.source == NODE_ID_ANY) {
		o->count.rx_malformed++;
		return;
	}
	if (h.flags & LEON_F_LINK_VALUE) {
		/* It was for the relays. */
		data = leon_remove_link(data, h.n_hops);
		len -= LEON_LINK_LEN;
		hdr_len -= LEON_LINK_LEN;
	}
	if (!envelope_session(data, hdr_len, len, &session)) {
		o->count.rx_malformed++;
		return;
	}
	if (session != 0 && h.source == o->self) {
		o->count.rx_malformed++;
		return;
	}
	if (session == 0)
		hello_input(o, from, data, len, &h, hdr_len);
	else
		peer_session_input(o, from, data, len, &h, hdr_len, rx);
	peer_bury(o);
}

void overlay_link_used(struct overlay *o, uint16_t slot)
{
	struct peer *p = peer_at(o, slot);
	bool idle;

	if (!p)
		return;
	idle = mono_is_never(p->probe.used_until) ||
	       mono_before(p->probe.used_until, overlay_now(o));
	p->probe.used_until = mono_add_ms(overlay_now(o), 2000);
	if (!p->probe.up)
		return;
	if (idle)
		probe_soon(o, p);
	pmtu_used(o, p);
}

void overlay_link_suspect(struct overlay *o, const struct endpoint *ep)
{
	for (uint32_t i = 0; i < o->cap_slots; i++) {
		struct peer *p = o->by_slot[i];

		/* Anybody can forge an ICMP error: it may cost one probe per fast interval. */
		if (p && p->probe.up && endpoint_equal(&p->ep, ep))
			probe_soon(o, p);
	}
}

/* --- looking at it --- */

#define RIVAL_SHOWN_MS 120000 /* after the last sign; they come every ten seconds */

struct nodedb *overlay_nodes(struct overlay *o)
{
	return o->nodes;
}

const struct latdb *overlay_latdb(const struct overlay *o)
{
	return o->lat;
}

const struct choice *overlay_choice(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p ? &p->choice : NULL;
}

const struct keyring *overlay_keyring(const struct overlay *o)
{
	return o->keys;
}

const struct overlay_counters *overlay_counters(const struct overlay *o)
{
	return &o->count;
}

/* It says so itself, or is reached at an address that it does not list (yet). */
static bool is_behind_nat(const struct node *n, const struct endpoint *ep)
{
	if (!n || !n->has_record || !ep->ip.family)
		return false;
	if (n->rec.flags & RECORD_BEHIND_NAT)
		return true;
	for (unsigned i = 0; i < n->rec.n_locators; i++)
		if (endpoint_equal(&n->rec.locator[i], ep))
			return false;
	return true;
}

/* Which secret is its own, as its last handshake said. */
static enum link_secret secret_of(const struct overlay *o, const struct peer *p)
{
	uint32_t id[SECRETS_MAX];

	if (p->estranged)
		return LINK_SECRET_OTHER;
	if (!p->cur || !keyring_sealed(o->keys))
		return LINK_SECRET_NONE;
	keyring_ids(o->keys, id);
	return p->secrets[0] == id[0] ? LINK_SECRET_OWN : LINK_SECRET_ACCEPTED;
}

bool overlay_rival(const struct overlay *o, uint16_t slot, struct overlay_rival *out)
{
	const struct peer *p = slot == SLOT_SELF ? NULL : peer_at(o, slot);
	const struct rival *r = slot == SLOT_SELF ? &o->rival : p ? &p->rival : NULL;

	if (!r || mono_is_never(r->at) || mono_sub_ms(overlay_now(o), r->at) > RIVAL_SHOWN_MS)
		return false;
	*out = (struct overlay_rival){
		.seen = r->at, .ep = r->ep, .same_identity = r->same_identity, .by = r->by
	};
	return true;
}

unsigned overlay_estranged(const struct overlay *o, node_id_t *id, unsigned max)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < o->cap_slots; i++) {
		const struct peer *p = o->by_slot[i];

		if (!p || !p->cur || !p->estranged)
			continue;
		if (n < max)
			id[n] = p->id;
		n++;
	}
	return n;
}

bool overlay_link(const struct overlay *o, uint16_t slot, struct overlay_link *out)
{
	const struct peer *p = peer_at(o, slot);

	if (!p)
		return false;
	*out = (struct overlay_link){
		.up = p->probe.up,
		.silent = p->probe.up && p->probe.silent,
		.session = p->cur != NULL,
		.ep = p->ep,
		.behind_nat = is_behind_nat(peer_node(p->o, p), &p->ep),
		.filter = p->probe.filter,
		.mtu = p->pmtu.mtu,
		.secret = secret_of(o, p),
		.session_ends = p->cur && p->estranged ? p->ends : MONO_NEVER,
		.up_since = p->probe.up_since,
		.last_heard = p->heard_direct,
		.cipher = p->data.tx ? seal_cipher(p->data.tx) : SEAL_NONE,
		.probe_ms = probe_interval_ms(o, p, overlay_now(o)),
		.probes_tx = p->probe.tx,
		.probes_lost = p->probe.lost,
		.silences = p->probe.silences,
		.data_tx = p->loss.link.sent,
		.data_lost = p->loss.link.lost,
		.data_loss_pm = p->loss.link_pm,
	};
	return true;
}

unsigned overlay_path_data(const struct overlay *o, uint16_t slot, uint64_t *tx, uint64_t *lost,
			   const uint16_t **distrusted)
{
	const struct peer *p = peer_at(o, slot);

	*tx = p ? p->loss.path.sent : 0;
	*lost = p ? p->loss.path.lost : 0;
	*distrusted = p ? p->loss.distrusted : NULL;
	return p && loss_is_distrusting(o, p) ? p->loss.n_distrusted : 0;
}

void overlay_fill_snap(struct overlay *o, struct snap *s)
{
	uint16_t n_slots = nodedb_slots(o->nodes);
	uint16_t n = (uint16_t)min_of(s->n_slots, n_slots);

	s->secret = keyring_sealed(o->keys);
	for (uint16_t i = 0; i < n; i++) {
		const struct node *node = nodedb_at(o->nodes, i);
		struct snap_node *sn = &s->node[i];
		const struct peer *p = peer_at(o, i);

		if (i == SLOT_SELF)
			sn->id = o->self;
		if (!node || !p || node->state == NODE_LEFT)
			continue;
		sn->id = node->id;
		sn->link_up = p->probe.up;
		sn->ep = p->ep;
		sn->link_mtu = p->pmtu.mtu;
		snap_set_keys(s, i, p->data.tx, p->data.rx, p->data.rx_before);
		if (p->choice.path.n_hops == 0)
			continue;
		snap_set_route(s, i, p->choice.path.hop, p->choice.path.n_hops,
			       p->choice.path.mtu ? p->choice.path.mtu : MTU_BASE);
	}
}

const char *overlay_event_name(enum overlay_event_kind k)
{
	static const char *const names[] = {
		[EV_DATA_LOSS] = "data-loss",
		[EV_DATA_PASSES] = "data-passes",
		[EV_CONTRADICTION] = "latency-contradiction",
		[EV_IDENTITY_CHANGED] = "identity-changed",
		[EV_STARTED] = "started",
		[EV_JOINED] = "joined",
		[EV_RETURNED] = "returned",
		[EV_LEFT] = "left",
		[EV_FORGOTTEN] = "forgotten",
		[EV_REACHABLE] = "reachable",
		[EV_UNREACHABLE] = "unreachable",
		[EV_LINK_UP] = "link-up",
		[EV_LINK_DOWN] = "link-down",
		[EV_LINK_MTU] = "link-mtu",
		[EV_ENDPOINT] = "endpoint",
		[EV_PATH] = "path",
		[EV_LAN_FLAPPING] = "lan-flapping",
		[EV_NOTICE] = "notice",
		[EV_NOT_TRUSTED] = "identity-not-trusted",
		[EV_DUPLICATE_ID] = "duplicate-id",
		[EV_TABLE_FULL] = "table-full",
		[EV_SECRET_DIFFERS] = "secret-differs",
		[EV_SECRET_MISMATCH] = "secret-mismatch",
	};

	return (unsigned)k < array_size(names) ? names[k] : "unknown";
}
