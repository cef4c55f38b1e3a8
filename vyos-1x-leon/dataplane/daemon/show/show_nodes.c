// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show nodes`: every node of the table with its state and direct link. Control thread.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/leond.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/tables/fdb.h"

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

static void write_node(struct command *c, const struct node *n, uint32_t n_macs)
{
	bool is_self = n->slot == SLOT_SELF, has_link;
	struct overlay_link link = { .up = false };

	jsonw_object(c->w, NULL);
	answer_node(c->w, "node_id", c->d, n->id);
	jsonw_str(c->w, "state", is_self ? "self" : node_state_name(n->state));
	answer_age(c->w, "since_seconds", c->now, is_self ? c->d->started : n->since);
	has_link = !is_self && n->state != NODE_LEFT && overlay_link(c->overlay, n->slot, &link);
	write_link(c, n, has_link ? &link : NULL);
	answer_protected(c->w, c->d, &link.ep.ip, c->now);
	answer_key(c->w, "identity",
		   is_self	? overlay_identity(c->overlay)
		   : n->has_key ? n->key
				: NULL);
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
