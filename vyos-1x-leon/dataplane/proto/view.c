// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read-only queries of overlay.h. Called by daemon/ (or the simulation) on the control thread.
 */
#include "proto/measure/measure.h"
#include "proto/view.h"
#include "proto/session/membership.h"
#include "state/tables/snap.h"

#define DUPLICATE_SHOWN_MS 120000 /* after the last sign; signs come every ten seconds */
/* Wait of distributed data for its order: for queues of the lines, and at most. */
#define HOLD_QUEUE_US 30000
#define HOLD_MAX_US   100000

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

const struct one_way *overlay_one_way(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	if (!p || !p->choice.path.n_hops)
		return NULL;
	return p->choice.path.n_hops > 1 ? &p->path_probe.ways : &p->probe.ways;
}

const struct one_way *overlay_link_ways(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p && p->probe.up ? &p->probe.ways : NULL;
}

const struct gain *overlay_gain(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p ? &p->gain : NULL;
}

const struct keyring *overlay_keyring(const struct overlay *o)
{
	return o->keys;
}

const struct overlay_counters *overlay_counters(const struct overlay *o)
{
	return &o->count;
}

bool overlay_is_observed_at(const struct overlay *o, const struct ip_addr *ip)
{
	for (const struct peer *p = NULL; (p = peer_next(o, p));)
		if (p->cur && ip_equal(&p->observed.ip, ip))
			return true;
	return false;
}

/* The record of the node says so, or its endpoint is not in the record (yet). */
static bool is_behind_nat(const struct node *n, const struct endpoint *ep)
{
	if (!n || !n->has_record || !ep->ip.family)
		return false;
	if (endpoint_is_stream(ep))
		return n->rec.flags & RECORD_BEHIND_NAT;
	if (n->rec.flags & RECORD_BEHIND_NAT)
		return true;
	for (unsigned i = 0; i < n->rec.n_locators; i++)
		if (endpoint_same_address(&n->rec.locator[i], ep))
			return false;
	return true;
}

/* Its own secret according to its last handshake. */
static enum link_secret secret_of(const struct overlay *o, const struct peer *p)
{
	uint32_t id[SECRETS_MAX];

	if (p->rekey.no_common_secret)
		return LINK_SECRET_OTHER;
	if (!p->cur || !keyring_sealed(o->keys))
		return LINK_SECRET_NONE;
	keyring_ids(o->keys, id);
	return p->secrets[0] == id[0] ? LINK_SECRET_OWN : LINK_SECRET_ACCEPTED;
}

bool overlay_duplicate(const struct overlay *o, uint16_t slot, struct overlay_duplicate *out)
{
	const struct peer *p = slot == SLOT_SELF ? NULL : peer_at(o, slot);
	const struct duplicate *r = slot == SLOT_SELF ? &o->duplicate.seen
				    : p		      ? &p->duplicate.seen
						      : NULL;

	if (!r || mono_is_never(r->at) || mono_sub_ms(overlay_now(o), r->at) > DUPLICATE_SHOWN_MS)
		return false;
	*out = (struct overlay_duplicate){
		.seen = r->at, .ep = r->ep, .same_identity = r->same_identity, .by = r->by
	};
	return true;
}

unsigned overlay_has_no_common_secret(const struct overlay *o, node_id_t *id, unsigned max)
{
	unsigned n = 0;

	for (const struct peer *p = NULL; (p = peer_next(o, p));) {
		if (!p->cur || !p->rekey.no_common_secret)
			continue;
		if (n < max)
			id[n] = p->id;
		n++;
	}
	return n;
}

const struct link_load *overlay_load(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p && p->probe.up ? &p->probe.load : NULL;
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
		.backup = p->backup,
		.behind_nat = is_behind_nat(peer_node(p->o, p), &p->ep),
		.filter = p->probe.filter,
		.load = p->probe.load,
		.mtu = p->pmtu.mtu,
		.secret = secret_of(o, p),
		.session_ends = p->cur && p->rekey.no_common_secret ? p->rekey.ends : MONO_NEVER,
		.up_since = p->probe.up_since,
		.last_received = p->move.received_direct,
		.cipher = p->data.tx ? seal_cipher(p->data.tx) : SEAL_NONE,
		.probes_tx = p->probe.tx,
		.probes_lost = p->probe.lost,
		.silences = p->probe.silences,
		.data_tx = p->loss.link.sent,
		.data_lost = p->loss.link.lost,
		.segmentation_broken = p->segmentation.trial.state == GSO_TRIAL_BROKEN,
		.data_loss_pm = p->loss.link_pm,
	};
	return true;
}

