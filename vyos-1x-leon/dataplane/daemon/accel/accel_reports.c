// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel about its connections, see accel_reports.h. Control thread.
 */
#include "daemon/accel/accel_reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/defs.h"
#include "base/mem.h"
#include "daemon/leond.h"
#include "daemon/report/event_text.h"

#define uthash_fatal(msg) bug("%s", msg)
#include <uthash.h>

#define REQUESTS_MAX	8
#define SILENT_MS	5000
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

struct accel_request {
	struct leond *d;
	struct accel_request *next;
	uint32_t number;
	struct accel_paging paging;
	struct timer *silent;
	accel_answer_fn fn;
	void *arg;
};

struct accel_reports {
	int fd; /* Socket to leon-accel, not owned. -1: not connected. */
	bool has_totals;
	struct accel_totals totals;
	uint64_t faults[ACCEL_N_FAULTS]; /* Values of totals.fault in the last event. */
	mono_t faults_at;		 /* Time of the last event about faults. never: no event. */
	struct accel_known *nodes;	 /* At most CONF_NODES_LIMIT. */
	struct accel_request *questions;
	unsigned n_questions;
	uint32_t last_number;
};

void accel_reports_open(struct leond *d)
{
	d->accel_reports = x_new(struct accel_reports);
	d->accel_reports->fd = -1;
}

static void forget_nodes(struct accel_reports *r)
{
	struct accel_known *k, *next;

	HASH_ITER(hh, r->nodes, k, next) {
		HASH_DEL(r->nodes, k);
		free(k);
	}
}

