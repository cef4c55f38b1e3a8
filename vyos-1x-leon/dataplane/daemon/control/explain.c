// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Explanations of a path, and of a TCP connection. Control thread.
 */
#include <stdio.h>

#include "base/defs.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/answer/answer.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"

/* `explain path NODE`: the candidates with the parts of their cost, the rule of choice.h that
 * decided, and the requirements of a change. Computed from the current database. */

#define ALTERNATIVES_MAX 5
#define CANDIDATES_MAX	 (ALTERNATIVES_MAX + 4)

enum role {
	ROLE_IN_USE = 1,
	ROLE_BEST = 2,
	ROLE_LONG_TERM = 4,
	ROLE_DIRECT = 8,
	ROLE_ALTERNATIVE = 16
};

static const char *const roles[] = { "in-use", "best", "long-term", "direct", "alternative" };

struct candidate {
	struct path path;
	unsigned roles; /* enum role bits */
};
struct candidates {
	unsigned n;
	struct candidate c[CANDIDATES_MAX];
};

/* A candidate may have several roles: the path in use is often the best. */
static void add(struct candidates *list, const struct path *p, enum role role)
{
	if (p->n_hops == 0)
		return;
	for (unsigned i = 0; i < list->n; i++) {
		if (path_same(&list->c[i].path, p)) {
			list->c[i].roles |= role;
			return;
		}
	}
	if (list->n < CANDIDATES_MAX)
		list->c[list->n++] = (struct candidate){ .path = *p, .roles = role };
}

/* Keeps the cheapest ALTERNATIVES_MAX candidates, sorted by cost. */
static unsigned keep_cheapest(struct path best[ALTERNATIVES_MAX], unsigned n, const struct path *p)
{
	unsigned at = n;

	while (at > 0 && best[at - 1].cost_us > p->cost_us)
		at--;
	if (at == ALTERNATIVES_MAX)
		return n;
	n = min_of(n + 1, (unsigned)ALTERNATIVES_MAX);
	memmove(&best[at + 1], &best[at], (n - 1 - at) * sizeof(*p));
	best[at] = *p;
	return n;
}

static bool is_avoided(struct overlay *o, uint16_t via, uint16_t to)
{
	const uint16_t *avoided;
	uint64_t tx, lost;
	unsigned n = overlay_path_data(o, to, &tx, &lost, &avoided);

	for (unsigned i = 0; i < n; i++)
		if (avoided[i] == via)
			return true;
	return false;
}

/* Adds the paths through one relay. */
static void add_alternatives(struct overlay *o, uint16_t to, struct candidates *list)
{
	struct path_params pp = overlay_path_params(o);
	struct nodedb *db = overlay_nodes(o);
	struct path cheapest[ALTERNATIVES_MAX];
	unsigned n = 0;

	for (const struct node *via = NULL; (via = nodedb_next(db, via));) {
		struct path p = { .n_hops = 2, .hop = { via->slot, to } };

		if (via->slot == to || pp.maximum_relays == 0 ||
		    (pp.no_relay && pp.no_relay[via->slot]) || is_avoided(o, via->slot, to))
			continue;
		path_evaluate(overlay_latdb(o), &pp, SLOT_SELF, &p);
		if (p.cost_us != COST_INFINITE)
			n = keep_cheapest(cheapest, n, &p);
	}
	for (unsigned i = 0; i < n; i++)
		add(list, &cheapest[i], ROLE_ALTERNATIVE);
}

/*
 * Writes two values of an own link. Own load: the part of the last round trip caused by own
 * traffic, which rtt_us excludes. Propagation increase: the growth of the propagation delay beside
 * this traffic, which rtt_us includes.
 */
static void write_load(struct command *c, uint16_t from, uint16_t to)
{
	struct overlay_link l = { 0 };
	bool own = from == SLOT_SELF && overlay_link(c->overlay, to, &l) && l.load.known;

	answer_known(c->w, "own_load_us", own, l.load.load_us);
	answer_known(c->w, "persistent_us", own, (uint64_t)l.load.persistent_us);
}

static void write_link(struct command *c, uint16_t from, uint16_t to)
{
	struct path_params pp = overlay_path_params(c->overlay);
	struct lat_entry e = path_link(overlay_latdb(c->overlay), &pp, from, to);
	node_id_t a = node_id_at(c->d, from), b = node_id_at(c->d, to);
	uint32_t cost = link_cost(&e);
	bool up = cost != COST_INFINITE;

	jsonw_object(c->w, NULL);
	answer_id(c->w, "from", a);
	answer_call(c->w, "from_name", c->d, a);
	answer_id(c->w, "to", b);
	answer_call(c->w, "to_name", c->d, b);
	jsonw_bool(c->w, "up", e.up);
	jsonw_bool(c->w, "silent", e.up && e.silent);
	answer_known(c->w, "rtt_us", up, e.rtt_us);
	answer_known(c->w, "long_term_rtt_us", up, e.long_term_us);
	answer_known(c->w, "variation_us", up, e.var_us);
	answer_known(c->w, "loss_permille", up, e.loss_pm);
	answer_known(c->w, "loss_cost_us", up,
		     up ? cost - min_of(cost, e.rtt_us + link_variation_cost(&e)) : 0);
	answer_known(c->w, "cost_us", up, cost);
	write_load(c, from, to);
	jsonw_end(c->w);
}

