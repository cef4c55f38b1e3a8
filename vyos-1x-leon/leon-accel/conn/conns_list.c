// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of the tracked connections as JSON, see conn.h.
 */
#include <stddef.h>

#include "base/defs.h"
#include "base/json/jsonw.h"
#include "conn/conn_state.h"
#include "peer/peer.h"

#define EXPLAINED_MAX 16 /* connections in an answer: one pair of endpoints in several VLANs */

struct accel_time conns_time(const struct engine *e)
{
	struct accel_time all = e->forgotten;

	for (const struct conn *c = NULL; (c = conns_next(e, c));) {
		struct accel_time t = time_saved_total(&c->time_saved);

		all.with_ms += t.with_ms;
		all.without_ms += t.without_ms;
	}
	return all;
}

static const char *const state_names[FLOW_STATES] = {
	[FLOW_PLAIN] = "plain",
	[FLOW_OFFERED] = "draining",
	[FLOW_DRAINING] = "draining",
	[FLOW_ACCEPTED] = "draining",
	[FLOW_INTERCEPTED] = "intercepted",
	[FLOW_RELEASING] = "releasing",
	[FLOW_CLOSED] = "closed",
};

static struct accel_conn describe(struct conn *c, mono_t now)
{
	const struct flow *f = &c->flow;
	int64_t since_ms = mono_sub_ms(now, f->since);
	enum accel_reason reason = f->state == FLOW_PLAIN ? eligibility(c, now) : ACCEL_REASON_NONE;

	return (struct accel_conn){
		.serial = c->serial,
		.vlan = f->key.vlan,
		.near = { .ip = f->key.near, .port = f->key.near_port },
		.far = { .ip = f->key.far, .port = f->key.far_port },
		.node = c->peer->id,
		.state = state_names[f->state],
		.reason = accel_reason_word(reason),
		.since_ms = (uint64_t)max_of(since_ms, (int64_t)0),
		.held = flow_n_held(f),
		.undelivered = conn_undelivered(c),
		.times = c->times,
		.bytes = c->bytes,
		.time = time_saved_total(&c->time_saved),
	};
}

void conns_page(struct engine *e, uint64_t behind, struct jsonw *w, mono_t now)
{
	unsigned n = 0, after = 0;

	jsonw_array(w, "connections");
	/* uthash keeps the order of insertion, which is the order of serials. */
	for (struct conn *c = NULL; (c = conns_next(e, c));) {
		struct accel_conn conn;

		if (c->serial <= behind)
			continue;
		if (n++ >= ACCEL_PAGE_CONNS) {
			after++;
			continue;
		}
		conn = describe(c, now);
		jsonw_object(w, NULL);
		accel_conn_write(&conn, w);
		jsonw_end(w);
	}
	jsonw_end(w);
	jsonw_u64(w, "after", after);
}

static bool is_between(const struct accel_key *k, const struct endpoint *a,
		       const struct endpoint *b)
{
	struct endpoint near = { .ip = k->near, .port = k->near_port };
	struct endpoint far = { .ip = k->far, .port = k->far_port };

	return (endpoint_equal(&near, a) && endpoint_equal(&far, b)) ||
	       (endpoint_equal(&near, b) && endpoint_equal(&far, a));
}

static void explain(struct conn *c, struct jsonw *w, mono_t now)
{
	bool plain = c->flow.state == FLOW_PLAIN;
	enum accel_reason reason = plain ? eligibility(c, now) : ACCEL_REASON_NONE;
	struct accel_conn conn = describe(c, now);

	jsonw_object(w, NULL);
	accel_conn_write_name(&conn, w);
	jsonw_str(w, "reason", conn.reason);
	jsonw_str(w, "reason_text", reason ? accel_reason_sentence(reason) : NULL);
	if (plain) {
		eligibility_explain(c, w, now);
	} else {
		jsonw_array(w, "checks");
		jsonw_end(w);
	}
	jsonw_end(w);
}

void conns_explain(struct engine *e, const struct endpoint *a, const struct endpoint *b,
		   struct jsonw *w, mono_t now)
{
	unsigned n = 0;

	for (struct conn *c = NULL; n < EXPLAINED_MAX && (c = conns_next(e, c));) {
		if (!is_between(&c->flow.key, a, b))
			continue;
		explain(c, w, now);
		n++;
	}
}
