// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel to leond, see report.h.
 */
#include "report.h"

#include <string.h>
#include <sys/socket.h>

#include "base/loop.h"
#include "conn.h"
#include "engine.h"
#include "peer.h"

static bool notify(const struct engine *e, const struct accel_report *r)
{
	static uint8_t buf[ACCEL_REPORT_MAX]; /* single-threaded */

	return e->leond >= 0 &&
	       send(e->leond, buf, accel_report_encode(r, buf), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

static void notify_totals(const struct engine *e)
{
	const struct engine_counters *n = &e->counters;
	struct accel_report r = { .what = ACCEL_REPORT_TOTALS };

	r.totals = (struct accel_totals){
		.tracked = e->n_conns,
		.intercepted_now = e->n_intercepted,
		.held = (uint64_t)e->held,
		.undelivered = e->undelivered,
		.intercepted = n->intercepted,
		.returned = n->returned,
		.reset = n->reset,
		.refused = n->refused,
		.queue_full = n->queue_full,
		.held_dropped = n->held_dropped,
		.bytes = { n->bytes_out, n->bytes_in, n->interproxy_out, n->interproxy_in },
		.time = conns_time(e),
	};
	memcpy(r.totals.plain, e->plain, sizeof(r.totals.plain));
	memcpy(r.totals.misuse, n->misuse, sizeof(r.totals.misuse));
	memcpy(r.totals.fault, n->fault, sizeof(r.totals.fault));
	notify(e, &r);
}

static bool notify_node(struct engine *e, const struct accel_node *n)
{
	struct accel_report r = { .what = ACCEL_REPORT_NODE };

	r.node = *n;
	return notify(e, &r);
}

void report_second(struct engine *e)
{
	if (e->leond < 0)
		return;
	notify_totals(e);
	peers_report(e, false, notify_node);
}

void report_all(struct engine *e)
{
	/* The totals follow the nodes. leond then treats later changes as news. */
	peers_report(e, true, notify_node);
	notify_totals(e);
}

static void notify_page(struct engine *e, const struct accel_report *asked)
{
	static struct accel_report r; /* single-threaded */

	r.what = ACCEL_REPORT_PAGE;
	r.page.ask = asked->ask.ask;
	r.page.more = false;
	r.page.n = 0;
	conns_page(e, asked->ask.behind, &r.page, loop_now(e->loop));
	notify(e, &r);
}

void report_requested(struct engine *e, const void *data, size_t len)
{
	static struct accel_report asked; /* single-threaded */

	if (accel_report_decode(data, len, &asked) < 0)
		return;
	if (asked.what == ACCEL_REQUEST_PAGE)
		notify_page(e, &asked);
	else if (asked.what == ACCEL_REQUEST_RETURN)
		conns_release_all(e, loop_now(e->loop));
}
