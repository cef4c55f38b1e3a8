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

static void write_link(struct command *c, const struct overlay_link *l)
{
	bool sampled = l->filter.n_samples > 0;
	struct jsonw *w = c->w;

	answer_link_endpoint(w, "endpoint", c->d, &l->ep);
	jsonw_bool(w, "behind_nat", l->behind_nat);
	jsonw_str(w, "link", l->up ? "up" : "down");
	answer_known(w, "rtt_us", sampled, (uint64_t)l->filter.now_us);
	answer_known(w, "long_term_rtt_us", sampled, (uint64_t)l->filter.long_term_us);
	answer_known(w, "variation_us", sampled, (uint64_t)l->filter.variation_us);
	answer_known(w, "loss_permille", sampled, l->filter.loss_pm);
	answer_known(w, "min_rtt_us", sampled, (uint64_t)minmax_min(&l->filter.min));
	answer_known(w, "link_mtu", l->mtu != 0, l->mtu);
	answer_known(w, "probe_interval_ms", l->probe_ms != 0, l->probe_ms);
	jsonw_str(w, "secret", secret_name(l->secret));
	answer_left(w, "session_ends_seconds", c->now, l->session_ends);
	jsonw_u64(w, "probes_sent", l->probes_tx);
	jsonw_u64(w, "probes_lost", l->probes_lost);
	jsonw_bool(w, "silent", l->silent);
	jsonw_u64(w, "silences", l->silences);
	jsonw_u64(w, "data_compared", l->data_tx);
	jsonw_u64(w, "data_lost", l->data_lost);
	jsonw_u64(w, "data_loss_permille", l->data_loss_pm);
	if (l->session)
		jsonw_str(w, "encryption", seal_cipher_name(l->cipher));
	else
		jsonw_null(w, "encryption");
}

static void write_no_link(struct jsonw *w, const struct node *n)
{
	static const char *const unknown[] = { "rtt_us",
					       "long_term_rtt_us",
					       "variation_us",
					       "loss_permille",
					       "min_rtt_us",
					       "link_mtu",
					       "probe_interval_ms",
					       "secret",
					       "session_ends_seconds",
					       "probes_sent",
					       "probes_lost",
					       "silent",
					       "silences",
					       "data_compared",
					       "data_lost",
					       "data_loss_permille",
					       "encryption" };

	jsonw_null(w, "endpoint");
	jsonw_null(w, "transport");
	jsonw_bool(w, "behind_nat", n->rec.flags & RECORD_BEHIND_NAT);
	jsonw_str(w, "link", "none");
	for (size_t i = 0; i < array_size(unknown); i++)
		jsonw_null(w, unknown[i]);
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
	bool is_self = n->slot == SLOT_SELF;
	struct overlay_link link = { .up = false };

	jsonw_object(c->w, NULL);
	answer_id(c->w, "node_id", n->id);
	answer_name(c->w, "name", c->d, n->id);
	jsonw_str(c->w, "state", is_self ? "self" : node_state_name(n->state));
	answer_age(c->w, "since_seconds", c->now, is_self ? c->d->started : n->since);
	if (!is_self && n->state != NODE_LEFT && overlay_link(c->d->overlay, n->slot, &link))
		write_link(c, &link);
	else
		write_no_link(c->w, n);
	answer_protected(c->w, c->d, &link.ep.ip, c->now);
	answer_key(c->w, "identity",
		   is_self	? overlay_identity(c->d->overlay)
		   : n->has_key ? n->key
				: NULL);
	answer_duplicate(c->w, "duplicate", c->d, n->slot, c->now);
	write_record(c->w, n);
	jsonw_u64(c->w, "macs", n_macs);
	jsonw_end(c->w);
}

enum command_result show_nodes(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->d->overlay);
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
