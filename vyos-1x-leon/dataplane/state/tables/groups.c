// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Multicast groups on the LAN, see groups.h: domains by VLAN and family, each with a sorted array
 * of groups. Control thread; no clock.
 */
#include "state/tables/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "state/tables/listeners.h"
#include "wire/frame/mcast.h"

struct groups {
	struct groups_domain *domain[VLAN_IDS][2]; /* IPv4, IPv6; NULL: no message yet */
	uint32_t n;				   /* groups of all domains */
};

const char *groups_state_name(enum groups_state s)
{
	static const char *const name[] = {
		[GROUPS_NO_QUERIER] = "no-querier",
		[GROUPS_LEARNING] = "learning",
		[GROUPS_KNOWN] = "known",
		[GROUPS_ROUTER] = "router",
		[GROUPS_FULL] = "full",
	};

	return name[s];
}

struct groups *groups_new(void)
{
	return x_new(struct groups);
}

const struct groups_domain *groups_next(const struct groups *g, uint32_t *iter)
{
	while (*iter < 2 * VLAN_IDS) {
		const struct groups_domain *d = g->domain[*iter / 2][*iter % 2];

		(*iter)++;
		if (d)
			return d;
	}
	return NULL;
}

static struct groups_domain *next_domain(struct groups *g, uint32_t *iter)
{
	const struct groups_domain *d = groups_next(g, iter);

	return d ? g->domain[d->vlan][d->family == 6] : NULL;
}

void groups_free(struct groups *g)
{
	struct groups_domain *d;

	for (uint32_t i = 0; g && (d = next_domain(g, &i));) {
		free(d->group);
		free(d);
	}
	free(g);
}

static struct groups_domain *domain_of(struct groups *g, uint16_t vlan, uint8_t family)
{
	struct groups_domain **d = &g->domain[vlan % VLAN_IDS][family == 6];

	if (!*d) {
		*d = x_new(struct groups_domain);
		**d = (struct groups_domain){ .vlan = vlan % VLAN_IDS,
					      .family = family,
					      .lifetime_ms = GROUPS_LIFETIME_MS };
	}
	return *d;
}

static bool is_past(mono_t at, mono_t now)
{
	return mono_is_never(at) || !mono_before(now, at);
}

enum groups_state groups_state(const struct groups_domain *d, mono_t now)
{
	if (!is_past(d->router_until, now))
		return GROUPS_ROUTER;
	if (is_past(d->querier_until, now))
		return GROUPS_NO_QUERIER;
	if (!is_past(d->full_until, now))
		return GROUPS_FULL;
	if (d->n_queries < GROUPS_QUERIES || !is_past(d->answered, now))
		return GROUPS_LEARNING;
	return GROUPS_KNOWN;
}

static int compare_group(const void *ip, const void *group)
{
	return ip_compare(ip, &((const struct group *)group)->ip);
}

/* Returns the index of the group, or of the first greater one. */
static uint32_t find(const struct groups_domain *d, const struct ip_addr *ip)
{
	return (uint32_t)lower_bound(ip, d->group, d->n, sizeof(*d->group), compare_group);
}

static struct group *get(const struct groups_domain *d, const struct ip_addr *ip)
{
	uint32_t i = find(d, ip);

	return i < d->n && ip_equal(&d->group[i].ip, ip) ? &d->group[i] : NULL;
}

static void add(struct groups *g, struct groups_domain *d, const struct group *new)
{
	uint32_t at = find(d, &new->ip);

	d->group = x_grow(d->group, &d->capacity, d->n + 1, sizeof(*d->group));
	memmove(d->group + at + 1, d->group + at, (d->n - at) * sizeof(*d->group));
	d->group[at] = *new;
	d->n++;
	g->n++;
}

