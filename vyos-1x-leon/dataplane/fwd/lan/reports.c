// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: reports to the control thread. Workers post, the control thread takes. */
#include "fwd/lan/lan_steps.h"

#include <assert.h>
#include <string.h>

#include "base/ring.h"
#include "fwd/worker.h"

#define GUARD_ROOM (REPORT_RING_BYTES / 8)

static_assert(GROUPS_HOLD_MS * NS_PER_MS > REPORT_HOLD_NS, "groups.h expects the hold of joins");

/* Header of a control datagram in the ring, followed by the bytes. */
struct control_record {
	struct endpoint from;
	mono_t rx;
};

void report_control(struct worker *w, const struct endpoint *from, mono_t rx, const uint8_t *data,
		    size_t len)
{
	struct control_record *rec;

	rec = ring_reserve(w->control, FWD_CONTROL, sizeof(*rec) + len);
	if (!rec) {
		drop(w, DROP_control_ring_full);
		return;
	}
	*rec = (struct control_record){ *from, rx };
	memcpy(rec + 1, data, len);
	ring_commit(w->control);
	count(w, CNT_control_rx, 1);
	w->posted = true;
}

/* Reports of other types leave room for guards, because hosts can cause many, and a lost guard
 * counts as silence of its node. */
static bool post(struct worker *w, const struct fwd_report *r)
{
	struct fwd_report *rec = NULL;

	if (r->type == FWD_GUARD || ring_has_room(w->reports, GUARD_ROOM))
		rec = ring_reserve(w->reports, (uint16_t)r->type, sizeof(*rec));
	if (!rec)
		return drop(w, DROP_event_ring_full);
	*rec = *r;
	ring_commit(w->reports);
	w->posted = true;
	return true;
}

/* Posts reports with an equal key once in REPORT_HOLD_NS; a report that did not fit may be repeated
 * at once. */
static bool post_once(struct worker *w, uint64_t key, const struct fwd_report *r)
{
	if (recent_has(&w->recent, key, w->now, REPORT_HOLD_NS))
		return false;
	if (!post(w, r))
		return false;
	recent_note(&w->recent, key, w->now);
	return true;
}

void report_learn(struct worker *w, uint16_t vlan, struct mac mac, uint16_t slot)
{
	struct fwd_report r = { .type = FWD_LEARN,
				.learn = { .vlan = vlan, .slot = slot, .mac = mac } };
	const uint64_t words[2] = { mac_to_u64(mac) << 16 | slot, vlan };
	uint64_t key = siphash(&w->hash_key, words, sizeof(words));

	if (post_once(w, key, &r))
		count(w, CNT_learn_events, 1);
}

enum fdb_seen learn_source(struct worker *w, const struct eth_view *v, uint16_t slot)
{
	enum fdb_seen seen = fdb_seen(w->snap->fdb, v->vlan, v->src, slot, w->now_s);

	if (seen == FDB_FROZEN)
		drop(w, DROP_source_frozen);
	else if (seen == FDB_TO_LEARN)
		report_learn(w, v->vlan, v->src, slot);
	return seen;
}

void report_neigh(struct worker *w, uint16_t vlan, const struct ip_addr *ip, struct mac mac,
		  uint16_t slot, enum neigh_role role)
{
	struct fwd_report r = {
		.type = FWD_NEIGH,
		.neigh = { .vlan = vlan, .slot = slot, .mac = mac, .ip = *ip, .role = role }
	};
	uint64_t words[4] = { mac_to_u64(mac) << 16 | slot, (uint64_t)role << 16 | vlan };
	uint64_t key;

	memcpy(&words[2], ip->b, sizeof(ip->b));
	key = siphash(&w->hash_key, words, sizeof(words));

	post_once(w, key, &r);
}