static bool notify(const struct accel_reports *r, const struct accel_report *report)
{
	static uint8_t buf[ACCEL_REPORT_MAX]; /* large; single-threaded */

	return r->fd >= 0 &&
	       send(r->fd, buf, accel_report_encode(report, buf), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

/* --- requests --- */

static void request_free(struct accel_reports *r, struct accel_request *q)
{
	struct accel_request **link = &r->questions;

	while (*link != q)
		link = &(*link)->next;
	*link = q->next;
	r->n_questions--;
	timer_free(q->silent);
	free(q);
}

static void request_end(struct accel_request *q, enum accel_answer answer,
			const struct accel_conn *conn, unsigned n)
{
	accel_answer_fn fn = q->fn;
	void *arg = q->arg;

	request_free(q->d->accel_reports, q);
	fn(arg, answer, conn, n);
}

static void on_silent(void *arg, mono_t now)
{
	(void)now;
	request_end(arg, ACCEL_ANSWER_NONE, NULL, 0);
}

/* Requests the connections after the received connections. If the request cannot be sent, no answer
 * arrives, and the timer ends the query. */
static void request_next(struct accel_request *q)
{
	struct accel_report r = { .what = ACCEL_REQUEST_PAGE,
				  .ask = { q->number, q->paging.behind } };

	timer_set(q->silent, mono_add_ms(loop_now(q->d->loop), SILENT_MS));
	notify(q->d->accel_reports, &r);
}

bool accel_reports_request(struct leond *d, accel_answer_fn fn, void *arg)
{
	struct accel_reports *r = d->accel_reports;
	struct accel_request *q;

	if (r->fd < 0 || r->n_questions == REQUESTS_MAX)
		return false;
	q = x_new(struct accel_request);
	*q = (struct accel_request){
		.d = d, .next = r->questions, .number = ++r->last_number, .fn = fn, .arg = arg
	};
	q->silent = timer_new(d->loop, on_silent, q);
	r->questions = q;
	r->n_questions++;
	request_next(q);
	return true;
}

bool accel_reports_release(struct leond *d)
{
	struct accel_report r = { .what = ACCEL_REQUEST_RETURN };

	return notify(d->accel_reports, &r);
}

static void take_page(struct leond *d, const struct accel_page *p)
{
	struct accel_request *q = d->accel_reports->questions;

	while (q && q->number != p->ask)
		q = q->next;
	if (!q)
		return; /* no answer for too long */
	if (!p->more) {
		request_end(q, ACCEL_ANSWER_LAST, p->conn, p->n);
		return;
	}
	if (!accel_paging_goes_on(&q->paging, p)) {
		request_end(q, ACCEL_ANSWER_NONE, NULL, 0);
		return;
	}
	q->fn(q->arg, ACCEL_ANSWER_PAGE, p->conn, p->n);
	request_next(q);
}

/* --- nodes and totals --- */

static struct accel_known *find(const struct accel_reports *r, node_id_t id)
{
	struct accel_known *k;

	HASH_FIND(hh, r->nodes, &id, sizeof(id), k);
	return k;
}

/* Returns "connection" or "connections". */
static const char *plural(uint64_t n)
{
	return n == 1 ? "connection" : "connections";
}

static void report_reached(struct leond *d, const struct accel_node *n, const char *who)
{
	struct event_facts facts = { .kind = n->reached ? EV_ACCELERATOR_REACHED
							: EV_ACCELERATOR_LOST,
				     .node = n->id };

	report_event(d, &facts, "the accelerator of node %s is %s", who,
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

	for (size_t i = 0; i < array_size(news); i++) {
		struct event_facts facts = { .kind = news[i].kind,
					     .node = n->id,
					     .value = news[i].n };

		if (news[i].n)
			report_event(d, &facts,
				     "%llu TCP %s to hosts at node %s %s, %u intercepted now",
				     (unsigned long long)news[i].n, plural(news[i].n), who,
				     news[i].done, n->intercepted_now);
	}
}

/* An honest node with another mode or threshold causes ACCEL_UNWANTED, which has a counter only. */
static bool is_reported(enum accel_misuse m)
{
	return m != ACCEL_UNWANTED;
}

/* Sum of the counts of leon-accel and leond. */
static uint64_t misuse_of(const struct accel_known *k, enum accel_misuse m)
{
	return k->node.misuse[m] + (m == ACCEL_FOREIGN ? k->foreign : 0);
}

/* Writes the inputs refused since the last event, like "stray_frames 12, bad_messages 1". Returns
 * their number. */
static uint64_t list_misuse(const struct accel_known *k, char *out, size_t room)
{
	uint64_t all = 0;
	size_t at = 0;

	out[0] = '\0';
	for (enum accel_misuse m = 0; m < ACCEL_N_MISUSES && at < room; m++) {
		uint64_t n = is_reported(m) ? misuse_of(k, m) - k->reported[m] : 0;

		if (n)
			at += (size_t)snprintf(out + at, room - at, "%s%s %llu", all ? ", " : "",
					       accel_misuse_word(m), (unsigned long long)n);
		all += n;
	}
	return all;
}

static void forget_misuse(struct accel_known *k)
{
	for (enum accel_misuse m = 0; m < ACCEL_N_MISUSES; m++)
		k->reported[m] = misuse_of(k, m);
}

static void report_misuse(struct leond *d, struct accel_known *k, const char *who)
{
	struct event_facts facts = { .kind = EV_ACCELERATOR_MISUSE, .node = k->node.id };
	mono_t now = loop_now(d->loop);
	char list[160];

	if (!mono_is_never(k->reported_at) && mono_sub_ms(now, k->reported_at) < MISUSE_EVERY_MS)
		return;
	facts.value = list_misuse(k, list, sizeof(list));
	facts.detail = list;
	if (!facts.value)
		return;
	forget_misuse(k);
	k->reported_at = now;
	report_event(d, &facts, "leon-accel refuses frames or messages of node %s: %s", who, list);
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

void accel_reports_foreign(struct leond *d, node_id_t id)
{
	struct accel_known *k = find_or_add(d->accel_reports, id);
	char who[NODE_LABEL_LEN];

	if (!k)
		return;
	k->foreign++;
	report_misuse(d, k, node_label(d, id, who, sizeof(who)));
}

static void take_node(struct leond *d, const struct accel_node *n)
{
	struct accel_reports *r = d->accel_reports;
	struct accel_known *k = find_or_add(r, n->id);
	char who[NODE_LABEL_LEN];

	if (!k)
		return;
	node_label(d, n->id, who, sizeof(who));
	/* Before the first totals, leon-accel reports events from before the start of this
	 * daemon. */
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

/* Writes the faults since the last event, like "socket_files 12, fin_differs 1". Returns their
 * number. */
static uint64_t list_faults(const struct accel_reports *r, char *out, size_t room)
{
	uint64_t all = 0;
	size_t at = 0;

	out[0] = '\0';
	for (enum accel_fault i = 0; i < ACCEL_N_FAULTS && at < room; i++) {
		uint64_t n = r->totals.fault[i] - r->faults[i];

		if (n)
			at += (size_t)snprintf(out + at, room - at, "%s%s %llu", all ? ", " : "",
					       accel_fault_word(i), (unsigned long long)n);
		all += n;
	}
	return all;
}

static void report_faults(struct leond *d)
{
	struct event_facts facts = { .kind = EV_ACCELERATOR_FAULT };
	struct accel_reports *r = d->accel_reports;
	mono_t now = loop_now(d->loop);
	char list[256];

	if (!mono_is_never(r->faults_at) && mono_sub_ms(now, r->faults_at) < FAULT_EVERY_MS)
		return;
	facts.value = list_faults(r, list, sizeof(list));
	facts.detail = list;
	if (!facts.value)
		return;
	memcpy(r->faults, r->totals.fault, sizeof(r->faults));
	r->faults_at = now;
	report_event(d, &facts, "leon-accel keeps connections plain or resets them: %s", list);
}

static void take_totals(struct leond *d, const struct accel_totals *t)
{
	struct accel_reports *r = d->accel_reports;

	r->totals = *t;
	/* The first totals have the faults from before the start of this daemon. */
	if (r->has_totals)
		report_faults(d);
	else
		memcpy(r->faults, t->fault, sizeof(r->faults));
	r->has_totals = true;
}

bool accel_reports_take(struct leond *d, const void *data, size_t len)
{
	static struct accel_report report; /* large; single-threaded */

	if (accel_report_decode(data, len, &report) < 0)
		return false;
	switch (report.what) {
	case ACCEL_REPORT_TOTALS:
		take_totals(d, &report.totals);
		return true;
	case ACCEL_REPORT_NODE:
		take_node(d, &report.node);
		return true;
	case ACCEL_REPORT_PAGE:
		take_page(d, &report.page);
		return true;
	default:
		return false;
	}
}

const struct accel_totals *accel_reports_totals(const struct leond *d)
{
	const struct accel_reports *r = d->accel_reports;

	return r->fd >= 0 && r->has_totals ? &r->totals : NULL;
}

bool accel_reports_node(const struct leond *d, node_id_t id, struct accel_node *out)
{
	const struct accel_known *k = d->accel_reports->fd >= 0 ? find(d->accel_reports, id) : NULL;

	if (k)
		*out = k->node;
	return k;
}

/* --- connection and disconnection --- */

void accel_reports_here(struct leond *d, int fd)
{
	const struct event_facts facts = { .kind = EV_ACCELERATOR_STARTED };

	d->accel_reports->fd = fd;
	report_event(d, &facts, "leon-accel has connected: TCP connections can be intercepted");
}

void accel_reports_gone(struct leond *d)
{
	struct event_facts facts = { .kind = EV_ACCELERATOR_GONE };
	struct accel_reports *r = d->accel_reports;

	if (r->fd < 0)
		return;
	facts.value = r->has_totals ? r->totals.intercepted_now : 0;
	report_event(
		d, &facts,
		"leon-accel has ended: TCP connections stay plain, %llu intercepted connections "
		"are lost",
		(unsigned long long)facts.value);
	r->fd = -1;
	r->has_totals = false;
	forget_nodes(r);
	while (r->questions)
		request_end(r->questions, ACCEL_ANSWER_NONE, NULL, 0);
}

void accel_reports_free(struct leond *d)
{
	struct accel_reports *r = d->accel_reports;

	if (!r)
		return;
	forget_nodes(r);
	while (r->questions)
		request_end(r->questions, ACCEL_ANSWER_NONE, NULL, 0);
	free(r);
	d->accel_reports = NULL;
}