void groups_join(struct groups *g, uint16_t vlan, const struct ip_addr *group, mono_t now)
{
	struct groups_domain *d = domain_of(g, vlan, group->family);
	struct group *known = get(d, group);
	/* The answer to the first query ends the queries, because a second answer may be lost. */
	uint8_t n_asks = known && known->n_asks == GROUPS_QUERIES ? GROUPS_QUERIES : 0;
	struct group new = { *group, mono_add_ms(now, d->lifetime_ms), now, n_asks };

	if (mcast_is_link_local(group))
		return;
	if (known)
		*known = new;
	else if (d->n >= GROUPS_PER_DOMAIN || g->n >= GROUPS_MAX)
		d->full_until = new.until;
	else
		add(g, d, &new);
}

/* Of a group without listeners no report arrives. The querier sends the query again after each
 * response time, as often as its robustness variable says (RFC 3376 section 6.4.2). */
static void shorten(struct groups_domain *d, const struct groups_query *q, mono_t now)
{
	struct group *known = get(d, &q->group);
	mono_t until =
		mono_add_ms(now, (int64_t)GROUPS_QUERIES * q->response_ms + GROUPS_MARGIN_MS);

	if (known && !q->keeps_timer && mono_before(until, known->until) &&
	    !mono_is_recent(known->joined, GROUPS_HOLD_MS, now))
		known->until = until;
}

/* The querier of a node: this node or another node of the LAN. */
static bool is_ours(const struct groups_query *q)
{
	return ip_equal(&q->source, mcast_querier(q->source.family));
}

/* On one LAN, the querier with the lower address continues (RFC 3376 section 6.6.2). */
static bool is_lower(const struct groups_query *q)
{
	return memcmp(q->source.b, mcast_querier(q->source.family)->b, sizeof(q->source.b)) < 0;
}

static void relearn(struct groups_domain *d)
{
	d->n_queries = 0;
	d->answered = MONO_NEVER;
	d->n_own = 0;
	d->own_next = MONO_NEVER;
}

/* The forwarder of a LAN delivers messages of routers at other sites, also to other nodes of its
 * LAN. The message from the overlay shows then that the router is not on the LAN. */
static void note_router(struct groups_domain *d, const struct ip_addr *source, bool on_lan,
			mono_t until)
{
	if (on_lan) {
		d->router = *source;
		d->router_until = until;
	} else if (!mono_is_never(d->router_until) && ip_equal(&d->router, source)) {
		d->router_until = MONO_NEVER;
		relearn(d);
	}
}

void groups_query(struct groups *g, uint16_t vlan, uint8_t family, const struct groups_query *q,
		  mono_t now)
{
	struct groups_domain *d = domain_of(g, vlan, family);
	uint32_t lifetime_ms =
		min_of(max_of(q->lifetime_ms, GROUPS_LIFETIME_MS), GROUPS_LIFETIME_MOST_MS);
	uint32_t response_ms = min_of(q->response_ms, lifetime_ms);
	mono_t answered = mono_add_ms(now, (int64_t)response_ms + GROUPS_MARGIN_MS);

	/* Switches do not send reports towards a querier without an address (RFC 4541 section
	 * 2.1.1), so this node may miss the answers. */
	if (ip_equal(&q->source, &(struct ip_addr){ .family = q->source.family }))
		return;
	if (q->group.family) {
		shorten(d, q, now);
		return;
	}
	if (is_past(d->querier_until, now))
		d->n_queries = 0;
	if (!is_ours(q))
		note_router(d, &q->source, q->on_lan, mono_add_ms(now, lifetime_ms));
	/* A query within the response time of another may have the same answers. */
	if (d->n_queries < GROUPS_QUERIES && (!d->n_queries || is_past(d->answered, now))) {
		d->n_queries++;
		d->answered = answered;
	}
	d->querier = q->source;
	d->lifetime_ms = lifetime_ms;
	/* RFC 3376 section 8.5: half a response time less than the group membership interval. */
	d->querier_until = mono_add_ms(now, (int64_t)lifetime_ms - response_ms / 2);
	if (!is_ours(q) && (!q->on_lan || is_lower(q)))
		d->other_until = d->querier_until;
}

/* --- the querier of this node --- */

