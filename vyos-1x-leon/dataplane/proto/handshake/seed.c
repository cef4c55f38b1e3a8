// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configured peers (seeds): addresses to join through, with unknown node-ids. HELLOs are sent until
 * a session exists, and again after each loss of it, for ever; this merges a healed partition. Owns
 * struct seed. Control thread. Protocol 5.2.
 */
#include "proto/handshake/handshake.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CHECK_MS 2000 /* detection time of a lost seed */
#define START_MS 250  /* jitter of the start of many nodes */

static bool is_same_peer(const struct conf_peer *a, const struct conf_peer *b)
{
	return a->is_ip == b->is_ip && a->ep.port == b->ep.port && a->disable == b->disable &&
	       strcmp(a->host, b->host) == 0;
}

static const struct seed *find_old(const struct overlay *o, const struct conf *old,
				   const struct conf_peer *cp)
{
	for (unsigned i = 0; old && i < o->seeds.n; i++)
		if (is_same_peer(&old->peer[i], cp))
			return &o->seeds.seed[i];
	return NULL;
}

/* Withdraws the value on offer to a seed: a later answer is treated like that of a stranger. */
static void withdraw(struct seed *s)
{
	memset(s->value, 0, sizeof(s->value));
	ephemeral_wipe(&s->key);
	s->value_at = MONO_NEVER;
}

void seed_withdraw(struct overlay *o)
{
	for (unsigned i = 0; i < o->seeds.n; i++)
		withdraw(&o->seeds.seed[i]);
}

static void free_all(struct overlay *o)
{
	seed_withdraw(o);
	free(o->seeds.seed);
}

void seed_configure(struct overlay *o, const struct conf *old)
{
	unsigned n = o->conf->n_peers;
	struct seed *seed = x_calloc(n ? n : 1, sizeof(*seed));

	for (unsigned i = 0; i < n; i++) {
		const struct conf_peer *cp = &o->conf->peer[i];
		const struct seed *kept = find_old(o, old, cp);

		if (kept) {
			seed[i] = *kept;
		} else if (cp->is_ip && !cp->disable) {
			seed[i].ep[0] = cp->ep;
			seed[i].n = 1;
		}
	}
	free_all(o);
	o->seeds.seed = seed;
	o->seeds.n = n;
	if (o->started)
		alarm_sooner(&o->seeding, overlay_now(o));
}

void overlay_set_seed(struct overlay *o, unsigned index, const struct endpoint *ep, unsigned n)
{
	struct seed *s;

	if (index >= o->seeds.n)
		return;
	s = &o->seeds.seed[index];
	withdraw(s);
	s->n = 0;
	memset(s->found, 0, sizeof(s->found));
	for (unsigned i = 0; i < n && s->n < SEED_ENDPOINTS; i++)
		if (endpoint_is_usable(&ep[i]) || endpoint_is_stream(&ep[i]))
			s->ep[s->n++] = ep[i];
	/* seed_tick() sends nothing to a seed without addresses: its name is resolved again. */
	if (s->n == 0)
		s->alive = false;
	if (!o->started || s->alive)
		return;
	s->next_at = overlay_now(o);
	alarm_sooner(&o->seeding, s->next_at);
}

bool overlay_seed_wants_resolve(const struct overlay *o, unsigned index)
{
	return index < o->seeds.n && !o->seeds.seed[index].alive;
}

struct seed *seed_of_value(struct overlay *o, uint64_t value, unsigned *index)
{
	for (unsigned i = 0; i < o->seeds.n; i++) {
		for (unsigned k = 0; k < o->seeds.seed[i].n; k++) {
			if (o->seeds.seed[i].value[k] != value)
				continue;
			*index = k;
			return &o->seeds.seed[i];
		}
	}
	return NULL;
}

struct seed *seed_of_address(struct overlay *o, const struct ip_addr *ip)
{
	for (unsigned i = 0; i < o->seeds.n; i++)
		for (unsigned k = 0; k < o->seeds.seed[i].n; k++)
			if (ip_equal(&o->seeds.seed[i].ep[k].ip, ip))
				return &o->seeds.seed[i];
	return NULL;
}

static bool has_endpoint(const struct seed *s, const struct endpoint *ep)
{
	for (unsigned k = 0; k < s->n; k++)
		if (endpoint_same_address(&s->ep[k], ep))
			return true;
	return false;
}

