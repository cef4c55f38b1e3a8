// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limits for opening and answering HELLOs: per address and in total, with separate budgets for
 * strangers and for known nodes. Control thread. Protocol 3.2.
 */
#include "proto/handshake/handshake.h"

#include <string.h>

#define OPEN_PER_S	4000 /* opened HELLOs per second; each costs a key derivation */
#define OPEN_FROM_PER_S 400  /* opened HELLOs per second of one address */
#define ANSWER_PER_S	1000
#define FROM_PER_S	10 /* answers to one address */
#define FROM_BURST	20
#define KNOWN_MS	1000 /* age of the bitmap of known addresses */

static int64_t cost_ns(int64_t per_s)
{
	return NS_PER_S / per_s;
}

static struct bucket *bucket_of(struct limit_source *table, size_t places, uint64_t name)
{
	struct limit_source *s = &table[name % places];

	if (s->name != name)
		*s = (struct limit_source){ .name = name };
	return &s->bucket;
}

static uint64_t *known_word(struct overlay *o, const struct ip_addr *ip, uint64_t *bit)
{
	uint64_t hash = siphash(&o->hash_key, ip->b, sizeof(ip->b));

	*bit = 1ULL << hash % 64;
	return &o->limit.known[hash / 64 % array_size(o->limit.known)];
}

/* A peer that is new since then counts as a stranger. */
static void renew_known(struct overlay *o)
{
	uint64_t bit, *word;

	if (mono_is_recent(o->limit.known_at, KNOWN_MS, overlay_now(o)))
		return;
	o->limit.known_at = overlay_now(o);
	memset(o->limit.known, 0, sizeof(o->limit.known));
	for (const struct peer *p = NULL; (p = peer_next(o, p));) {
		word = known_word(o, &p->ep.ip, &bit);
		*word |= bit;
	}
}

/* The bitmap spares most strangers the search of all peers. */
static bool is_known_address(struct overlay *o, const struct ip_addr *ip)
{
	uint64_t bit, *word = known_word(o, ip, &bit);

	renew_known(o);
	for (const struct peer *p = NULL; (*word & bit) && (p = peer_next(o, p));)
		if (ip_equal(&p->ep.ip, ip))
			return true;
	return seed_of_address(o, ip) != NULL;
}

/* Total budgets exist for all known addresses and for all others. A flood with forged addresses
 * therefore keeps out at most new nodes. */
static bool pass_total(struct overlay *o, struct bucket all[2], const struct ip_addr *ip,
		       int64_t per_s)
{
	return bucket_pass(&all[is_known_address(o, ip)], overlay_now(o), cost_ns(per_s), NS_PER_S);
}

bool limit_may_answer(struct overlay *o, const struct endpoint *from)
{
	uint8_t text[sizeof(from->ip.b) + 3] = { from->ip.family, (uint8_t)(from->port >> 8),
						 (uint8_t)from->port };
	struct bucket *b;

	memcpy(text + 3, from->ip.b, sizeof(from->ip.b));
	b = bucket_of(o->limit.answered_to, array_size(o->limit.answered_to),
		      siphash(&o->hash_key, text, sizeof(text)));
	return bucket_pass(b, overlay_now(o), cost_ns(FROM_PER_S),
			   FROM_BURST * cost_ns(FROM_PER_S)) &&
	       pass_total(o, o->limit.answered, &from->ip, ANSWER_PER_S);
}

/* All addresses of an IPv6 network share a budget, because a stranger has any number of them. */
static struct bucket *opening_of(struct overlay *o, const struct ip_addr *ip)
{
	size_t len = ip->family == 6 ? 8 : 4;

	return bucket_of(o->limit.opened_from, array_size(o->limit.opened_from),
			 siphash(&o->hash_key, ip->b, len));
}

/* A flood with a member's address keeps out at most that member. */
bool limit_may_open(struct overlay *o, const struct endpoint *from)
{
	return bucket_pass(opening_of(o, &from->ip), overlay_now(o), cost_ns(OPEN_FROM_PER_S),
			   NS_PER_S) &&
	       pass_total(o, o->limit.opened, &from->ip, OPEN_PER_S);
}
