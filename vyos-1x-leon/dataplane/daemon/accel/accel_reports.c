// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel about its connections, see leon_accel.h. Control thread.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/tables/nodedb.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

#define MISUSE_EVERY_MS 60000 /* minimum interval of events for a node */
#define FAULT_EVERY_MS	60000

struct accel_known {
	struct accel_node node;
	uint64_t foreign; /* Packets with a wrong source, as reported by workers. */
	/* Reported values of node.misuse and foreign. */
	uint64_t reported[ACCEL_N_MISUSES];
	mono_t reported_at; /* Time of the last event about misuse. never: no event. */
	UT_hash_handle hh;
};

struct accel_reports {
	bool is_connected;
	bool is_requested; /* A report is requested. */
	unsigned silent;   /* Seconds of the loop since the last report. */
	bool has_totals;
	struct accel_totals totals;
	uint64_t faults[ACCEL_N_FAULTS]; /* Values of totals.fault in the last event. */
	mono_t faults_at;		 /* Time of the last event about faults. never: no event. */
	struct accel_known *nodes;	 /* At most CONF_NODES_LIMIT. */
};

void accel_reports_open(struct leond *d)
{
	d->states->accel_reports = x_new(struct accel_reports);
}

static void forget_nodes(struct accel_reports *r)
{
	struct accel_known *k, *next;

	HASH_ITER(hh, r->nodes, k, next) {
		HASH_DEL(r->nodes, k);
		free(k);
	}
}

/* --- nodes and totals --- */

static struct accel_known *find(const struct accel_reports *r, node_id_t id)
{
	struct accel_known *k;

	HASH_FIND(hh, r->nodes, &id, sizeof(id), k);
	return k;
}

static void report_reached(struct leond *d, const struct accel_node *n, const char *who)
{
	uint16_t slot = nodedb_slot(overlay_nodes(d->overlay), n->id);

	/* The end of an unneeded inter-proxy connection is no fault. */
	if (!n->reached && accel_latency_is_near(d->overlay, d->conf, slot, 100))
		return;
	report_event(
		d, FACTS(n->reached ? EV_ACCELERATOR_REACHED : EV_ACCELERATOR_LOST, .node = n->id),
		"the accelerator of node %s is %s", who,
		n->reached ? "reached" : "not reached any more");
}

/* A single event for all connections of a second. */
static void report_counts(struct leond *d, const struct accel_node *n, const struct accel_node *was,
			  const char *who)
{
	const struct {
		enum event_kind kind;
		uint64_t n;
		const char *done;
	} news[] = {
		{ EV_TCP_INTERCEPTED, n->intercepted - was->intercepted, "intercepted" },
		{ EV_TCP_RELEASED, n->returned - was->returned, "released" },
		{ EV_TCP_REFUSED, n->refused - was->refused, "refused" },
		{ EV_TCP_RESET, n->reset - was->reset, "reset" },
	};

	for (size_t i = 0; i < array_size(news); i++)
		if (news[i].n)
			report_event(d, FACTS(news[i].kind, .node = n->id, .value = news[i].n),
				     "%llu TCP %s to hosts at node %s %s, %llu intercepted now",
				     (unsigned long long)news[i].n,
				     news[i].n == 1 ? "connection" : "connections", who,
				     news[i].done, (unsigned long long)n->intercepted_now);
}

/* Sum of the counts of leon-accel and leond. */
static uint64_t misuse_of(const struct accel_known *k, enum accel_misuse m)
{
	return k->node.misuse[m] + (m == ACCEL_FOREIGN ? k->foreign : 0);
}

struct count_list {
	char text[256];
	size_t at;
	uint64_t sum;
};

/* Appends a count above 0, so that the text becomes like "stray_frames 12, bad_messages 1". */
static void list_count(struct count_list *l, const char *word, uint64_t n)
{
	if (n && l->at < sizeof(l->text))
		l->at += (size_t)snprintf(l->text + l->at, sizeof(l->text) - l->at, "%s%s %llu",
					  l->sum ? ", " : "", word, (unsigned long long)n);
	l->sum += n;
}

static void forget_misuse(struct accel_known *k)
{
	for (enum accel_misuse m = 0; m < ACCEL_N_MISUSES; m++)
		k->reported[m] = misuse_of(k, m);
}

static void report_misuse(struct leond *d, struct accel_known *k, const char *who)
{
	mono_t now = loop_now(d->loop);
	struct count_list list = { 0 };

	if (mono_is_recent(k->reported_at, MISUSE_EVERY_MS, now))
		return;
	/* An honest node with another mode or threshold causes ACCEL_UNWANTED. */
	for (enum accel_misuse m = 0; m < ACCEL_N_MISUSES; m++)
		if (m != ACCEL_UNWANTED)
			list_count(&list, accel_misuse_word(m), misuse_of(k, m) - k->reported[m]);
	if (!list.sum)
		return;
	forget_misuse(k);
	k->reported_at = now;
	report_event(d,
		     FACTS(EV_ACCELERATOR_MISUSE, .node = k->node.id, .value = list.sum,
			   .detail = list.text),
		     "leon-accel refuses frames or messages of node %s: %s", who, list.text);
}

/* NULL: the table is full. */
static struct accel_known *find_or_add(struct accel_reports *r, node_id_t id)
{
	struct accel_known *k = find(r, id);

	if (k || HASH_COUNT(r->nodes) >= CONF_NODES_LIMIT)
		return k;
	k = x_new(struct accel_known);
	k->node.id = id;
	HASH_ADD(hh, r->nodes, node.id, sizeof(k->node.id), k);
	return k;
}

