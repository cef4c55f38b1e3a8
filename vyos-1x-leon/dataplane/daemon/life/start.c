// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Start and stop of all parts of struct leond in the order of their dependencies: device and
 * sockets, tables, protocol, workers, watchers, control socket. Other nodes learn of this one only
 * afterwards. leond_free() releases any part of it in reverse order. Control thread.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/version.h"
#include "crypto/stretch.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/capture/captures.h"
#include "daemon/control/control.h"
#include "daemon/device/device.h"
#include "daemon/identity/own_identity.h"
#include "daemon/lan/local_lan.h"
#include "daemon/life/life.h"
#include "daemon/metrics/metrics.h"
#include "daemon/report/report.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "daemon/underlay/underlay.h"
#include "daemon/verdict.h"
#include "fwd/fwd.h"
#include "io/ctlsock.h"
#include "io/tap.h"
#include "io/udp.h"
#include "proto/overlay.h"

#define WORKERS_MAX	 8
#define LEAVE_COUNT	 3
#define LEAVE_SPACING_MS 20
/* leon-accel needs several round trips. */
#define RELEASE_MS	8000
#define RELEASE_STEP_MS 20
#define SLOTS_MAX	NODEDB_SLOTS(CONF_NODES_LIMIT)

/* --- leave --- */

static void on_leave(void *arg, mono_t now)
{
	struct leond *d = arg;

	if (d->states->leaves_sent == LEAVE_COUNT) {
		loop_quit(d->loop, 0);
		return;
	}
	/* Repeated because leave is not acknowledged; spaced so that one burst of loss does not
	 * drop all copies. */
	overlay_leave(d->overlay);
	d->states->leaves_sent++;
	timer_set(d->states->leave_timer, mono_add_ms(now, LEAVE_SPACING_MS));
}

/* Intercepted connections are released while frames still pass. */
static void on_release(void *arg, mono_t now)
{
	struct leond *d = arg;

	if (accelerator_stop(d) && mono_sub_ms(now, d->states->stop_at) < RELEASE_MS) {
		timer_set(d->states->release_timer, mono_add_ms(now, RELEASE_STEP_MS));
		return;
	}
	routes_stop(d);
	guard_leave(d);
	cache_save(d, now);
	on_leave(d, now);
}

/* --- signals --- */

/* Sends leave, then ends the loop. */
static void on_terminate(void *arg, int signo)
{
	struct leond *d = arg;

	log_notice("daemon", "stopping signal=%d", signo);
	if (d->states->leave_timer) {
		log_notice("daemon", "second request to stop: leond ends without sending the rest");
		loop_quit(d->loop, 0);
		return;
	}
	loop_notify(d->loop, "STOPPING=1");
	d->states->leave_timer = leond_timer(d, on_leave, d);
	d->states->release_timer = leond_timer(d, on_release, d);
	d->states->stop_at = loop_now(d->loop);
	on_release(d, d->states->stop_at);
}

static void on_hangup(void *arg, int signo attr_unused)
{
	struct apply_verdict v;

	leond_reload(arg, &v);
}

static int signals_start(struct leond *d)
{
	int r = 0;

	signal(SIGPIPE, SIG_IGN);
	r = r ? r : loop_signal_add(d->loop, SIGTERM, on_terminate, d);
	r = r ? r : loop_signal_add(d->loop, SIGINT, on_terminate, d);
	r = r ? r : loop_signal_add(d->loop, SIGHUP, on_hangup, d);
	if (r < 0)
		log_error("daemon", "signals cannot be handled: %s", strerror(-r));
	return r;
}

/* --- device and sockets --- */

static unsigned wanted_workers(const struct conf *c)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	long n = c->workers ? (long)c->workers : cores;

	return (unsigned)max_of(1L, min_of(n, (long)WORKERS_MAX));
}

/* IPv6 may be absent or disabled; the overlay then uses IPv4 only. */
static bool host_has_ipv6(void)
{
	return access("/proc/net/if_inet6", F_OK) == 0;
}

static int sockets_open(struct leond *d)
{
	const struct conf *c = d->conf;
	bool any = c->source4.family == 0 && c->source6.family == 0;
	struct udp_config uc = {
		.n = d->tap->n_queues,
		.v4 = any || c->source4.family,
		.v6 = c->source6.family || (any && host_has_ipv6()),
		.source4 = c->source4,
		.source6 = c->source6,
		.port = c->port,
		.device = c->source_interface[0] ? c->source_interface : NULL,
	};
	int r = c->n_lines ? lines_open(d, host_has_ipv6()) : udp_open(d->udp, &uc);

	d->states->udp_is_open = r == 0;
	if (r == 0)
		r = streams_open(d);
	return r ? r : lines_mark(d);
}

static int kernel_side_open(struct leond *d)
{
	char err[256];
	int r = nl_open(&d->nl);

	if (r < 0) {
		log_error("netlink", "cannot be opened: %s", strerror(-r));
		return r;
	}
	r = identity_decide(d->conf, d->nl, &d->self, err, sizeof(err));
	if (r < 0) {
		log_error("config", "%s", err);
		return r;
	}
	r = tap_open(d->tap, d->nl, d->conf->interface, wanted_workers(d->conf));
	if (r < 0)
		return r;
	d->states->tap_is_open = true;
	/* At once: udev replaces the MAC of a new interface if nobody has set it. */
	r = device_set_mac(d);
	if (r == 0)
		r = sockets_open(d);
	if (r == 0) {
		offload_apply_conf(d);
		bottleneck_apply_conf(d);
	}
	return r;
}

/* --- protocol and workers --- */