void report_multicast(struct worker *w, const struct fwd_report *r)
{
	uint64_t words[6] = {
		(uint64_t)r->multicast.vlan << 32 | (uint64_t)r->multicast.family << 16 |
			(uint64_t)r->multicast.kind << 8 | r->multicast.query.group.family,
		(uint64_t)r->multicast.query.response_ms << 2 | (uint64_t)r->multicast.left << 1 |
			r->multicast.query.on_lan
	};

	memcpy(&words[2], r->multicast.query.group.b, sizeof(r->multicast.query.group.b));
	memcpy(&words[4], r->multicast.query.source.b, sizeof(r->multicast.query.source.b));
	post_once(w, siphash(&w->hash_key, words, sizeof(words)), r);
}

void report_cannot_forward(struct worker *w, uint16_t source_slot, node_id_t source, node_id_t next,
			   node_id_t destination)
{
	struct fwd_report r = { .type = FWD_CANNOT_FORWARD,
				.cannot_forward = { source, next, destination } };

	mono_t *at = &w->cannot_forward_at[source_slot];

	if (!mono_is_never(*at) && mono_sub_ns(w->now, *at) < NS_PER_S)
		return;
	if (post(w, &r))
		*at = w->now;
}

void report_accel_foreign(struct worker *w, uint16_t slot)
{
	struct fwd_report r = { .type = FWD_ACCEL_FOREIGN, .slot = slot };
	const uint64_t word = (uint64_t)FWD_ACCEL_FOREIGN << 32 | slot;

	post_once(w, siphash(&w->hash_key, &word, sizeof(word)), &r);
}

void report_guard(struct worker *w, const uint8_t *frame, size_t len)
{
	struct fwd_report r = { .type = FWD_GUARD };

	r.guard.len = min_of(len, sizeof(r.guard.frame));
	memcpy(r.guard.frame, frame, r.guard.len);
	post(w, &r);
}

void report_of_vlan(struct worker *w, enum fwd_report_type type, uint16_t vlan)
{
	struct fwd_report r = { .type = type, .vlan = vlan };
	const uint64_t word = (uint64_t)type << 32 | vlan;

	post_once(w, siphash(&w->hash_key, &word, sizeof(word)), &r);
}

static uint64_t endpoint_key(const struct worker *w, enum fwd_report_type type,
			     const struct endpoint *ep)
{
	uint64_t words[3] = { (uint64_t)type << 32 | ep->port };

	memcpy(&words[1], ep->ip.b, sizeof(ep->ip.b));
	return siphash(&w->hash_key, words, sizeof(words));
}

void report_send_error(struct worker *w, const struct endpoint *ep, int error, bool local)
{
	struct fwd_report r = { .type = FWD_SEND_ERROR, .suspect = { *ep, error, local } };
	uint64_t key = endpoint_key(w, r.type, ep);

	post_once(w, key, &r);
}

/* Any host that can reach the port can cause such reports: limited to a few per second over all
 * addresses. */
void report_foreign(struct worker *w, const struct endpoint *from, bool other_version, uint8_t wire)
{
	struct fwd_report r = { .type = FWD_FOREIGN, .foreign = { *from, other_version, wire } };
	uint64_t key = endpoint_key(w, r.type, from);

	if (!mono_is_never(w->foreign_at) && mono_sub_ns(w->now, w->foreign_at) < FOREIGN_GAP_NS)
		return;
	w->foreign_at = w->now;
	post_once(w, key, &r);
}

bool report_take(struct ring *ring, struct fwd_report *r)
{
	uint16_t type;
	size_t len;
	const void *rec = ring_peek(ring, &type, &len);

	if (!rec)
		return false;
	if (type != FWD_CONTROL) {
		memcpy(r, rec, sizeof(*r));
		return true;
	}
	r->type = FWD_CONTROL;
	r->control.from = ((const struct control_record *)rec)->from;
	r->control.rx = ((const struct control_record *)rec)->rx;
	/* The consumer owns a record until the release and may write there. */
	r->control.data = (uint8_t *)(uintptr_t)rec + sizeof(struct control_record);
	r->control.len = len - sizeof(struct control_record);
	return true;
}
