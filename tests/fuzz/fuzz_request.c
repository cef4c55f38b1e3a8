// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests of the control socket, as any member of the group leon can send them. The input is {user
 * (8): 0 is root} and one line. The commands act on a daemon with one session, and the socket is
 * replaced. Each request gets one answer of one line of JSON.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/answer/answer.h"
#include "daemon/control/control.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/life/life.h"
#include "daemon/report/report.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "fwd/fwd.h"
#include "io/ctlsock.h"
#include "io/netlink/netlink.h"
#include "overlay_lab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* --- replacement of io/ctlsock.c --- */

struct ctl_conn {
	struct ctl_peer peer;
	unsigned n_answers;
};
static ctl_request_fn on_request;

int ctl_listen(struct ctl_server **out, struct loop *loop, const char *path, ctl_request_fn fn,
	       void *arg)
{
	(void)loop;
	(void)path;
	(void)arg;
	*out = NULL;
	on_request = fn;
	return 0;
}

void ctl_server_free(struct ctl_server *s)
{
	(void)s;
}

const struct ctl_peer *ctl_conn_peer(const struct ctl_conn *c)
{
	return &c->peer;
}

void ctl_answer(struct ctl_conn *c, const char *answer, size_t len)
{
	struct jsonr *doc = jsonr_parse(answer, len, JSONR_USUAL_MAX);

	if (memchr(answer, '\n', len) || jsonr_error(doc))
		abort();
	jsonr_free(doc);
	c->n_answers++;
}

static const struct leond_ops ops = { .publish = snapshot_publish,
				      .reload = leond_reload,
				      .stream_remote = streams_remote,
				      .stream_ends = streams_far_ends };

static struct leond *daemon_new(struct lab *l)
{
	const struct guard_conf guard = { .enabled = true, .preference = 128, .interval_ms = 1000 };
	struct fwd_io io = { .tap = -1, .udp4 = -1, .udp6 = -1 };
	struct fwd_setup setup = { .n_workers = 1, .io = &io, .slots_maximum = 16 };
	struct event e = { .kind = EV_STARTED, .text = "\"\\\n\xff" };
	struct leond *d = leond_new();

	d->ops = &ops;
	d->loop = l->loop;
	d->conf = x_new(struct conf);
	*d->conf = *lab_conf(0);
	d->conf->file = "/dev/null";
	d->self = lab_id(US);
	d->overlay = l->us.o;
	d->fdb = fdb_new(16);
	d->neigh = neigh_new(16);
	d->fwd = fwd_new(&setup);
	d->events = events_new(4);
	events_add(d->events, &e);
	fdb_learn(d->fdb, 5, (struct mac){ { 2, 0, 0, 0, 0, 1 } }, 1, 1);
	guard_init(d->guard, d->self, &guard, loop_now(l->loop));
	/* Virtual time has no descriptors, so the announcer tracks nothing. */
	if (nl_open(&d->nl) < 0)
		abort();
	routes_start(d);
	routes_stop(d);
	announcer_start(d);
	accel_reports_open(d);
	cmds_start(d);
	return d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct lab *l;
	static struct leond *d;
	struct ctl_conn c = { .n_answers = 0 };
	char *line;

	if (!d) {
		l = lab_new(0);
		d = daemon_new(l);
	}
	if (len < 1)
		return 0;
	c.peer.uid = data[0] ? 12345 : 0;
	/* The socket passes the line with a NUL in place of the newline. */
	line = x_calloc(1, len);
	memcpy(line, data + 1, len - 1);
	on_request(d, &c, line, len - 1);
	free(line);
	if (d->states->jobs)
		lab_run(l, 300);
	if (c.n_answers != (d->states->jobs ? 0 : 1))
		abort();
	probe_jobs_drop(d);
	return 0;
}