/* Returns the node in session at one of the seed's addresses; NODE_ID_NONE: not reached. */
static node_id_t reached_by(struct overlay *o, const struct seed *s)
{
	struct peer *p = s->reached ? peer_find(o, s->reached) : NULL;

	if (p && peer_is_alive(o, p))
		return p->id;
	for (p = NULL; (p = peer_next(o, p));)
		if (peer_is_alive(o, p) && has_endpoint(s, &p->ep))
			return p->id;
	return NODE_ID_NONE;
}

bool overlay_seed(struct overlay *o, unsigned index, struct overlay_seed *out)
{
	const struct seed *s;

	if (index >= o->seeds.n)
		return false;
	s = &o->seeds.seed[index];
	*out = (struct overlay_seed){ .node = reached_by(o, s), .n = s->n };
	out->reached = out->node != NODE_ID_NONE;
	if (!out->reached)
		out->node = s->reached;
	for (unsigned k = 0; k < s->n; k++) {
		struct diagnosis f = diagnosis_now(o, &s->found[k]);

		out->address[k].ep = s->ep[k];
		out->address[k].requested = f.requested;
		out->address[k].requested_at = f.requested_at;
		out->address[k].found_at = f.at;
		out->address[k].diagnosis = f.what;
		out->address[k].error = f.error;
	}
	return true;
}

bool seed_is_own(const struct overlay *o, const struct endpoint *ep)
{
	return endpoint_is_among(ep, o->locator, o->n_locators) ||
	       (o->mapped.ip.family && endpoint_equal(&o->mapped, ep));
}

static void ask(struct overlay *o, struct seed *s)
{
	const struct msg_record *r = &nodedb_at(o->nodes, SLOT_SELF)->rec;
	mono_t now = overlay_now(o);

	if (mono_is_never(s->value_at) || mono_sub_ms(now, s->value_at) > PENDING_MS) {
		withdraw(s);
		s->value_at = now;
		if (keyring_sealed(o->keys))
			ephemeral_new(&s->key, keyring_curve(o->keys));
	}
	for (unsigned k = 0; k < s->n; k++) {
		if (seed_is_own(o, &s->ep[k])) {
			diagnosis_note(o, &s->ep[k], SEED_SELF);
			continue;
		}
		/* A NAT may drop datagrams to its own address. The address is queried, because the
		 * peer that observed the address may lie. */
		if (endpoint_is_among(&s->ep[k], r->locator, r->n_locators))
			diagnosis_note(o, &s->ep[k], SEED_SELF);
		if (!s->value[k])
			s->value[k] = random_u64_nonzero();
		diagnosis_requested(o, s, k);
		initiator_address(o, &s->ep[k], s->value[k], &s->key);
	}
}

static void visit(struct overlay *o, struct seed *s)
{
	bool was_alive = s->alive;

	s->alive = reached_by(o, s) != NODE_ID_NONE;
	if (s->alive) {
		withdraw(s);
		s->wait_ms = 0;
		s->next_at = overlay_in(o, CHECK_MS * 3 / 4, CHECK_MS);
		return;
	}
	if (was_alive) /* tries the addresses of the record first, then all again */
		s->reached = NODE_ID_NONE;
	ask(o, s);
	s->wait_ms = s->wait_ms ? min_of(s->wait_ms * 2, BACKOFF_MAX_MS) : 500;
	s->next_at = overlay_in(o, s->wait_ms * 3 / 4, s->wait_ms);
}

static void seed_tick(void *arg, mono_t now)
{
	struct overlay *o = arg;
	mono_t next = MONO_NEVER;

	o->seeding.at = MONO_NEVER;
	if (o->leaving)
		return;
	for (unsigned i = 0; i < o->seeds.n; i++) {
		struct seed *s = &o->seeds.seed[i];

		if (s->n && !mono_before(now, s->next_at))
			visit(o, s);
		if (s->n)
			next = mono_earlier(next, s->next_at);
	}
	if (!mono_is_never(next))
		alarm_set(&o->seeding, next);
}

void seed_start(struct overlay *o)
{
	alarm_init(o, &o->seeding, seed_tick, o);
	for (unsigned i = 0; i < o->seeds.n; i++)
		o->seeds.seed[i].next_at = overlay_in(o, 0, START_MS);
	alarm_set(&o->seeding, overlay_now(o));
}

void seed_free(struct overlay *o)
{
	free_all(o);
	alarm_free(&o->seeding);
}
