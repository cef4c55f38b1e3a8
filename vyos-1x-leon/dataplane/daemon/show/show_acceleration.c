// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show acceleration`, `show acceleration connections` and `reset acceleration`: the reports of
 * leon-accel about its connections. The list of connections waits for the pages of leon-accel.
 * Control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/answer/answer.h"
#include "daemon/leond.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"
#include "state/latency/energy.h"

#define LISTED_MAX 8192 /* in one answer; the others are counted */

static const char *state_word(const struct command *c)
{
	const struct accel_totals *t = accel_reports_totals(c->d);

	if (!c->d->conf->acceleration)
		return t && t->intercepted_now ? "releasing" : "off";
	return t ? "running" : "absent";
}

static void write_state(struct command *c)
{
	jsonw_str(c->w, "state", state_word(c));
	jsonw_bool(c->w, "installed", accelerator_is_installed());
}

/* --- what both have --- */

static void write_direction(struct jsonw *w, const char *key, uint64_t bytes, uint64_t carried)
{
	jsonw_object(w, key);
	jsonw_u64(w, "bytes", bytes);
	jsonw_u64(w, "carried_bytes", carried);
	jsonw_end(w);
}

/* Thousand bytes of hosts for each that was carried; null before there are any. */
static void write_bytes(struct jsonw *w, const struct accel_bytes *b)
{
	uint64_t all = b->out + b->in, carried = b->carried_out + b->carried_in;

	write_direction(w, "out", b->out, b->carried_out);
	write_direction(w, "in", b->in, b->carried_in);
	answer_known(w, "ratio_permille", carried > 0, carried ? all * 1000 / carried : 0);
}

static void write_benefit(struct jsonw *w, const struct accel_time *t)
{
	jsonw_object(w, "time");
	jsonw_u64(w, "with_ms", t->with_ms);
	jsonw_u64(w, "without_ms", t->without_ms);
	jsonw_u64(w, "saved_ms", t->without_ms - min_of(t->with_ms, t->without_ms));
	jsonw_end(w);
	jsonw_object(w, "energy");
	jsonw_u64(w, "with_mj", energy_fast_mj(t->without_ms, t->with_ms));
	jsonw_u64(w, "without_mj", energy_slow_mj(t->without_ms));
	jsonw_end(w);
}

/* --- all of them --- */

static void write_terms(struct command *c)
{
	const struct conf *conf = c->d->conf;
	struct jsonw *w = c->w;

	write_state(c);
	jsonw_u64(w, "threshold_us", conf->accel_threshold_us);
	jsonw_u64(w, "minimum_segments", conf->accel_segments);
	jsonw_object(w, "power");
	jsonw_u64(w, "slow_mw", ENERGY_SLOW_MW);
	jsonw_u64(w, "fast_mw", ENERGY_FAST_MW);
	jsonw_u64(w, "sleep_mw", ENERGY_SLEEP_MW);
	jsonw_end(w);
}

/* Followed connections that are not intercepted, by reason. */
static void write_plain(struct jsonw *w, const struct accel_totals *t)
{
	jsonw_object(w, "plain");
	for (enum accel_reason reason = ACCEL_REASON_NONE + 1; reason < ACCEL_N_REASONS; reason++)
		jsonw_u64(w, accel_reason_word(reason), t->plain[reason]);
	jsonw_end(w);
}

static void write_totals(struct command *c, const struct accel_totals *t)
{
	struct jsonw *w = c->w;

	jsonw_u64(w, "tracked", t->tracked);
	jsonw_u64(w, "fast_enough", t->plain[ACCEL_REASON_FAST]);
	write_plain(w, t);
	jsonw_u64(w, "connections", t->intercepted_now);
	jsonw_u64(w, "held_bytes", t->held);
	jsonw_u64(w, "undelivered_bytes", t->undelivered);
	jsonw_object(w, "counted");
	jsonw_u64(w, "intercepted", t->intercepted);
	jsonw_u64(w, "released", t->returned);
	jsonw_u64(w, "refused", t->refused);
	jsonw_u64(w, "reset", t->reset);
	jsonw_u64(w, "leond_queue_full", t->leond_queue_full);
	jsonw_u64(w, "held_dropped", t->held_dropped);
	for (enum accel_misuse m = 0; m < ACCEL_N_MISUSES; m++)
		jsonw_u64(w, accel_misuse_word(m), t->misuse[m]);
	for (enum accel_fault i = 0; i < ACCEL_N_FAULTS; i++)
		jsonw_u64(w, accel_fault_word(i), t->fault[i]);
	jsonw_end(w);
	write_bytes(w, &t->bytes);
	write_benefit(w, &t->time);
}

/* What becomes of TCP to and from a node. */
static const char *tcp_word(const struct leond *d, uint16_t slot)
{
	if (!accel_queues_reach(d, slot))
		return "plain";
	return accel_queues_bypassed(d, slot) ? "bypassed" : "tracked";
}

