// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands about the nodes of the table, their identities, and recent events. Control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "proto/overlay.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/tables/fdb.h"

/* `show nodes`: every node of the table with its state and direct link. */

/* FDB entries per slot; the caller frees the array. */
static uint32_t *count_macs(struct leond *d)
{
	uint16_t n_slots = nodedb_slots(overlay_nodes(d->overlay));
	uint32_t *n_macs = x_calloc(n_slots, sizeof(*n_macs));
	struct fdb_entry e;
	uint32_t iter = 0;

	while (fdb_next(d->fdb, &iter, &e))
		if (e.slot < n_slots)
			n_macs[e.slot]++;
	return n_macs;
}

static const char *secret_name(enum link_secret s)
{
	static const char *const names[] = { [LINK_SECRET_NONE] = NULL,
					     [LINK_SECRET_OWN] = "own",
					     [LINK_SECRET_ACCEPTED] = "accepted",
					     [LINK_SECRET_OTHER] = "other" };

	return names[s];
}

/* l: NULL without a link. */
static void write_link(struct command *c, const struct node *n, const struct overlay_link *l)
{
	static const struct overlay_link none;
	bool has = l != NULL, sampled = has && l->filter.n_samples > 0;
	uint32_t probe_ms = has ? overlay_probe_ms(c->overlay, n->slot) : 0;
	struct jsonw *w = c->w;

	l = has ? l : &none;
	answer_link_endpoint(w, "endpoint", c->d, &l->ep);
	jsonw_bool(w, "behind_nat", has ? l->behind_nat : n->rec.flags & RECORD_BEHIND_NAT);
	jsonw_str(w, "link", !has ? "none" : l->up ? "up" : "down");
	answer_known(w, "rtt_us", sampled, (uint64_t)l->filter.now_us);
	answer_known(w, "long_term_rtt_us", sampled, (uint64_t)l->filter.long_term_us);
	answer_known(w, "variation_us", sampled, (uint64_t)l->filter.variation_us);
	answer_known(w, "loss_permille", sampled, l->filter.loss_pm);
	answer_known(w, "min_rtt_us", sampled, (uint64_t)minmax_min(&l->filter.min));
	answer_known(w, "link_mtu", l->mtu != 0, l->mtu);
	answer_known(w, "probe_interval_ms", probe_ms != 0, probe_ms);
	jsonw_str(w, "secret", secret_name(l->secret));
	answer_left(w, "session_ends_seconds", c->now, l->session_ends);
	answer_known(w, "probes_sent", has, l->probes_tx);
	answer_known(w, "probes_lost", has, l->probes_lost);
	if (has)
		jsonw_bool(w, "silent", l->silent);
	else
		jsonw_null(w, "silent");
	answer_known(w, "silences", has, l->silences);
	answer_known(w, "data_compared", has, l->data_tx);
	answer_known(w, "data_lost", has, l->data_lost);
	answer_known(w, "data_loss_permille", has, l->data_loss_pm);
	jsonw_str(w, "encryption", l->session ? seal_cipher_name(l->cipher) : NULL);
}

static const char *lan_name(const struct node *n)
{
	if (n->rec.flags & RECORD_LAN_DOWN)
		return "down";
	if (n->rec.flags & RECORD_LAN_BLOCKED)
		return "blocked";
	return n->rec.flags & RECORD_LAN_SHARED ? "shared" : "own";
}

static void write_record(struct jsonw *w, const struct node *n)
{
	const struct msg_record *r = &n->rec;

	jsonw_bool(w, "transit_disabled", r->flags & RECORD_TRANSIT_DISABLED);
	jsonw_str(w, "lan", lan_name(n));
	jsonw_array(w, "locators");
	for (unsigned i = 0; n->has_record && i < r->n_locators; i++)
		answer_endpoint(w, NULL, &r->locator[i]);
	jsonw_end(w);
	jsonw_array(w, "overlay_addresses");
	for (unsigned i = 0; n->has_record && i < r->n_overlay; i++)
		answer_ip(w, NULL, &r->overlay[i]);
	jsonw_end(w);
	jsonw_array(w, "prefixes");
	for (unsigned i = 0; n->has_record && i < r->n_prefixes; i++)
		answer_prefix(w, NULL, &r->prefix[i]);
	jsonw_end(w);
	answer_known(w, "incarnation", n->has_record, r->incarnation);
	answer_known(w, "sequence", n->has_record, r->seq);
}

static const uint8_t *key_of(struct overlay *o, const struct node *n)
{
	if (n->slot == SLOT_SELF)
		return overlay_identity(o);
	return n->has_key ? n->key : NULL;
}

