// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `trace NODE` and `ping NODE`: real packets along the real path. A job keeps the command until all
 * its probes are answered or timed out. trace sends one probe to each node of the path in use; ping
 * sends `count` probes to the destination. Control thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/defs.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/control/control.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/latency/choice.h"

#define PROBE_TIMEOUT_MS 2000
#define PING_SPACING_MS	 200
#define PING_DEFAULT	 5
#define PING_MAX	 100
#define JOBS_MAX	 16

struct probe_target {
	struct probe_job *job;
	node_id_t node;
	bool sent, done;
	int64_t rtt_us; /* or -errno */
};

struct probe_job {
	struct probe_job *next;
	struct command *command;
	struct timer *timer; /* ping: timer of the next probe */
	bool is_trace;
	bool sending; /* probes are being sent and may be answered synchronously; finish later */
	node_id_t destination;
	unsigned n_hops;
	node_id_t hop[LEON_HOPS_MAX];
	unsigned n, n_sent, n_done;
	struct probe_target *probe;
};

static void job_free(struct leond *d, struct probe_job *job)
{
	struct probe_job **link = &d->states->jobs;

	while (*link && *link != job)
		link = &(*link)->next;
	if (*link)
		*link = job->next;
	for (unsigned i = 0; i < job->n; i++)
		if (job->probe[i].sent && !job->probe[i].done)
			overlay_ping_cancel(d->overlay, &job->probe[i]);
	timer_free(job->timer);
	free(job->probe);
	free(job);
}

void probe_jobs_drop(struct leond *d)
{
	while (d->states->jobs) {
		struct command *c = d->states->jobs->command;

		job_free(d, d->states->jobs);
		command_drop(c);
	}
}

static const char *probe_error(int64_t rtt_us)
{
	if (rtt_us >= 0)
		return NULL;
	return rtt_us == -ENOKEY ? "no-session" : "timeout";
}

static void write_trace(struct command *c, const struct probe_job *job)
{
	bool complete = true;

	jsonw_array(c->w, "hops");
	for (unsigned i = 0; i < job->n; i++) {
		const struct probe_target *p = &job->probe[i];

		jsonw_object(c->w, NULL);
		jsonw_u64(c->w, "hop", i + 1);
		answer_node(c->w, "node_id", c->d, p->node);
		answer_known(c->w, "rtt_us", p->rtt_us >= 0, (uint64_t)p->rtt_us);
		jsonw_str(c->w, "error", probe_error(p->rtt_us));
		jsonw_end(c->w);
		complete = complete && p->rtt_us >= 0;
	}
	jsonw_end(c->w);
	jsonw_bool(c->w, "complete", complete);
}

static void write_ping(struct command *c, const struct probe_job *job)
{
	uint64_t sum = 0, low = UINT64_MAX, high = 0, received = 0;

	jsonw_array(c->w, "replies");
	for (unsigned i = 0; i < job->n; i++) {
		const struct probe_target *p = &job->probe[i];
		uint64_t rtt = (uint64_t)p->rtt_us;

		jsonw_object(c->w, NULL);
		jsonw_u64(c->w, "sequence", i + 1);
		answer_known(c->w, "rtt_us", p->rtt_us >= 0, rtt);
		jsonw_str(c->w, "error", probe_error(p->rtt_us));
		jsonw_end(c->w);
		if (p->rtt_us < 0)
			continue;
		received++;
		sum += rtt;
		low = min_of(low, rtt);
		high = max_of(high, rtt);
	}
	jsonw_end(c->w);
	jsonw_u64(c->w, "sent", job->n);
	jsonw_u64(c->w, "received", received);
	jsonw_u64(c->w, "loss_permille", (job->n - received) * 1000 / job->n);
	answer_known(c->w, "min_us", received > 0, low);
	answer_known(c->w, "avg_us", received > 0, received ? sum / received : 0);
	answer_known(c->w, "max_us", received > 0, high);
}