static void write_candidate(struct command *c, const struct candidate *cand)
{
	struct path_params pp = overlay_path_params(c->overlay);
	struct path p = cand->path;
	uint16_t from = SLOT_SELF;

	overlay_path_evaluate(c->overlay, &p);
	jsonw_object(c->w, NULL);
	answer_bits(c->w, "roles", cand->roles, roles, array_size(roles));
	answer_hops(c->w, "hops", "hop_names", c->d, &p);
	answer_known(c->w, "cost_us", p.cost_us != COST_INFINITE, p.cost_us);
	answer_known(c->w, "long_term_cost_us", p.cost_us != COST_INFINITE, p.long_term_us);
	answer_known(c->w, "noise_us", p.cost_us != COST_INFINITE, p.noise_us);
	answer_known(c->w, "latency_us", p.cost_us != COST_INFINITE, p.rtt_us);
	answer_known(c->w, "mtu", p.mtu != 0, p.mtu);
	jsonw_u64(c->w, "relay_cost_us", (uint64_t)(p.n_hops - 1) * pp.relay_cost_us);
	jsonw_array(c->w, "links");
	for (unsigned i = 0; i < p.n_hops; i++) {
		write_link(c, from, p.hop[i]);
		from = p.hop[i];
	}
	jsonw_end(c->w);
	jsonw_end(c->w);
}

static const char *ms(char *buf, size_t len, uint32_t us)
{
	snprintf(buf, len, "%u.%u ms", us / 1000, us % 1000 / 100);
	return buf;
}

/* Describes the condition for or against a change now, and the requirements of a change. */
static void write_requirements(struct command *c, const struct choice *ch,
			       const struct choice_params *p)
{
	uint32_t now_us = choice_cost_to_beat(ch, &ch->best, p);
	char text[512], a[32], b[32], d[32], e[32];
	bool noisy = now_us + 1000 <
		     choice_cost_to_beat(
			     ch, &(struct path){ 0 },
			     &(struct choice_params){ .threshold_percent = p->threshold_percent,
						      .threshold_min_us = p->threshold_min_us });

	if (!path_works(&ch->path))
		snprintf(text, sizeof(text), "The first path that works is used at once.");
	else
		snprintf(text, sizeof(text),
			 "The path in use costs %s now and %s long-term. Another path replaces "
			 "the path in use if its cost is at most %s now%s. A long-term cost of at "
			 "most %s also suffices, if the other path costs no more now. If a link "
			 "of the path in use fails or falls silent, the change is immediate.",
			 ms(a, sizeof(a), ch->path.cost_us),
			 ms(b, sizeof(b), ch->path.long_term_us), ms(d, sizeof(d), now_us),
			 noisy ? " (the threshold includes the noise of both paths)" : "",
			 ms(e, sizeof(e), choice_long_term_to_beat(ch, p)));
	jsonw_str(c->w, "requirements", text);
}

static void write_rule(struct command *c, const struct choice *ch)
{
	const struct conf *conf = c->d->conf;
	struct choice_params p = choice_params_of(conf);
	int64_t hold_ms = mono_is_never(ch->hold_until) ? 0 : mono_sub_ms(ch->hold_until, c->now);
	bool usable = path_works(&ch->path);

	jsonw_str(c->w, "reason", choice_texts[ch->reason].name);
	jsonw_str(c->w, "reason_text", choice_texts[ch->reason].text);
	jsonw_str(c->w, "chosen_by", choice_texts[ch->chosen_by].name);
	answer_time(c->w, "since", wall_of(c->now, ch->since));
	answer_age(c->w, "since_seconds", c->now, ch->since);
	jsonw_u64(c->w, "changes", ch->n_changes);
	answer_known(c->w, "cost_to_beat_us", usable,
		     usable ? choice_cost_to_beat(ch, &ch->best, &p) : 0);
	answer_known(c->w, "long_term_to_beat_us", usable,
		     usable ? choice_long_term_to_beat(ch, &p) : 0);
	write_requirements(c, ch, &p);
	jsonw_u64(c->w, "hold_remaining_ms", hold_ms > 0 ? (uint64_t)hold_ms : 0);
	answer_rules(c->w, conf);
}

/* --- relays that are no candidates --- */

static const struct exclusion {
	const char *word, *sentence;
} transit_disabled = { "transit-disabled", "its configuration has transit disable" },
  first_down = { "first-link-down", "the link from this node to the relay is down" },
  second_down = { "second-link-down", "the link from the relay to the destination is down" },
  broken = { "reported-broken", "a node has just reported a link of this path as broken" },
  data_loss = { "data-loss", "data was lost on this path" };

