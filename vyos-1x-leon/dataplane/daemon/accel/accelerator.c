// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The connection of leond to leon-accel, see leon_accel.h. Control thread.
 */
#include "daemon/accel/leon_accel.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "fwd/fwd.h"
#include "ipc/accel_queue.h"
#include "ipc/stream_control.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"

#define MOVED_MAX   4096 /* unreported hosts */
#define MOVED_AGAIN 128	 /* repeated hosts for a new leon-accel */

struct moved_mac {
	uint16_t vlan;
	struct mac mac;
	node_id_t node; /* Present node of the host. */
};

struct accelerator {
	char path[CONF_CONTROL_SOCKET_MAX + 16];
	int listener, fd;  /* -1: closed. */
	struct mac device; /* of the last SETUP */
	/* The last moved hosts, as a ring. n_moved: number of moves; the next one is stored at
	 * n_moved % MOVED_MAX. n_reported: number of reported or lost moves. */
	struct moved_mac moved[MOVED_MAX];
	uint32_t n_moved, n_reported;
	bool is_new; /* leon-accel has not reported connections yet. */
	bool stopping;
};

/* The accelerator is in the node record until the last connection is released. */
static void notify_initial(struct leond *d)
{
	overlay_set_accelerates(d->overlay, d->conf->acceleration || accel_queues_are_ready(d));
}

/* Returns false without a connected leon-accel. */
static bool close_watched(struct leond *d, int *fd)
{
	if (*fd < 0)
		return false;
	loop_fd_del(d->loop, *fd);
	close(*fd);
	*fd = -1;
	return true;
}

static void gone(struct leond *d)
{
	if (!close_watched(d, &d->states->accelerator->fd))
		return;
	if (!accel_queues_are_ready(d))
		return;
	accel_queues_set_ready(d, false);
	accel_reports_gone(d);
	d->ops->publish(d);
	accel_queues_drain(d);
	notify_initial(d);
}

