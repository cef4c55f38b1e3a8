// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two paths of critical frames, see pair.h. Control thread, every few seconds for each node.
 */
#include "state/latency/pair.h"

#include "base/defs.h"

/* Hysteresis: the current state is left only beyond the bound plus a quarter. */
#define LEAVE_PERCENT 125
#define ALL_PM	      1000u

static const struct {
	const char *name, *text;
} states[] = {
	[PAIR_OFF] = { "off", NULL },
	[PAIR_TWICE] = { "duplicated", NULL },
	[PAIR_NO_SECOND] = { "no-second-path",
			     "no second path shares neither a relay nor a link with the first" },
	[PAIR_TOO_SLOW] = { "too-slow", "the longer of the two paths is longer by more than "
					"maximum-extra-delay" },
	[PAIR_GOOD] = { "path-is-good", "the path in use is better than loss and jitter ask for" },
	[PAIR_UNKNOWN] = { "not-supported",
			   "the node runs a version that does not know copies or parity" },
};

const char *pair_state_name(enum pair_state s, const struct policy *policy)
{
	return s == PAIR_TWICE && policy->parity ? "parity" : states[s].name;
}

const char *pair_state_text(enum pair_state s)
{
	return states[s].text;
}

/* The links without the direct one. */
struct apart {
	const struct path_params *pp;
	uint16_t to;
};

static bool is_broken(void *arg, uint16_t from, uint16_t to)
{
	const struct apart *a = arg;

	if (from == SLOT_SELF && to == a->to)
		return true;
	return a->pp->link_broken && a->pp->link_broken(a->pp->arg, from, to);
}

static void run_second(struct pairing *p, const struct latdb *db, const struct path_params *pp,
		       uint16_t n_slots, uint16_t to, mono_t now)
{
	struct apart a = { pp, to };
	struct path_params without = *pp;

	without.link_broken = is_broken;
	without.arg = &a;
	second_run(&p->way, db, p->without_direct ? &without : pp, n_slots, to, now);
}

/* Difference of the long-term round-trip times of the two paths. Not the costs: loss raises a cost
 * without slowing a path, and duplication exists to hide loss. */
static uint32_t difference(const struct path *a, const struct path *b)
{
	return a->long_term_rtt_us > b->long_term_rtt_us
		       ? a->long_term_rtt_us - b->long_term_rtt_us
		       : b->long_term_rtt_us - a->long_term_rtt_us;
}

bool pair_difference_us(const struct pairing *p, uint32_t *out)
{
	if (!path_works(&p->way.first) || !path_works(&p->way.path))
		return false;
	*out = difference(&p->way.first, &p->way.path);
	return true;
}

static uint32_t bound(uint32_t us, bool in_force)
{
	return in_force ? (uint32_t)min_of((uint64_t)us * LEAVE_PERCENT / 100, (uint64_t)UINT32_MAX)
			: us;
}

/* A direct link that is too slow beside a relay is replaced by another relay. */
static bool leave_or_take_direct(struct pairing *p, const struct latdb *db,
				 const struct path_params *pp, uint16_t to,
				 const struct policy *policy)
{
	const struct path *relayed = p->without_direct ? &p->way.first : &p->way.path;
	struct path direct = { .n_hops = 1, .hop = { to } };
	bool without;

	path_evaluate(db, pp, SLOT_SELF, &direct);
	if (!path_works(&direct) || !path_works(relayed))
		return false;
	without = direct.long_term_rtt_us > relayed->long_term_rtt_us &&
		  difference(&direct, relayed) > bound(policy->extra_delay_us, !p->without_direct);
	if (without == p->without_direct)
		return false;
	p->without_direct = without;
	return true;
}

static uint32_t loss_of(const struct latdb *db, const struct path *path)
{
	uint32_t passes = ALL_PM * ALL_PM;
	uint16_t from = SLOT_SELF;

	for (unsigned i = 0; i < path->n_hops; i++) {
		struct lat_entry e = latdb_get(db, from, path->hop[i]);

		passes = (uint32_t)((uint64_t)passes * (ALL_PM - min_of(e.loss_pm + 0u, ALL_PM)) /
				    ALL_PM);
		from = path->hop[i];
	}
	return ALL_PM - passes / ALL_PM;
}

static bool is_needed(struct pairing *p, const struct policy *policy, mono_t now)
{
	if (!policy->loss_pm && !policy->jitter_us)
		return true;
	if ((policy->loss_pm && p->loss_pm >= policy->loss_pm) ||
	    (policy->jitter_us && p->jitter_us >= policy->jitter_us))
		p->bad_at = now;
	return mono_is_recent(p->bad_at, PAIR_RECOVERY_MS, now);
}

static enum pair_state judge(struct pairing *p, const struct policy *policy, mono_t now)
{
	bool needed = is_needed(p, policy, now);

	if (!path_works(&p->way.first) || !path_works(&p->way.path))
		return PAIR_NO_SECOND;
	if (difference(&p->way.first, &p->way.path) >
	    bound(policy->extra_delay_us, p->state == PAIR_TWICE))
		return PAIR_TOO_SLOW;
	return needed ? PAIR_TWICE : PAIR_GOOD;
}

static bool is_same_way(const struct second *a, const struct second *b)
{
	return path_same(&a->first, &b->first) && path_same(&a->path, &b->path) &&
	       a->first.mtu == b->first.mtu && a->path.mtu == b->path.mtu;
}

bool pair_run(struct pairing *p, const struct latdb *db, const struct path_params *pp,
	      uint16_t n_slots, uint16_t to, const struct path *in_use, const struct policy *policy,
	      mono_t now)
{
	struct pairing before = *p;

	run_second(p, db, pp, n_slots, to, now);
	if (leave_or_take_direct(p, db, pp, to, policy))
		run_second(p, db, pp, n_slots, to, now);
	if (!policy->parity)
		p->second_leads = false;
	else if (path_same(in_use, &p->way.first) || path_same(in_use, &p->way.path))
		p->second_leads = path_same(in_use, &p->way.path);
	p->loss_pm = loss_of(db, in_use);
	p->jitter_us = in_use->noise_us;
	p->state = judge(p, policy, now);
	if (p->state != before.state)
		p->since = now;
	if (p->state != PAIR_TWICE)
		return before.state == PAIR_TWICE;
	return before.state != PAIR_TWICE || !is_same_way(&before.way, &p->way) ||
	       before.second_leads != p->second_leads;
}

bool pair_holds(const struct pairing *p, const struct latdb *db, const struct path_params *pp)
{
	struct path first = p->way.first, path = p->way.path;

	if (p->state != PAIR_TWICE)
		return true;
	path_evaluate(db, pp, SLOT_SELF, &first);
	path_evaluate(db, pp, SLOT_SELF, &path);
	return path_works(&first) && path_works(&path) && !first.silent && !path.silent;
}

const struct path *pair_of_frames(const struct pairing *p)
{
	return p->second_leads ? &p->way.path : &p->way.first;
}

const struct path *pair_of_parities(const struct pairing *p)
{
	return p->second_leads ? &p->way.first : &p->way.path;
}

bool pair_end(struct pairing *p, enum pair_state s, mono_t now)
{
	bool was = p->state == PAIR_TWICE;

	if (p->state != s)
		*p = (struct pairing){ .state = s, .since = now };
	return was;
}
