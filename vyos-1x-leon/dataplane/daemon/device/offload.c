// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel offloads: the configuration can disable each of them, for a faulty driver or kernel. A
 * route without an offload is reported once. Control thread.
 */
#include "daemon/device/device.h"

#include "base/log.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "fwd/fwd.h"
#include "io/tap.h"
#include "io/udp.h"
#include "state/conf/conf.h"

void offload_apply_conf(struct leond *d)
{
	const struct conf *c = d->conf;

	tap_use_offload(d->tap, (struct tap_offload){
					.checksum = !c->tap_checksum_disable,
					.tso = c->tap_segmentation != TAP_SEGMENTATION_DISABLE,
					.uso = c->tap_segmentation == TAP_SEGMENTATION_AUTOMATIC,
				});
	udp_use_gro(d->udp, !c->udp_gro_disable);
	udp_use_gro(lines_udp(d, 1), !c->udp_gro_disable);
}

struct snap_offload offload_disabled(const struct leond *d)
{
	return (struct snap_offload){ .udp_gso = d->conf->udp_segmentation_disable,
				      .tap_tso = !d->tap->used.tso,
				      .tap_uso = !d->tap->used.uso,
				      .tap_checksum = d->conf->tap_checksum_disable };
}

const char *offload_name(enum offload o)
{
	static const char *const names[N_OFFLOADS] = { "udp_gso", "udp_gro", "tso", "uso",
						       "checksum" };

	return names[o];
}

const char *offload_unused(const struct leond *d, enum offload o)
{
	const struct {
		bool granted, used;
	} state[N_OFFLOADS] = {
		[OFFLOAD_UDP_GSO] = { d->udp->gso, !d->conf->udp_segmentation_disable },
		[OFFLOAD_UDP_GRO] = { d->udp->gro, d->udp->gro_used },
		[OFFLOAD_TSO] = { d->tap->granted.tso, d->tap->used.tso },
		[OFFLOAD_USO] = { d->tap->granted.uso, d->tap->used.uso },
		[OFFLOAD_CHECKSUM] = { d->tap->granted.checksum, d->tap->used.checksum },
	};

	if (!state[o].granted)
		return "kernel";
	return state[o].used ? NULL : "configuration";
}

void offload_look(struct leond *d, mono_t now attr_unused)
{
	uint64_t counter[N_COUNTERS], drops[N_DROPS];

	if (d->states->gso_refused)
		return;
	fwd_stats(d->fwd, counter, drops);
	d->states->gso_refused = counter[CNT_gso_refused] > 0;
	if (d->states->gso_refused)
		log_warn("daemon", "a route refuses UDP segmentation offload (IPsec, or a driver "
				   "without checksum offload): throughput suffers");
}
