// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show policy`: the match of critical frames, counters, and the two paths to each node, or the
 * reason why frames are not duplicated. Control thread.
 */
#include <stdio.h>

#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/metrics/metrics.h"
#include "daemon/leond.h"
#include "fwd/fwd.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/pair.h"

/* --- match --- */

/* A value by name, or as text without a name: the form of the configuration. */
static void write_named(struct jsonw *w, const char *key, const char *name, unsigned number)
{
	char text[8];

	snprintf(text, sizeof(text), "%u", number);
	jsonw_str(w, key, name ? name : text);
}

static void write_code_points(struct jsonw *w, uint64_t set)
{
	jsonw_array(w, "dscp");
	for (uint8_t i = 0; i < 64; i++)
		if (set >> i & 1)
			write_named(w, NULL, policy_dscp_name(i), i);
	jsonw_end(w);
}

static void write_service(struct jsonw *w, const struct policy_service *s)
{
	jsonw_object(w, NULL);
	write_named(w, "protocol", policy_protocol_name(s->protocol), s->protocol);
	answer_known(w, "port", s->port != 0, s->port);
	jsonw_end(w);
}

static void write_class(struct jsonw *w, const struct policy_class *p)
{
	char type[8];

	jsonw_object(w, "critical");
	write_code_points(w, p->dscp);
	jsonw_array(w, "vlan");
	for (uint16_t i = 1; i < VLAN_IDS; i++)
		if (vlan_set_has(&p->vlans, i))
			write_named(w, NULL, NULL, i);
	jsonw_end(w);
	jsonw_array(w, "mac");
	for (unsigned i = 0; i < p->n_macs; i++)
		answer_mac(w, NULL, p->mac[i]);
	jsonw_end(w);
	jsonw_array(w, "ethertype");
	for (unsigned i = 0; i < p->n_ethertypes; i++) {
		snprintf(type, sizeof(type), "0x%04x", p->ethertype[i]);
		jsonw_str(w, NULL, type);
	}
	jsonw_end(w);
	jsonw_array(w, "services");
	for (unsigned i = 0; i < p->n_services; i++)
		write_service(w, &p->service[i]);
	jsonw_end(w);
	jsonw_end(w);
}

static void write_terms(struct command *c, const struct policy *p)
{
	struct jsonw *w = c->w;

	jsonw_bool(w, "duplicate", p->duplicate);
	jsonw_bool(w, "parity", p->parity);
	jsonw_u64(w, "budget_kbits", p->budget_kbits);
	jsonw_u64(w, "budget_used_percent", fwd_budget_used_percent(c->d->fwd, c->now));
	jsonw_u64(w, "maximum_extra_delay_us", p->extra_delay_us);
	answer_known(w, "loss_permille", p->loss_pm != 0, p->loss_pm);
	answer_known(w, "jitter_us", p->jitter_us != 0, p->jitter_us);
}

/* --- counters --- */

static void write_counts(struct command *c)
{
	uint64_t n[N_COUNTERS], drop[N_DROPS];
	int64_t ms = mono_sub_ms(c->now, counters_since(c->d));
	struct jsonw *w = c->w;
	uint64_t treated;

	counters_read(c->d, n, drop);
	treated = n[CNT_critical_duplicated] + n[CNT_critical_parity];
	treated += c->d->conf->policy.parity ? 0 : n[CNT_critical_over_budget];
	jsonw_object(w, "sent");
	jsonw_u64(w, "frames", n[CNT_critical_frames]);
	jsonw_u64(w, "bytes", n[CNT_critical_bytes]);
	jsonw_u64(w, "duplicated", n[CNT_critical_duplicated]);
	jsonw_u64(w, "with_parity", n[CNT_critical_parity]);
	jsonw_u64(w, "parities", n[CNT_parity_tx]);
	jsonw_u64(w, "once_over_budget", n[CNT_critical_over_budget]);
	/* Workers count concurrently, so a difference may be negative and is limited to 0. */
	jsonw_u64(w, "once_without_second_path",
		  n[CNT_critical_frames] - min_of(n[CNT_critical_frames], treated));
	jsonw_u64(w, "extra_bytes", n[CNT_critical_extra_bytes]);
	answer_known(w, "extra_kbits_mean", ms > 0,
		     ms > 0 ? n[CNT_critical_extra_bytes] * 8 / (uint64_t)ms : 0);
	jsonw_end(w);
	jsonw_object(w, "received");
	jsonw_u64(w, "first", n[CNT_copy_first]);
	jsonw_u64(w, "second_dropped", n[CNT_copy_second]);
	jsonw_u64(w, "lost_one", n[CNT_copy_lost_one]);
	jsonw_u64(w, "late", drop[DROP_copy_old]);
	jsonw_u64(w, "parities", n[CNT_parity_rx]);
	jsonw_u64(w, "recovered", n[CNT_parity_recovered]);
	jsonw_u64(w, "unrecoverable", n[CNT_parity_unrecoverable]);
	jsonw_end(w);
	answer_age(w, "counted_seconds", c->now, counters_since(c->d));
}

/* --- the two paths to each node --- */

static void write_direction(struct command *c, const char *key, const struct path *p)
{
	jsonw_object(c->w, key);
	answer_hops(c->w, "hops", "hop_names", c->d, p);
	answer_known(c->w, "latency_us", path_works(p), p->rtt_us);
	answer_known(c->w, "long_term_us", path_works(p), p->long_term_us);
	jsonw_end(c->w);
}

static void write_pair(struct command *c, const struct node *n, const struct pairing *p)
{
	const struct policy *policy = &c->d->conf->policy;
	uint32_t difference_us = 0;
	bool both = pair_difference_us(p, &difference_us);

	jsonw_object(c->w, NULL);
	answer_node(c->w, "destination", c->d, n->id);
	jsonw_str(c->w, "state", pair_state_name(p->state, policy));
	answer_age(c->w, "since_seconds", c->now, p->since);
	jsonw_str(c->w, "reason", pair_state_text(p->state));
	write_direction(c, "first", pair_of_frames(p));
	write_direction(c, "second", pair_of_parities(p));
	answer_known(c->w, "difference_us", both, difference_us);
	jsonw_u64(c->w, "changes", p->way.n_changes);
	jsonw_u64(c->w, "loss_permille", p->loss_pm);
	jsonw_u64(c->w, "jitter_us", p->jitter_us);
	jsonw_end(c->w);
}

enum command_result show_policy(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);

	answer_id(c->w, "source", c->self);
	answer_call(c->w, "source_name", c->d, c->self);
	write_class(c->w, &c->d->conf->policy.critical);
	write_terms(c, &c->d->conf->policy);
	write_counts(c);
	jsonw_array(c->w, "pairs");
	for (const struct node *n = NULL; (n = nodedb_next(db, n));) {
		const struct pairing *p = overlay_pair(c->overlay, n->slot);

		if (p && p->state != PAIR_OFF)
			write_pair(c, n, p);
	}
	jsonw_end(c->w);
	return CMD_DONE;
}