uint32_t overlay_probe_ms(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p ? probe_interval_ms(o, p, overlay_now(o)) : 0;
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

void overlay_path_evaluate(struct overlay *o, struct path *p)
{
	struct path_params pp = overlay_path_params(o);
	const struct peer *to = p->n_hops ? peer_at(o, p->hop[p->n_hops - 1]) : NULL;

	path_evaluate(o->lat, &pp, SLOT_SELF, p);
	if (to)
		loss_evaluate(o, to, p);
}

/* Other endpoints of the peer from which data counts, by pair of lines. The other transport has the
 * place of the pair in use. */
static void others(const struct peer *p, struct endpoint out[LINE_PAIRS])
{
	for (unsigned i = 0; p->lines.pair && i < LINE_PAIRS; i++)
		out[i] = p->lines.pair[i].ep;
	out[p->lines.in_use] = move_backup(p);
}

bool overlay_line_pair(const struct overlay *o, uint16_t slot, unsigned pair,
		       struct overlay_pair_view *out)
{
	const struct peer *p = peer_at(o, slot);
	const struct line_pair *q;
	bool in_use;

	if (!p || !p->lines.pair || pair >= LINE_PAIRS || !p->lines.pair[pair].ep.ip.family)
		return false;
	q = &p->lines.pair[pair];
	in_use = pair == p->lines.in_use;
	*out = (struct overlay_pair_view){
		.in_use = in_use,
		.verified = in_use || q->verified,
		.distributed = p->lines.distributes && (in_use || pair == p->lines.second),
		.kbits = q->rate.kbits,
		.silent = in_use ? p->probe.misses > 0 : q->misses > 0,
		.theirs = (uint8_t)(pair % LINES_MAX),
		.ep = in_use ? p->ep : q->ep,
		.filter = in_use ? p->probe.filter : q->filter,
		.probes_tx = q->tx,
		.probes_lost = q->lost,
		.changes = p->lines.changes,
		.since = p->lines.since,
		.answered = in_use ? p->probe.answered_sent : q->answered_sent,
	};
	return true;
}

static struct snap_route way_of(const struct path *p)
{
	return (struct snap_route){ p->hop, p->n_hops, p->mtu ? p->mtu : MTU_BASE };
}

const struct pairing *overlay_pair(const struct overlay *o, uint16_t slot)
{
	const struct peer *p = peer_at(o, slot);

	return p ? &p->pair : NULL;
}

/* The receiver waits for the difference of the lines, and for their queues. */
static uint32_t hold_us(const struct peer *p)
{
	int64_t least = p->probe.filter.srtt_us, most = least;

	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		const struct line_pair *q = &p->lines.pair[i];

		if (i == p->lines.in_use || !q->verified || !q->filter.n_samples)
			continue;
		least = min_of(least, q->filter.srtt_us);
		most = max_of(most, q->filter.srtt_us);
	}
	return (uint32_t)min_of(most - least + HOLD_QUEUE_US, (int64_t)HOLD_MAX_US);
}

static void distribution(struct snap *s, uint16_t slot, const struct peer *p)
{
	s->node[slot].hold_us = hold_us(p);
	if (p->lines.distributes && p->choice.path.n_hops == 1)
		snap_set_second(s, slot, &p->lines.pair[p->lines.second].ep, p->lines.second);
}

/* A node seems unreachable if only its answers are lost or late, and may still receive data. */
static bool may_receive(const struct peer *p)
{
	return p->probe.was_up && p->cur && !p->purged;
}

static void set_paths(struct snap *s, uint16_t slot, const struct peer *p)
{
	const struct path *path = &p->choice.path;

	if (path->n_hops) {
		snap_set_path(s, slot, path->hop, path->n_hops, path->mtu ? path->mtu : MTU_BASE);
		if (s->pair && p->pair.state == PAIR_TWICE)
			snap_set_pair(s, slot, way_of(pair_of_frames(&p->pair)),
				      way_of(pair_of_parities(&p->pair)));
	} else if (may_receive(p)) {
		snap_set_failing(s, slot, p->pmtu.mtu ? p->pmtu.mtu : MTU_BASE);
	}
}

void overlay_fill_snap(struct overlay *o, struct snap *s)
{
	/* A node without listed segments serves all VLAN ids and no other segments. */
	static const struct id_range all_vlans = { 0, VLAN_IDS - 1 };
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
		others(p, sn->other);
		sn->has_lines = p->lines.pair;
		sn->failures = p->lines.failures;
		sn->failed = p->lines.failed;
		sn->line = p->lines.in_use;
		if (p->lines.pair)
			distribution(s, i, p);
		s->failures += sn->failures;
		sn->link_mtu = p->pmtu.mtu;
		if (node->has_record && (node->rec.flags & RECORD_SEGMENTS))
			snap_limit_segments(s, i, node->rec.segment, node->rec.n_segments);
		else if (s->segments)
			snap_limit_segments(s, i, &all_vlans, 1);
		snap_set_keys(s, i, p->data.tx, p->data.rx, p->data.rx_before);
		set_paths(s, i, p);
	}
}