static const char *state_of(const struct node *n)
{
	if (n->slot == SLOT_SELF)
		return "self";
	return node_state_name(n->state);
}

static void write_node(struct command *c, const struct node *n, uint32_t n_macs)
{
	bool is_self = n->slot == SLOT_SELF, has_link;
	struct overlay_link link = { .up = false };

	answer_begin_node(c->w, "node_id", c->d, n->id);
	jsonw_str(c->w, "state", state_of(n));
	answer_age(c->w, "since_seconds", c->now, is_self ? c->d->started : n->since);
	has_link = !is_self && n->state != NODE_LEFT && overlay_link(c->overlay, n->slot, &link);
	write_link(c, n, has_link ? &link : NULL);
	answer_protected(c->w, c->d, &link.ep.ip, c->now);
	answer_key(c->w, "identity", key_of(c->overlay, n));
	answer_duplicate(c->w, "duplicate", c->d, n->slot, c->now);
	write_record(c->w, n);
	jsonw_u64(c->w, "macs", n_macs);
	jsonw_end(c->w);
}

enum command_result show_nodes(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	uint32_t *n_macs = count_macs(c->d);

	jsonw_array(c->w, "nodes");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);

		if (n)
			write_node(c, n, n_macs[slot]);
	}
	jsonw_end(c->w);
	free(n_macs);
	return CMD_DONE;
}

/* `show identity`: the public identity key of this node and those of known or listed nodes, for the
 * list of trusted identities. */

static void write_identity(struct command *c, const uint8_t *key, node_id_t id, const char *name,
			   const char *state, bool listed)
{
	jsonw_object(c->w, NULL);
	answer_key(c->w, "identity", key);
	answer_id(c->w, "node_id", id);
	jsonw_str(c->w, "name", name[0] ? name : NULL);
	jsonw_str(c->w, "state", state);
	jsonw_bool(c->w, "listed", listed);
	jsonw_end(c->w);
}

static bool is_known(struct command *c, const uint8_t *key)
{
	struct nodedb *db = overlay_nodes(c->overlay);

	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);
		const uint8_t *other = n ? key_of(c->overlay, n) : NULL;

		if (other && memcmp(key, other, MSG_KEY_LEN) == 0)
			return true;
	}
	return false;
}

enum command_result show_identity(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	const struct conf *conf = c->d->conf;
	const uint8_t *refused_key;
	node_id_t refused;

	answer_id(c->w, "node_id", c->self);
	answer_key(c->w, "identity", overlay_identity(c->overlay));
	jsonw_str(c->w, "file", conf->identity_file);
	jsonw_bool(c->w, "restricted", conf->n_trusted > 0);
	answer_duplicate(c->w, "duplicate", c->d, SLOT_SELF, c->now);
	jsonw_array(c->w, "identities");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);
		const uint8_t *key = n ? key_of(c->overlay, n) : NULL;

		if (key)
			write_identity(c, key, n->id, node_name_of(c->d, n->id), state_of(n),
				       conf->n_trusted && conf_trusts(conf, key));
	}
	/* Recently refused identities, without further facts. */
	for (unsigned i = 0; i < OVERLAY_REFUSALS; i++)
		if (overlay_refusal(c->overlay, i, &refused, &refused_key))
			write_identity(c, refused_key, refused, "", "refused", false);
	for (uint32_t i = 0; i < conf->n_trusted; i++)
		if (!is_known(c, conf->trusted[i]))
			write_identity(c, conf->trusted[i], NODE_ID_NONE, "", NULL, true);
	jsonw_end(c->w);
	return CMD_DONE;
}

/* `show events`: recent events, oldest first. */

static void write_event(struct command *c, const struct event *e)
{
	jsonw_object(c->w, NULL);
	answer_time(c->w, "at", e->wall_us);
	answer_age(c->w, "age_seconds", c->now, e->at);
	jsonw_str(c->w, "event", event_texts[e->kind].name);
	answer_id(c->w, "node_id", e->node);
	jsonw_str(c->w, "name", e->node_name[0] ? e->node_name : NULL);
	answer_id(c->w, "other", e->other);
	answer_known(c->w, "value", e->value != 0, e->value);
	jsonw_str(c->w, "detail", e->detail[0] ? e->detail : NULL);
	jsonw_str(c->w, "text", e->text);
	jsonw_end(c->w);
}

enum command_result show_events(struct command *c)
{
	const struct events *events = c->d->events;

	jsonw_array(c->w, "events");
	for (unsigned i = 0; i < events_count(events); i++)
		write_event(c, events_at(events, i));
	jsonw_end(c->w);
	jsonw_u64(c->w, "total", events_total(events));
	return CMD_DONE;
}