bool groups_query_due(struct groups *g, uint16_t vlan, uint8_t family, mono_t now)
{
	struct groups_domain *d = domain_of(g, vlan, family);
	const struct groups_query q = { .source = *mcast_querier(family),
					.response_ms = MCAST_RESPONSE_MS };

	if (!is_past(d->other_until, now)) {
		d->own_next = MONO_NEVER;
		d->n_own = 0;
		return false;
	}
	if (!is_past(d->own_next, now))
		return false;
	/* RFC 3376 section 8.6: at the start, a quarter of the interval. */
	d->n_own = (uint8_t)min_of(d->n_own + 1, GROUPS_QUERIES);
	d->own_next = mono_add_ms(now, MCAST_QUERY_INTERVAL_S * 1000 /
					       (d->n_own < GROUPS_QUERIES ? 4 : 1));
	groups_query(g, vlan, family, &q, now);
	return true;
}

void groups_query_soon(struct groups *g)
{
	struct groups_domain *d;

	for (uint32_t i = 0; (d = next_domain(g, &i));)
		if (d->n_own == GROUPS_QUERIES)
			d->own_next = MONO_NEVER;
}

void groups_left(struct groups *g, uint16_t vlan, const struct ip_addr *group, mono_t now)
{
	struct groups_domain *d = domain_of(g, vlan, group->family);
	struct group *known = get(d, group);

	/* Other leaves of the group during its queries change nothing. */
	if (known && d->n_own && is_past(d->other_until, now) &&
	    mono_sub_ms(known->until, now) >
		    GROUPS_QUERIES * MCAST_LAST_MEMBER_MS + GROUPS_MARGIN_MS)
		known->n_asks = GROUPS_QUERIES;
}

void groups_ask(struct groups *g, mono_t now, groups_ask_fn fn, void *arg)
{
	struct groups_domain *d;

	for (uint32_t i = 0; (d = next_domain(g, &i));)
		for (uint32_t k = 0; k < d->n; k++) {
			const struct groups_query q = { .group = d->group[k].ip,
							.response_ms = MCAST_LAST_MEMBER_MS };

			if (!d->group[k].n_asks)
				continue;
			d->group[k].n_asks--;
			shorten(d, &q, now);
			fn(arg, d->vlan, &q.group);
		}
}

/* --- changes of the LAN --- */

void groups_router(struct groups *g, uint16_t vlan, const struct ip_addr *source, bool on_lan,
		   mono_t now)
{
	note_router(domain_of(g, vlan, source->family), source, on_lan,
		    mono_add_ms(now, GROUPS_LIFETIME_MS));
}

void groups_relearn(struct groups *g, const struct vlan_set *vlans)
{
	struct groups_domain *d;

	for (uint32_t i = 0; (d = next_domain(g, &i));)
		if (!vlans || vlan_set_has(vlans, d->vlan))
			relearn(d);
}

static void expire(struct groups *g, struct groups_domain *d, mono_t now)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (!is_past(d->group[i].until, now))
			d->group[kept++] = d->group[i];
	g->n -= d->n - kept;
	d->n = kept;
	/* While a router was here, reports of other sites may have suppressed those of hosts. */
	if (!mono_is_never(d->router_until) && is_past(d->router_until, now)) {
		d->router_until = MONO_NEVER;
		relearn(d);
	}
}

void groups_expire(struct groups *g, mono_t now)
{
	struct groups_domain *d;

	for (uint32_t i = 0; (d = next_domain(g, &i));)
		expire(g, d, now);
}

unsigned groups_announced(const struct groups *g, const struct segments *map, mono_t now,
			  uint64_t *out, unsigned max)
{
	const struct groups_domain *d;
	unsigned n = 0;

	for (uint32_t i = 0; (d = groups_next(g, &i));) {
		uint32_t segment = segments_id(map, d->vlan);

		if (groups_state(d, now) != GROUPS_KNOWN || segment == SEGMENT_ID_NONE ||
		    d->n + 1 > max - n)
			continue;
		out[n++] = listener_entry(segment, d->family, 0);
		for (uint32_t k = 0; k < d->n; k++)
			out[n++] = listener_entry(segment, d->family, mcast_low(&d->group[k].ip));
	}
	return n;
}