void accel_reports_foreign(struct leond *d, uint16_t slot)
{
	node_id_t id = node_id_at(d, slot);
	struct accel_known *k = id ? find_or_add(d->states->accel_reports, id) : NULL;

	if (!k)
		return;
	k->foreign++;
	report_misuse(d, k, NODE_LABEL(d, id));
}

static void take_node(struct leond *d, const struct accel_node *n)
{
	struct accel_reports *r = d->states->accel_reports;
	struct accel_known *k = find_or_add(r, n->id);
	const char *who = NODE_LABEL(d, n->id);

	if (!k)
		return;
	/* The first report has events from before the start of this daemon. */
	if (r->has_totals) {
		if (n->reached != k->node.reached)
			report_reached(d, n, who);
		report_counts(d, n, &k->node, who);
	}
	k->node = *n;
	if (r->has_totals)
		report_misuse(d, k, who);
	else
		forget_misuse(k);
}

static void report_faults(struct leond *d)
{
	struct accel_reports *r = d->states->accel_reports;
	mono_t now = loop_now(d->loop);
	struct count_list list = { 0 };

	if (mono_is_recent(r->faults_at, FAULT_EVERY_MS, now))
		return;
	for (enum accel_fault i = 0; i < ACCEL_N_FAULTS; i++)
		list_count(&list, accel_fault_word(i), r->totals.fault[i] - r->faults[i]);
	if (!list.sum)
		return;
	memcpy(r->faults, r->totals.fault, sizeof(r->faults));
	r->faults_at = now;
	report_event(d, FACTS(EV_ACCELERATOR_FAULT, .value = list.sum, .detail = list.text),
		     "leon-accel keeps connections plain or resets them: %s", list.text);
}

static void take_totals(struct leond *d, const struct accel_totals *t)
{
	struct accel_reports *r = d->states->accel_reports;

	r->totals = *t;
	/* The first totals have the faults from before the start of this daemon. */
	if (r->has_totals)
		report_faults(d);
	else
		memcpy(r->faults, t->fault, sizeof(r->faults));
	r->has_totals = true;
}

/* Returns false for an answer that is no report. */
static bool take_report(struct leond *d, struct jsonr *doc)
{
	struct jsonr_node *root = jsonr_root(doc), *nodes;
	struct accel_totals t;
	struct accel_node n;

	if (!root || !accel_totals_read(root, &t))
		return false;
	nodes = jsonr_array(root, "nodes");
	if (!nodes || jsonr_error(doc))
		return false;
	for (size_t i = 0; i < jsonr_len(nodes); i++) {
		bool named = accel_node_read(jsonr_at(nodes, i), &n);

		if (jsonr_error(doc))
			return false;
		if (named)
			take_node(d, &n);
	}
	take_totals(d, &t);
	return true;
}

/* leon-accel is a separate process, so its answer is parsed before use. */
static void on_report(void *arg, const char *answer, size_t len)
{
	struct leond *d = arg;
	struct jsonr *doc;

	d->states->accel_reports->is_requested = false;
	if (!answer)
		return;
	doc = jsonr_parse(answer, len, ACCEL_RELAY_ANSWER_MAX);
	if (take_report(d, doc))
		d->states->accel_reports->silent = 0;
	jsonr_free(doc);
}

/* Without an answer, the next second has another request. */
static void request_report(struct leond *d)
{
	struct accel_reports *r = d->states->accel_reports;

	if (!r->is_requested)
		r->is_requested = accel_relay_report(d, on_report, d) == 0;
}

bool accel_reports_second(struct leond *d)
{
	if (++d->states->accel_reports->silent > ACCEL_SILENT_S)
		return false;
	request_report(d);
	return true;
}

const struct accel_totals *accel_reports_totals(const struct leond *d)
{
	const struct accel_reports *r = d->states->accel_reports;

	return r->has_totals ? &r->totals : NULL;
}

bool accel_reports_node(const struct leond *d, node_id_t id, struct accel_node *out)
{
	const struct accel_known *k = find(d->states->accel_reports, id);

	if (k)
		*out = k->node;
	return k;
}

/* --- connection and disconnection --- */

void accel_reports_here(struct leond *d)
{
	d->states->accel_reports->is_connected = true;
	d->states->accel_reports->silent = 0;
	request_report(d);
	report_event(d, FACTS(EV_ACCELERATOR_STARTED),
		     "leon-accel has connected: TCP connections can be intercepted");
}

void accel_reports_gone(struct leond *d)
{
	struct accel_reports *r = d->states->accel_reports;
	uint64_t lost = r->has_totals ? r->totals.intercepted_now : 0;

	if (!r->is_connected)
		return;
	/* After a switch-off, leon-accel ends the connection to leond with the last release. */
	if (d->conf->acceleration)
		report_event(d, FACTS(EV_ACCELERATOR_GONE, .value = lost),
			     "leon-accel has ended: TCP connections stay plain, %llu intercepted "
			     "connections are lost",
			     (unsigned long long)lost);
	/* An answer on its way is of the ended process. */
	accel_relays_free(d);
	r->is_connected = r->has_totals = false;
	forget_nodes(r);
}

void accel_reports_free(struct leond *d)
{
	struct accel_reports *r = d->states->accel_reports;

	if (!r)
		return;
	forget_nodes(r);
	x_free(d->states->accel_reports);
}