static void job_finish_if_done(struct probe_job *job)
{
	struct command *c = job->command;

	if (job->sending || job->n_done < job->n)
		return;
	answer_node(c->w, "destination", c->d, job->destination);
	jsonw_array(c->w, "path");
	for (unsigned i = 0; i < job->n_hops; i++)
		answer_id(c->w, NULL, job->hop[i]);
	jsonw_end(c->w);
	if (job->is_trace)
		write_trace(c, job);
	else
		write_ping(c, job);
	job_free(c->d, job);
	command_finish(c, CMD_DONE);
}

static void on_result(void *arg, int64_t rtt_us)
{
	struct probe_target *p = arg;

	p->rtt_us = rtt_us;
	p->done = true;
	p->job->n_done++;
	job_finish_if_done(p->job);
}

/* Sends the next probe along the first n_hops of the path. */
static void send_next(struct probe_job *job, unsigned n_hops)
{
	struct probe_target *p = &job->probe[job->n_sent++];

	p->job = job;
	p->node = job->hop[n_hops - 1];
	p->sent = true;
	overlay_ping(job->command->d->overlay, job->hop, n_hops, 0, PROBE_TIMEOUT_MS, on_result, p);
}

static void on_ping_timer(void *arg, mono_t now)
{
	struct probe_job *job = arg;

	job->sending = true;
	send_next(job, job->n_hops);
	job->sending = false;
	if (job->n_sent < job->n)
		timer_set(job->timer, mono_add_ms(now, PING_SPACING_MS));
	job_finish_if_done(job);
}

static bool too_many_jobs(const struct leond *d)
{
	unsigned n = 0;

	for (const struct probe_job *j = d->states->jobs; j; j = j->next)
		n++;
	return n >= JOBS_MAX;
}

/* Returns NULL and sets the error if there is nothing to probe. */
static struct probe_job *job_new(struct command *c)
{
	const struct node *to = command_node(c);
	const struct choice *ch;
	struct probe_job *job;

	if (!to)
		return NULL;
	ch = to->slot == SLOT_SELF ? NULL : overlay_choice(c->overlay, to->slot);
	if (to->slot == SLOT_SELF)
		command_refuse(c, "no path leads to this node itself");
	else if (!ch || ch->path.n_hops == 0)
		command_refuse(c, "no path leads to the node at present");
	else if (too_many_jobs(c->d))
		command_refuse(c, "too many traces and pings are under way: try again");
	if (c->error[0])
		return NULL;
	job = x_new(struct probe_job);
	job->command = c;
	job->destination = to->id;
	job->n_hops = ch->path.n_hops;
	for (unsigned i = 0; i < job->n_hops; i++)
		job->hop[i] = node_id_at(c->d, ch->path.hop[i]);
	job->next = c->d->states->jobs;
	c->d->states->jobs = job;
	return job;
}

enum command_result trace_path(struct command *c)
{
	struct probe_job *job = job_new(c);

	if (!job)
		return CMD_FAILED;
	job->is_trace = true;
	job->n = job->n_hops;
	job->probe = x_calloc(job->n, sizeof(*job->probe));
	job->sending = true;
	for (unsigned i = 1; i <= job->n_hops; i++)
		send_next(job, i);
	job->sending = false;
	job_finish_if_done(job);
	return CMD_LATER;
}

enum command_result ping_node(struct command *c)
{
	uint64_t count = PING_DEFAULT;
	struct probe_job *job;

	jsonr_u64(c->arguments, "count", 1, PING_MAX, &count);
	if (jsonr_error(c->doc))
		return command_refuse(c, "request: %s", jsonr_error(c->doc));
	job = job_new(c);
	if (!job)
		return CMD_FAILED;
	job->n = (unsigned)count;
	job->probe = x_calloc(job->n, sizeof(*job->probe));
	job->timer = timer_new(c->d->loop, on_ping_timer, job);
	on_ping_timer(job, c->now);
	return CMD_LATER;
}
