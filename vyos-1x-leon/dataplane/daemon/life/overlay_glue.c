// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host functions of the protocol: send a datagram, publish snapshots, drop the state of a node,
 * report an event, read the clocks. Control thread.
 */
#include <errno.h>

#include "base/loop.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/capture/captures.h"
#include "daemon/identity/own_identity.h"
#include "daemon/lan/local_lan.h"
#include "daemon/life/life.h"
#include "daemon/report/report.h"
#include "daemon/routes/routes.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "daemon/underlay/underlay.h"
#include "fwd/fwd.h"
#include "io/clock.h"
#include "io/udp.h"
#include "proto/overlay.h"
#include "proto/overlay_ops.h"
#include "proto/overlay_seeds.h"
#include "wire/frame/ecn.h"

static int send_control(struct leond *d, const struct endpoint *to, const void *data, size_t len)
{
	const struct udp *u = endpoint_is_stream(to) ? streams_udp(d) : lines_udp(d, to->line);
	int fd4 = u && u->n ? u->fd4[0] : -1, fd6 = u && u->n ? u->fd6[0] : -1;

	if (d->conf->dscp_control == CONF_DSCP_NONE)
		return udp_send(fd4, fd6, to, data, len);
	return udp_send_class(fd4, fd6, to, data, len,
			      (uint8_t)(d->conf->dscp_control << DSCP_SHIFT));
}

static void glue_send(void *arg, const struct endpoint *to, const void *data, size_t len)
{
	struct leond *d = arg;

	int r = -ELOOP;

	/* Like any other loss: the protocol retransmits, and probing detects the rest. Only seeds
	 * receive the error for their diagnosis. */
	if (!routes_withhold(d, &to->ip))
		r = send_control(d, to, data, len);
	if (r < 0)
		overlay_seed_error(d->overlay, to, -r, true);
}

static void glue_snapshot_changed(void *arg)
{
	struct leond *d = arg;

	streams_look(d, loop_now(d->loop));
	guard_paths_changed(arg);
	snapshot_publish(arg);
	routes_soon(arg);
}

static void glue_purge(void *arg, const struct slot_set *gone)
{
	struct leond *d = arg;

	host_probes_mark_moved(d);
	fdb_forget_slots(d->fdb, gone, NULL, now_s_of(loop_now(d->loop)));
	accel_queues_hosts_forgotten(d, loop_now(d->loop));
	neigh_forget_slots(d->neigh, gone, NULL);
	for (uint16_t slot = 0; d->fwd && slot < fwd_slots(d->fwd); slot++)
		if (slot_set_has(gone, slot))
			fwd_forget(d->fwd, slot);
}

static void glue_new_run(void *arg, uint16_t slot)
{
	struct leond *d = arg;

	if (d->fwd)
		fwd_forget(d->fwd, slot);
}

static void glue_lan_changed(void *arg, uint16_t slot, uint64_t classes)
{
	lan_changed(arg, slot, classes);
}

static void glue_lan_left(void *arg, uint16_t slot)
{
	guard_node_gone(arg, slot);
}

static void glue_groups(void *arg, uint16_t slot, const uint64_t *entry, unsigned n)
{
	snooping_announced(arg, slot, entry, n);
}

static void answer_capture(struct leond *d, node_id_t to, const struct msg *m)
{
	overlay_send_capture(d->overlay, to, m);
}

static void glue_capture(void *arg, node_id_t node, const struct msg *m)
{
	if (m->type == MSG_CAPTURE_DATA || m->type == MSG_CAPTURE_SEEN)
		collect_message(arg, node, m);
	else
		provide_message(arg, node, m, answer_capture);
}

static void glue_event(void *arg, const struct overlay_event *e)
{
	report_overlay_event(arg, e);
}

static void glue_traffic(void *arg, uint16_t slot, struct overlay_traffic *out)
{
	struct leond *d = arg;
	struct fwd_traffic t;

	fwd_traffic(d->fwd, slot, &t);
	*out = (struct overlay_traffic){ .link_tx = t.link_tx,
					 .link_rx = t.link_rx,
					 .path_tx = t.path_tx,
					 .path_rx = t.path_rx,
					 .refused = t.refused,
					 .link_tx_bytes = t.link_tx_bytes,
					 .link_rx_bytes = t.link_rx_bytes,
					 .trains = t.trains };
}

static void glue_line_traffic(void *arg, uint16_t slot, unsigned pair, uint64_t *tx, uint64_t *rx)
{
	struct leond *d = arg;
	struct fwd_line_traffic t = fwd_line_traffic(d->fwd, slot, pair);

	*tx = t.tx_bytes;
	*rx = t.rx_bytes;
}

static void glue_line_set(void *arg, uint16_t slot, bool second, uint32_t kbits, uint32_t delay_us)
{
	struct leond *d = arg;

	fwd_set_line(d->fwd, slot, second, kbits, delay_us);
}

static int64_t glue_line_backlog_us(void *arg, uint16_t slot, bool second)
{
	struct leond *d = arg;

	return fwd_line_backlog_us(d->fwd, slot, second, mono_now());
}

static void glue_line_correct(void *arg, uint16_t slot, bool second, int64_t us)
{
	struct leond *d = arg;

	fwd_correct_line(d->fwd, slot, second, us, mono_now());
}

static void glue_segmentation(void *arg, uint16_t slot, bool on)
{
	struct leond *d = arg;

	if (d->fwd)
		fwd_set_segmentation(d->fwd, slot, on);
}

static void glue_rate_requested(void *arg, uint16_t slot)
{
	struct leond *d = arg;

	if (d->fwd)
		bottleneck_notify_peer(d, slot);
}

static uint64_t glue_wall_us(void *arg attr_unused)
{
	return (uint64_t)wall_now_us();
}

static mono_t glue_clock(void *arg attr_unused)
{
	return mono_now();
}

static void glue_master_key(void *arg, enum stretch_kind kind, const char *secret, uint32_t vni,
			    uint8_t out[MASTER_KEY_LEN])
{
	struct leond *d = arg;

	if (!d->states->stretcher)
		d->states->stretcher = stretcher_new();
	stretcher_master(d->states->stretcher, kind, secret, vni, out);
}

static bool glue_store_invitations(void *arg)
{
	return invitations_save(arg) == 0;
}

const struct overlay_ops overlay_glue = {
	.send = glue_send,
	.snapshot_changed = glue_snapshot_changed,
	.purge = glue_purge,
	.new_run = glue_new_run,
	.lan_changed = glue_lan_changed,
	.lan_left = glue_lan_left,
	.groups = glue_groups,
	.capture = glue_capture,
	.event = glue_event,
	.traffic = glue_traffic,
	.line_traffic = glue_line_traffic,
	.line_set = glue_line_set,
	.line_backlog_us = glue_line_backlog_us,
	.line_correct = glue_line_correct,
	.segmentation = glue_segmentation,
	.requested = glue_rate_requested,
	.wall_us = glue_wall_us,
	.precise_now = glue_clock,
	.master_key = glue_master_key,
	.store_invitations = glue_store_invitations,
};