static void write_node(struct command *c, const struct node *n)
{
	const struct choice *ch = overlay_choice(c->overlay, n->slot);
	bool known = ch && path_works(&ch->path);
	struct accel_node counted = { 0 };
	struct jsonw *w = c->w;

	accel_reports_node(c->d, n->id, &counted);
	answer_begin_node(w, "node_id", c->d, n->id);
	answer_known(w, "latency_us", known, known ? ch->path.rtt_us : 0);
	jsonw_bool(w, "reached", counted.reached);
	jsonw_str(w, "tcp", tcp_word(c->d, n->slot));
	jsonw_u64(w, "connections", counted.intercepted_now);
	jsonw_u64(w, "intercepted", counted.intercepted);
	jsonw_u64(w, "released", counted.returned);
	jsonw_u64(w, "refused", counted.refused);
	jsonw_u64(w, "reset", counted.reset);
	jsonw_end(w);
}

enum command_result show_acceleration(struct command *c)
{
	const struct accel_totals none = { 0 }, *t = accel_reports_totals(c->d);

	write_terms(c);
	write_totals(c, t ? t : &none);
	answer_nodes(c, "nodes", write_node);
	return CMD_DONE;
}

/* --- each of them --- */

struct listing {
	struct command *c;
	unsigned n;
	uint64_t behind; /* Serial of the last connection. */
};

static const char *conn_state_word(const struct accel_conn *conn)
{
	return conn->times && strcmp(conn->state, "plain") == 0 ? "released" : conn->state;
}

static void write_conn(struct command *c, const struct accel_conn *conn)
{
	struct jsonw *w = c->w;

	jsonw_object(w, NULL);
	jsonw_u64(w, "vlan", conn->vlan);
	answer_endpoint(w, "near", &conn->near);
	answer_endpoint(w, "far", &conn->far);
	answer_node(w, "node_id", c->d, conn->node);
	jsonw_str(w, "state", conn_state_word(conn));
	jsonw_str(w, "reason", conn->reason);
	jsonw_u64(w, "since_seconds", conn->since_ms / 1000);
	jsonw_u64(w, "times_intercepted", conn->times);
	jsonw_u64(w, "held_frames", conn->held);
	jsonw_u64(w, "undelivered_bytes", conn->undelivered);
	write_bytes(w, &conn->bytes);
	write_benefit(w, &conn->time);
	jsonw_end(w);
}

/* Returns false for an answer that is no page. `after`: number of connections behind the page. */
static bool write_page(struct listing *l, struct jsonr *doc, uint64_t *after)
{
	struct jsonr_node *root = jsonr_root(doc);
	struct jsonr_node *page = root ? jsonr_array(root, "connections") : NULL;
	struct accel_conn conn;
	size_t i = 0;

	if (!page || !jsonr_u64(root, "after", 0, UINT32_MAX, after))
		return false;
	for (; i < jsonr_len(page) && l->n < LISTED_MAX; i++) {
		if (!accel_conn_read(jsonr_at(page, i), &conn) || conn.serial <= l->behind)
			return false;
		l->behind = conn.serial;
		write_conn(l->c, &conn);
		l->n++;
	}
	*after += jsonr_len(page) - i;
	/* Each page has a connection, so the number of pages is limited. */
	return !*after || i;
}

static bool request_page(struct listing *l);

static void on_page(void *arg, const char *answer, size_t len)
{
	struct listing *l = arg;
	struct jsonr *doc = answer ? jsonr_parse(answer, len, ACCEL_RELAY_ANSWER_MAX) : NULL;
	uint64_t after = 0;
	struct command *c = l->c;
	bool ok = doc && write_page(l, doc, &after), complete;

	jsonr_free(doc);
	complete = ok && (!after || l->n == LISTED_MAX);
	if (ok && !complete && request_page(l))
		return;
	free(l);
	if (!complete) {
		command_finish(c, command_refuse(c, "leon-accel has ended, or does not answer: "
						    "see `show events`"));
		return;
	}
	jsonw_end(c->w);
	jsonw_u64(c->w, "omitted", after);
	command_finish(c, CMD_DONE);
}

static bool request_page(struct listing *l)
{
	struct jsonw *w = accel_request("show acceleration connections");

	jsonw_object(w, "arguments");
	jsonw_u64(w, "behind", l->behind);
	jsonw_end(w);
	return accel_relay(l->c->d, w, on_page, l) == 0;
}

enum command_result show_acceleration_connections(struct command *c)
{
	struct listing *l = x_new(struct listing);

	l->c = c;
	write_state(c);
	jsonw_array(c->w, "connections");
	if (!accel_reports_totals(c->d)) {
		/* Without leon-accel, no connection is intercepted. */
		jsonw_end(c->w);
		jsonw_u64(c->w, "omitted", 0);
		free(l);
		return CMD_DONE;
	}
	if (request_page(l))
		return CMD_LATER;
	free(l);
	return command_refuse(c, "too many ask for connections at a time: try again");
}

enum command_result reset_acceleration(struct command *c)
{
	const struct accel_totals *t = accel_reports_totals(c->d);

	if (!c->d->conf->acceleration)
		return command_refuse(c, "acceleration is not configured");
	if (!t || !accelerator_release(c->d))
		return command_refuse(c, "leon-accel does not run: no connection is intercepted");
	jsonw_u64(c->w, "connections", t->intercepted_now);
	return CMD_DONE;
}
