// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of modules, see life.h. A new module is one row. Control thread.
 */
#include "daemon/life/life.h"

#include "base/defs.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/capture/captures.h"
#include "daemon/device/device.h"
#include "daemon/identity/own_identity.h"
#include "daemon/lan/local_lan.h"
#include "daemon/metrics/metrics.h"
#include "daemon/routes/routes.h"
#include "daemon/transport/transport.h"
#include "daemon/underlay/underlay.h"

/* Each function may be NULL. */
struct module {
	void (*start)(struct leond *d);
	unsigned changes; /* enum conf_change bits for apply() */
	void (*apply)(struct leond *d);
	void (*second)(struct leond *d, mono_t now);
	void (*stop)(struct leond *d); /* also without start() */
};

static const struct module modules[] = {
	{ .changes = CONF_DATAGRAMS, .apply = lines_apply_conf, .second = lines_second },
	{ .changes = CONF_PEERS, .apply = seeds_reset, .second = seeds_run, .stop = seeds_stop },
	{ .start = streams_start,
	  .changes = CONF_TRANSPORT,
	  .apply = streams_apply_conf,
	  .second = streams_second,
	  .stop = streams_stop },
	{ .start = fallback_start,
	  .changes = CONF_PEERS | CONF_TRANSPORT,
	  .apply = fallback_apply_conf,
	  .stop = fallback_stop },
	{ .start = source_start },
	{ .start = locators_start, .changes = CONF_ROUTES, .apply = locators_update },
	{ .start = portmap_apply_conf,
	  .changes = CONF_PORT_MAPPING | CONF_DATAGRAMS,
	  .apply = portmap_apply_conf,
	  .second = portmap_second,
	  .stop = portmap_stop },
	{ .start = routes_start,
	  .changes = CONF_ROUTES,
	  .apply = routes_addresses_changed,
	  .stop = routes_free },
	{ .start = announcer_start, .changes = CONF_ROUTES, .apply = announcer_apply_conf },
	{ .start = vlans_start,
	  .changes = CONF_FRAMES,
	  .apply = vlans_apply_conf,
	  .second = vlans_second },
	{ .start = bridge_ports_start },
	{ .start = failover_start },
	{ .start = host_probes_start },
	{ .start = snooping_start,
	  .changes = CONF_FRAMES,
	  .apply = snooping_apply_conf,
	  .second = snooping_second,
	  .stop = snooping_stop },
	{ .start = guard_start,
	  .changes = CONF_FRAMES,
	  .apply = guard_apply_conf,
	  .stop = guard_close },
	{ .start = usage_start, .stop = usage_free },
	{ .start = bottleneck_start, .changes = CONF_FRAMES, .apply = bottleneck_apply_conf },
	{ .start = senders_start,
	  .changes = CONF_FRAMES,
	  .apply = senders_apply_conf,
	  .stop = senders_free },
	{ .start = device_look,
	  .changes = CONF_DEVICE | CONF_PATHS,
	  .apply = device_apply_conf,
	  .second = device_run_mtu },
	{ .changes = CONF_KEYS, .apply = cipher_library_apply_conf },
	{ .changes = CONF_SCHEDULING, .apply = scheduling_apply_conf },
	{ .second = reach_run },
	{ .changes = CONF_DEVICE, .apply = offload_apply_conf, .second = offload_look },
	{ .start = flow_export_apply_conf,
	  .changes = CONF_FLOWS | CONF_DATAGRAMS,
	  .apply = flow_export_apply_conf },
	{ .changes = CONF_CAPTURE, .apply = provide_apply_conf },
	{ .second = invitations_second },
	{ .second = cache_periodic, .stop = cache_free },
	{ .stop = accel_queues_free },
	{ .changes = CONF_ACCELERATION,
	  .apply = accelerator_apply_conf,
	  .second = accelerator_second,
	  .stop = accelerator_free },
};

void modules_start(struct leond *d)
{
	for (unsigned i = 0; i < array_size(modules); i++)
		if (modules[i].start)
			modules[i].start(d);
}

void modules_apply(struct leond *d, unsigned changes)
{
	for (unsigned i = 0; i < array_size(modules); i++)
		if (changes & modules[i].changes)
			modules[i].apply(d);
}

void modules_second(struct leond *d, mono_t now)
{
	for (unsigned i = 0; i < array_size(modules); i++)
		if (modules[i].second)
			modules[i].second(d, now);
}

void modules_stop(struct leond *d)
{
	for (unsigned i = array_size(modules); i-- > 0;)
		if (modules[i].stop)
			modules[i].stop(d);
}