/* Returns false if the socket is full or closed. */
static bool notify(struct leond *d, const struct accel_notify_frame *f)
{
	uint8_t buf[ACCEL_NOTIFY_MAX];
	size_t len = accel_notify_encode(f, buf);

	if (send(d->states->accelerator->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	if (errno != EAGAIN)
		gone(d);
	return false;
}

static void notify_settings(struct leond *d)
{
	struct accel_notify_frame f = { .what = ACCEL_NOTIFY_SETTINGS, .settings = d->conf->accel };

	if (d->states->accelerator->stopping)
		f.settings.mode = ACCEL_OFF;
	notify(d, &f);
}

bool accelerator_release(struct leond *d)
{
	const struct accel_notify_frame f = { .what = ACCEL_NOTIFY_RELEASE };

	if (!accel_queues_are_ready(d))
		return false;
	notify(d, &f);
	return accel_queues_are_ready(d);
}

static bool notify_moved(struct leond *d, const struct moved_mac *m)
{
	struct accel_notify_frame f = { .what = ACCEL_NOTIFY_MOVED,
					.moved = { m->vlan, m->mac, m->node } };

	return d->states->accelerator->fd >= 0 && notify(d, &f);
}

/* Reports the moved hosts. Hosts beyond a full socket are reported later. */
static void notify_all_moved(struct leond *d)
{
	struct accelerator *a = d->states->accelerator;

	if (a->n_moved - a->n_reported > MOVED_MAX)
		a->n_reported = a->n_moved - MOVED_MAX;
	while (a->n_reported != a->n_moved && notify_moved(d, &a->moved[a->n_reported % MOVED_MAX]))
		a->n_reported++;
}

/* A new leon-accel may have connections of hosts that moved before. */
static void notify_moved_again(struct leond *d)
{
	struct accelerator *a = d->states->accelerator;
	uint32_t n = min_of(a->n_moved, (uint32_t)MOVED_AGAIN);

	a->n_reported = a->n_moved - max_of(a->n_moved - a->n_reported, n);
	notify_all_moved(d);
}

static int hand_queues(struct leond *d)
{
	unsigned n = accel_queues_count(d);
	struct accel_notify_frame f = {
		.what = ACCEL_NOTIFY_SETUP,
		.setup = { .self = d->self, .device = d->device.mac, .n_queues = (uint8_t)n }
	};
	uint8_t buf[ACCEL_NOTIFY_MAX];
	int rc = stream_send_fds(d->states->accelerator->fd, buf, accel_notify_encode(&f, buf),
				 accel_queues_accel_ends(d), n);

	static_assert(ACCEL_QUEUES_MAX <= STREAM_FDS_MAX, "the queues fit a message");
	if (rc == 0)
		d->states->accelerator->device = d->device.mac;
	return rc;
}

/* No connection can be intercepted with the node, and no connection of any node is intercepted. All
 * nodes count, because a host may move from another node to here. */
static bool is_idle(const struct leond *d, uint16_t slot)
{
	const struct accel_totals *t = accel_reports_totals(d);

	return t && !t->intercepted_now &&
	       accel_latency_is_near(d->overlay, d->conf, slot, ACCEL_KEEP_PERCENT);
}

static void look_at_all(struct leond *d)
{
	uint16_t n = nodedb_slots(overlay_nodes(d->overlay));
	const struct accel_totals *t = accel_reports_totals(d);
	mono_t now = loop_now(d->loop);

	if (t && d->states->accelerator->is_new) {
		accel_queues_inherited(d, t->intercepted_now, now);
		d->states->accelerator->is_new = false;
	}
	for (uint16_t slot = 0; slot < n; slot++) {
		if (slot == SLOT_SELF)
			continue;
		accel_queues_update(d, slot, is_idle(d, slot), now);
		accel_queues_find_migrated(d, slot, t && t->intercepted_now, now);
	}
}

/* Reports whether the snapshot is outdated: a node has gained or lost its accelerator, or the
 * frames of a node start or stop bypassing leon-accel. */
static bool is_stale(const struct leond *d, const struct snap *s)
{
	if (s->accelerator != accel_queues_are_ready(d))
		return true;
	for (uint16_t slot = 0; slot < s->n_slots; slot++)
		if (s->node[slot].accelerated != accel_queues_track(d, slot) ||
		    s->node[slot].accel_bypassed != accel_queues_bypassed(d, slot))
			return true;
	return false;
}

/* Called only if leon-accel is ready. */
static void notify_nodes(struct leond *d)
{
	const struct snap *s = fwd_snap(d->fwd);

	/* A reload or another program has changed the MAC address. */
	if (mac_to_u64(d->states->accelerator->device) != mac_to_u64(d->device.mac))
		hand_queues(d);
	/* The settings are repeated, because the socket may have been full before. */
	notify_settings(d);
	look_at_all(d);
	if (is_stale(d, s)) {
		d->ops->publish(d);
		s = fwd_snap(d->fwd);
	}
	for (uint16_t slot = 0; slot < s->n_slots; slot++) {
		struct accel_notify_frame f = { .what = ACCEL_NOTIFY_NODE };

		/* The node of a slot may have left while its frames are still diverted. */
		if (!s->node[slot].accelerated || !s->node[slot].id ||
		    d->states->accelerator->fd < 0)
			continue;
		f.node.id = s->node[slot].id;
		f.node.rtt_us = accel_latency_us(d->overlay, slot);
		/* 0 means that the node has no accelerator, and so no inter-proxy connection. A
		 * node without a path at present has a value above 0. */
		f.node.room = accel_queues_reach(d, slot)
				      ? (uint16_t)max_of(s->node[slot].room, (uint16_t)1)
				      : 0;
		f.node.bypassed = s->node[slot].accel_bypassed;
		notify(d, &f);
	}
}

static bool take_here(struct leond *d, const void *data, size_t len)
{
	struct accel_notify_frame f;

	if (accel_notify_decode(data, len, &f) < 0 || f.what != ACCEL_NOTIFY_HERE ||
	    f.version != ACCEL_NOTIFY_VERSION)
		return false;
	/* In gone(), a worker with the previous snapshot may still have added frames. */
	accel_queues_drain(d);
	if (hand_queues(d) < 0)
		return false;
	accel_queues_set_ready(d, true);
	accel_reports_here(d);
	d->states->accelerator->is_new = true;
	notify_nodes(d);
	notify_moved_again(d);
	return true;
}

static void on_hello(void *arg, int fd, uint32_t events attr_unused)
{
	uint8_t buf[ACCEL_NOTIFY_MAX];
	struct leond *d = arg;
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* leon-accel has only one message. */
	if (n <= 0 || accel_queues_are_ready(d) || !take_here(d, buf, (size_t)n))
		gone(d);
}

static void on_connect(void *arg, int fd, uint32_t events attr_unused)
{
	struct leond *d = arg;
	int s = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (s < 0) {
		/* Without a descriptor, the connection waits until the next second. */
		if (errno != EAGAIN)
			loop_fd_mod(d->loop, fd, 0);
		return;
	}
	/* A second leon-accel replaces the first one. The first socket is closed. */
	gone(d);
	accel_queues_enlarge(s);
	d->states->accelerator->fd = s;
	loop_fd_add(d->loop, s, EPOLLIN, on_hello, d);
}

static int listen_at(const char *path)
{
	/* In ACCEL_DIR the socket gets the group of the directory. leon-accel is the only
	 * member. */
	mode_t mode = strncmp(path, ACCEL_DIR, strlen(ACCEL_DIR)) == 0 ? 0660 : 0600;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(at.sun_path)) {
		close(fd);
		return -ENAMETOOLONG;
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	/* A single daemon has the control socket, so the path belongs to a single daemon. */
	unlink(path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && chmod(path, mode) == 0 &&
	    listen(fd, 4) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int listen_here(struct leond *d)
{
	struct accelerator *a = d->states->accelerator;
	int fd;

	accel_path(d, ".accel", ".accel", a->path, sizeof(a->path));
	fd = listen_at(a->path);
	if (fd < 0) {
		log_error("accel", "no socket for leon-accel: %s path=%s", strerror(-fd), a->path);
		return fd;
	}
	a->listener = fd;
	return loop_fd_add(d->loop, fd, EPOLLIN, on_connect, d);
}

/* A connected leon-accel stays connected until it has released all connections. */
static void listen_no_more(struct leond *d)
{
	struct accelerator *a = d->states->accelerator;

	if (close_watched(d, &a->listener))
		unlink(a->path);
}

bool accelerator_is_installed(void)
{
	/* The path of the package, or of an installation by meson. */
	return access("/usr/sbin/leon-accel", X_OK) == 0 ||
	       access("/usr/local/sbin/leon-accel", X_OK) == 0;
}

void accelerator_start(struct leond *d)
{
	struct accelerator *a = x_new(struct accelerator);

	a->listener = a->fd = -1;
	d->states->accelerator = a;
	notify_initial(d);
	/* Without a socket TCP is not accelerated. All other functions work. */
	if (d->conf->acceleration)
		listen_here(d); /* logged */
}

void accelerator_apply_conf(struct leond *d)
{
	struct accelerator *a = d->states->accelerator;

	if (d->conf->acceleration && a->listener < 0)
		listen_here(d); /* logged */
	else if (!d->conf->acceleration)
		listen_no_more(d);
	if (accel_queues_are_ready(d))
		notify_settings(d);
	notify_initial(d);
}

bool accelerator_stop(struct leond *d)
{
	if (!d->states->accelerator || !accel_queues_are_ready(d))
		return false;
	if (!d->states->accelerator->stopping) {
		d->states->accelerator->stopping = true;
		listen_no_more(d);
		notify_settings(d);
	}
	return true;
}

/* Diverts the frames of the node from now on. leon-accel gets the report of the node before the
 * report of the host. */
static void follow_host(struct leond *d, uint16_t slot)
{
	const struct accel_totals *t = accel_reports_totals(d);
	mono_t now = loop_now(d->loop);
	bool tracked = accel_queues_track(d, slot);

	accel_queues_find_migrated(d, slot, t && t->intercepted_now, now);
	if (!tracked && accel_queues_track(d, slot))
		notify_nodes(d);
}

void accelerator_moved(struct leond *d, uint16_t vlan, struct mac mac, const struct node *n)
{
	struct accelerator *a = d->states->accelerator;

	if (!a)
		return;
	a->moved[a->n_moved++ % MOVED_MAX] = (struct moved_mac){ vlan, mac, n->id };
	/* Also without leon-accel: a later leon-accel may have connections of the host. */
	accel_queues_host_moved(d, n->slot, loop_now(d->loop));
	if (!accel_queues_are_ready(d))
		return;
	follow_host(d, n->slot);
	notify_all_moved(d);
}

void accelerator_appeared(struct leond *d, const struct node *n)
{
	const struct accel_totals *t = accel_reports_totals(d);
	mono_t now = loop_now(d->loop);

	/* New hosts are frequent, so a new host counts only while a connection may exist. An
	 * unconnected leon-accel, or a leon-accel before the first report, may have connections of
	 * the host. The check of the next second decides. */
	if (d->states->accelerator && (!t || t->intercepted_now) && n->slot != SLOT_SELF &&
	    accel_queues_have_forgotten(d, now))
		accel_queues_host_moved(d, n->slot, now);
}

void accelerator_second(struct leond *d, mono_t now attr_unused)
{
	int listener = d->states->accelerator->listener;

	if (listener >= 0)
		loop_fd_mod(d->loop, listener, EPOLLIN);
	if (!accel_queues_are_ready(d)) {
		if (fwd_snap(d->fwd)->accel_awaited != accel_queues_await(d))
			d->ops->publish(d);
		return;
	}
	if (accel_reports_second(d)) {
		notify_nodes(d);
		notify_all_moved(d);
		return;
	}
	log_warn("accel", "leon-accel has not answered for %d s: TCP connections stay plain",
		 ACCEL_SILENT_S);
	gone(d);
}

void accelerator_free(struct leond *d)
{
	struct accelerator *a = d->states->accelerator;

	if (!a)
		return;
	close_watched(d, &a->fd);
	listen_no_more(d);
	x_free(d->states->accelerator);
}
