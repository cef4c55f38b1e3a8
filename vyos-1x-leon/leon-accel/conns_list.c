// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of the tracked connections, see conn.h: for reports and for operators.
 */
#include <stddef.h>

#include "base/defs.h"
#include "base/jsonw.h"
#include "conn_state.h"
#include "eligibility.h"
#include "peer.h"

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

static uint8_t state_of(const struct flow *f)
{
	static const uint8_t state[] = {
		[FLOW_PLAIN] = ACCEL_CONN_PLAIN,
		[FLOW_OFFERED] = ACCEL_CONN_DRAINING,
		[FLOW_DRAINING] = ACCEL_CONN_DRAINING,
		[FLOW_ACCEPTED] = ACCEL_CONN_DRAINING,
		[FLOW_INTERCEPTED] = ACCEL_CONN_INTERCEPTED,
		[FLOW_RETURNING] = ACCEL_CONN_RETURNING,
		[FLOW_CLOSED] = ACCEL_CONN_CLOSED,
	};

	return state[f->state];
}

static void describe(struct conn *c, struct accel_conn *out, mono_t now)
{
	const struct flow *f = &c->flow;
	int64_t since_ms = mono_sub_ms(now, f->since);

	*out = (struct accel_conn){
		.serial = c->serial,
		.vlan = f->key.vlan,
		.near = f->key.near,
		.far = f->key.far,
		.near_port = f->key.near_port,
		.far_port = f->key.far_port,
		.node = peer_id(c->peer),
		.state = state_of(f),
		.since_ms = (uint32_t)min_of(max_of(since_ms, (int64_t)0), (int64_t)UINT32_MAX),
		.held = f->hold.n,
		.undelivered = conn_undelivered(c),
		.times = c->times,
		.reason = f->state == FLOW_PLAIN ? (uint8_t)eligibility(c, now) : ACCEL_REASON_NONE,
		.bytes = c->bytes,
		.time = time_saved_total(&c->time_saved),
	};
}

void conns_page(struct engine *e, uint64_t behind, struct accel_page *page, mono_t now)
{
	/* uthash keeps the order of insertion, which is the order of serials. */
	for (struct conn *c = NULL; (c = conns_next(e, c));) {
		if (c->serial <= behind)
			continue;
		if (page->n == ACCEL_PAGE_CONNS) {
			page->more = true;
			return;
		}
		describe(c, &page->conn[page->n++], now);
	}
}

static const char *state_name(enum flow_state s)
{
	switch (s) {
	case FLOW_PLAIN:
		return "plain";
	case FLOW_OFFERED:
	case FLOW_DRAINING:
	case FLOW_ACCEPTED:
		return "draining";
	case FLOW_INTERCEPTED:
		return "intercepted";
	case FLOW_RETURNING:
		return "returning";
	case FLOW_CLOSED:
		return "closed";
	case FLOW_STATES:
		break;
	}
	return "unknown";
}

static void write_end(struct jsonw *w, const char *key, const struct ip_addr *ip, uint16_t port)
{
	struct endpoint ep = { *ip, port };
	char text[ENDPOINT_STRLEN];

	jsonw_str(w, key, endpoint_format(&ep, text, sizeof(text)));
}

static void write_name(const struct conn *c, struct jsonw *w)
{
	const struct accel_key *k = &c->flow.key;
	char id[NODE_ID_STRLEN];

	jsonw_u64(w, "vlan", k->vlan);
	write_end(w, "near", &k->near, k->near_port);
	write_end(w, "far", &k->far, k->far_port);
	jsonw_str(w, "node", node_id_format(peer_id(c->peer), id, sizeof(id)));
	jsonw_str(w, "state", state_name(c->flow.state));
}

void conns_write(const struct engine *e, struct jsonw *w)
{
	for (const struct conn *c = NULL; (c = conns_next(e, c));) {
		jsonw_object(w, NULL);
		write_name(c, w);
		jsonw_u64(w, "bytes_from_near", c->bytes.out);
		jsonw_u64(w, "bytes_from_far", c->bytes.in);
		jsonw_end(w);
	}
}

static bool is_between(const struct accel_key *k, const struct endpoint *a,
		       const struct endpoint *b)
{
	struct endpoint near = { k->near, k->near_port }, far = { k->far, k->far_port };

	return (endpoint_equal(&near, a) && endpoint_equal(&far, b)) ||
	       (endpoint_equal(&near, b) && endpoint_equal(&far, a));
}

static void explain(struct conn *c, struct jsonw *w, mono_t now)
{
	bool plain = c->flow.state == FLOW_PLAIN;
	enum accel_reason reason = plain ? eligibility(c, now) : ACCEL_REASON_NONE;

	jsonw_object(w, NULL);
	write_name(c, w);
	jsonw_str(w, "reason", accel_reason_word(reason));
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