static void overlay_side_open(struct leond *d)
{
	d->events = events_new(EVENTS_KEPT);
	accel_reports_open(d);
	d->fdb = fdb_new(d->conf->fdb_maximum);
	fdb_set_vlan_maximum(d->fdb, d->conf->fdb_vlan_maximum);
	d->neigh = neigh_new(d->conf->fdb_maximum);
	d->listeners = listeners_new(SLOTS_MAX);
	cache_load(d);
	cache_append_to(d, d->conf);
	vlans_open(d);
	guard_open(d);
	d->overlay = overlay_new(d->loop, d->conf, d->self, &overlay_glue, d, 0);
	overlay_set_workers(d->overlay, d->tap->n_queues);
	identity_hand_over(d);
	lines_hand_over(d);
	invitations_load(d);
}

static int workers_start(struct leond *d)
{
	const struct udp *second = lines_udp(d, 1), *stream = streams_udp(d);
	struct fwd_io io[WORKERS_MAX];
	struct fwd_setup setup = {
		.n_workers = d->tap->n_queues,
		.io = io,
		.tap_offload = d->tap->granted.tso,
		.tap_uso = d->tap->granted.uso,
		.udp_gso = d->udp->gso,
		.slots_maximum = SLOTS_MAX,
	};
	int r;

	r = accel_queues_open(d);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < d->tap->n_queues; i++)
		io[i] = (struct fwd_io){ .tap = d->tap->fd[i],
					 .udp4 = d->udp->fd4[i],
					 .udp6 = d->udp->fd6[i],
					 .accel = accel_queues_worker_end(d, i),
					 .second4 = second->n ? second->fd4[i] : 0,
					 .second6 = second->n ? second->fd6[i] : 0,
					 .stream = stream ? stream->fd4[i] : 0 };
	d->fwd = fwd_new(&setup);
	snapshot_publish(d);
	r = fwd_start(d->fwd);
	if (r < 0) {
		log_error("daemon", "workers cannot be started: %s", strerror(-r));
		return r;
	}
	d->states->workers_run = true;
	scheduling_apply_conf(d);
	return frames_start(d);
}

static int watchers_start(struct leond *d)
{
	int r = watch_start(d);

	if (r < 0)
		return r;
	modules_start(d);
	housekeeping_start(d);
	r = seeds_start(d);
	fallback_apply_conf(d);
	return r;
}

static int begin(struct leond *d)
{
	int r = signals_start(d);

	/* Precedes the creation of anything that others see. */
	if (r == 0)
		r = identity_load(d);
	if (r == 0)
		r = kernel_side_open(d);
	if (r < 0)
		return r;
	overlay_side_open(d);
	r = device_start(d);
	if (r == 0)
		r = workers_start(d);
	if (r == 0)
		r = watchers_start(d);
	/* Precedes the announcement of this node: a second daemon by mistake fails here at the
	 * latest. The loop serves requests later. */
	if (r == 0)
		r = cmds_start(d);
	if (r < 0)
		return r;
	accelerator_start(d);
	overlay_start(d->overlay);
	return 0;
}

static const struct leond_ops ops = {
	.publish = snapshot_publish,
	.reload = leond_reload,
	.stream_remote = streams_remote,
	.stream_ends = streams_far_ends,
};

static void log_advice(void *arg attr_unused, const char *text)
{
	log_warn("config", "%s", text);
}

int leond_start(struct leond *d, struct conf *conf)
{
	int r;

	d->ops = &ops;
	d->conf = conf;
	log_set_level(conf->log_level);
	advice_of(conf, log_advice, NULL);
	cipher_library_apply_conf(d);
	d->loop = loop_sd_new();
	if (!d->loop) {
		log_error("daemon", "event loop cannot be made: %s", strerror(errno));
		return -errno;
	}
	d->started = loop_now(d->loop);
	r = begin(d);
	if (r < 0)
		return r;
	log_notice("daemon", "started version=%s interface=%s node=%s port=%u workers=%u",
		   leon_version, d->tap->name, NODE_ID_TEXT(d->self), d->udp->port,
		   d->tap->n_queues);
	loop_notify(d->loop, "READY=1");
	return 0;
}

/* --- loop and end --- */

int leond_run(struct leond *d)
{
	int r = loop_run(d->loop);

	if (r < 0)
		log_error("daemon",
			  "stopped: the event loop failed: %s; without saying leave, so others "
			  "notice in seconds",
			  strerror(-r));
	else
		log_notice("daemon", "stopped");
	return r;
}

static void tables_free(struct leond *d)
{
	if (d->states->workers_run)
		fwd_stop(d->fwd);
	flow_export_stop(d); /* the last records state paths */
	provide_stop(d);
	collect_stop(d);
	/* The protocol calls into fwd, so it is freed first. */
	probe_jobs_drop(d);
	overlay_free(d->overlay);
	stretcher_free(d->states->stretcher);
	fwd_free(d->fwd);
	fdb_free(d->fdb);
	neigh_free(d->neigh);
	listeners_free(d->listeners);
	segments_free(d->vlans->map);
	events_free(d->events);
	ipsec_report_free(d->ipsec);
}

void leond_free(struct leond *d)
{
	accel_relays_free(d); /* needs the control socket for its answers */
	accel_reports_free(d);
	ctl_server_free(d->ctl);
	tables_free(d);
	modules_stop(d);
	nl_close(d->states->monitor);
	if (d->states->udp_is_open)
		udp_close(d->udp);
	udp_close(lines_udp(d, 1));
	if (d->states->tap_is_open)
		tap_close(d->tap);
	nl_close(d->nl);
	leond_release(d);
	loop_free(d->loop);
	conf_free(d->conf);
}