/* Returns the reason why the path through one relay is no candidate; NULL: it is one. */
static const struct exclusion *exclusion_of(struct overlay *o, const struct path_params *pp,
					    uint16_t via, uint16_t to)
{
	const struct latdb *db = overlay_latdb(o);

	if (pp->no_relay[via])
		return &transit_disabled;
	if (!path_link(db, pp, SLOT_SELF, via).up)
		return &first_down;
	if (!path_link(db, pp, via, to).up)
		return &second_down;
	if (path_link_broken(pp, SLOT_SELF, via) || path_link_broken(pp, via, to))
		return &broken;
	return is_avoided(o, via, to) ? &data_loss : NULL;
}

static void write_excluded(struct command *c, uint16_t to)
{
	struct path_params pp = overlay_path_params(c->overlay);
	struct nodedb *db = overlay_nodes(c->overlay);

	jsonw_array(c->w, "excluded_relays");
	for (const struct node *via = NULL; pp.maximum_relays && (via = nodedb_next(db, via));) {
		const struct exclusion *why;

		if (via->slot == SLOT_SELF || via->slot == to)
			continue;
		why = exclusion_of(c->overlay, &pp, via->slot, to);
		if (!why)
			continue;
		answer_begin_node(c->w, "node_id", c->d, via->id);
		jsonw_str(c->w, "reason", why->word);
		jsonw_str(c->w, "reason_text", why->sentence);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
}

enum command_result explain_path(struct command *c)
{
	const struct node *n = command_node(c);
	struct candidates list = { 0 };
	const struct choice *ch;

	if (!n)
		return CMD_FAILED;
	if (n->slot == SLOT_SELF)
		return command_refuse(c, "no path leads to this node itself");
	ch = overlay_choice(c->overlay, n->slot);
	if (!ch)
		return command_refuse(c, "no path to the node has been computed yet");
	add(&list, &ch->path, ROLE_IN_USE);
	add(&list, &ch->best, ROLE_BEST);
	add(&list, &ch->long_term, ROLE_LONG_TERM);
	add(&list, &(struct path){ .n_hops = 1, .hop = { n->slot } }, ROLE_DIRECT);
	add_alternatives(c->overlay, n->slot, &list);

	answer_id(c->w, "source", c->self);
	answer_call(c->w, "source_name", c->d, c->self);
	answer_node(c->w, "destination", c->d, n->id);
	write_rule(c, ch);
	answer_path_data(c->w, c->d, n->slot, &ch->path);
	jsonw_array(c->w, "candidates");
	for (unsigned i = 0; i < list.n; i++)
		write_candidate(c, &list.c[i]);
	jsonw_end(c->w);
	write_excluded(c, n->slot);
	return CMD_DONE;
}

/* `explain connection ADDRESS:PORT ADDRESS:PORT`: forwards the request to leon-accel, which has the
 * connections and checks. The answer is a part of the answer of leond. */

/* leon-accel is a separate process, so its answer is parsed before use. */
static void on_answer(void *arg, const char *answer, size_t len)
{
	struct jsonr *doc = answer ? jsonr_parse(answer, len, ACCEL_RELAY_ANSWER_MAX) : NULL;
	enum command_result result = CMD_DONE;
	struct command *c = arg;
	const char *error;

	if (!doc)
		result = command_refuse(c, "leon-accel does not answer");
	else if (jsonr_error(doc) || !jsonr_root(doc))
		result = command_refuse(c, "the answer of leon-accel is not a JSON object");
	else if (jsonr_str(jsonr_root(doc), "error", &error))
		result = command_refuse(c, "leon-accel: %.200s", error);
	else
		jsonw_json(c->w, "accelerator", answer, len);
	jsonr_free(doc);
	command_finish(c, result);
}

static bool read_endpoint(struct command *c, const char *key, struct endpoint *out)
{
	const char *text = "";

	jsonr_str(c->arguments, key, &text);
	if (endpoint_parse(text, 0, out) == 0 && out->port)
		return true;
	command_refuse(c, "\"%.60s\" is not ADDRESS:PORT: an IPv6 address is written in brackets",
		       text);
	return false;
}

static void write_endpoints(struct jsonw *w, const struct endpoint ep[2])
{
	answer_endpoint(w, "first", &ep[0]);
	answer_endpoint(w, "second", &ep[1]);
}

enum command_result explain_connection(struct command *c)
{
	struct endpoint ep[2];
	struct jsonw *w;

	if (!read_endpoint(c, "first", &ep[0]) || !read_endpoint(c, "second", &ep[1]))
		return CMD_FAILED;
	if (!c->d->conf->acceleration)
		return command_refuse(c, "acceleration is not configured");
	if (!accel_reports_totals(c->d))
		return command_refuse(c, "leon-accel does not run: no connection is tracked");
	write_endpoints(c->w, ep);
	w = accel_request("explain connection");
	jsonw_object(w, "arguments");
	write_endpoints(w, ep);
	jsonw_end(w);
	if (accel_relay(c->d, w, on_answer, c) < 0)
		return command_refuse(c, "leon-accel cannot be asked now: try again");
	return CMD_LATER;
}
