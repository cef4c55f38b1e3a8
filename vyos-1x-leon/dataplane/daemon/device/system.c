// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Features of the host: kernel offloads, real-time scheduling, and the library of AES-256-GCM. The
 * configuration can disable each offload, for a faulty driver or kernel. Control thread.
 */
#include "daemon/device/device.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "base/log.h"
#include "crypto/aead.h"
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

/* --- scheduling --- */

/*
 * A received datagram waits until the worker runs. Beside busy programs this takes milliseconds
 * each time. The kernel's own forwarding runs in interrupts and does not wait. The control thread
 * has a higher priority than workers, because its delay counts as latency of a link. The kernel
 * limits real-time threads to 95 % (kernel.sched_rt_runtime_us).
 */

/* The lowest two priorities, below the kernel's real-time threads. packaging/systemd/leond@ permits
 * them (LimitRTPRIO). */
#define WORKER_PRIORITY	 1
#define CONTROL_PRIORITY 2

/* The kernel's limit of real-time threads. Without a limit a flood of datagrams would starve all
 * other programs. */
static bool kernel_keeps_a_share(void)
{
	FILE *f = fopen("/proc/sys/kernel/sched_rt_runtime_us", "re");
	long us = 0;
	bool read = f && fscanf(f, "%ld", &us) == 1;

	if (f)
		fclose(f);
	return !read || us >= 0;
}

/* Threads started by this one, such as the resolver, keep normal scheduling. */
static int set_realtime(struct leond *d, bool realtime)
{
	struct sched_param p = { realtime ? CONTROL_PRIORITY : 0 };
	int policy = realtime ? SCHED_RR : SCHED_OTHER;

	if (sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &p) < 0)
		return -errno;
	fwd_set_realtime(d->fwd, realtime ? WORKER_PRIORITY : 0);
	return 0;
}

void scheduling_apply_conf(struct leond *d)
{
	bool wanted = !d->conf->scheduling_normal;

	if (wanted == d->device.realtime)
		return;
	if (wanted && !kernel_keeps_a_share()) {
		log_warn(
			"daemon",
			"scheduling=normal: kernel.sched_rt_runtime_us is -1, which bounds nothing");
	} else if (set_realtime(d, wanted) < 0) {
		log_notice(
			"daemon",
			"scheduling=%s: no other is permitted, realtime needs LimitRTPRIO=%d or CAP_SYS_NICE",
			wanted ? "normal" : "realtime", CONTROL_PRIORITY);
	} else {
		d->device.realtime = wanted;
		log_info("daemon", "scheduling=%s", wanted ? "realtime" : "normal");
	}
}

uint32_t scheduling_busy_poll_us(const struct conf *c)
{
	cpu_set_t cores;

	/* The call fails on a machine with more processors than the set holds. */
	if (c->busy_poll_us && sched_getaffinity(0, sizeof(cores), &cores) == 0 &&
	    CPU_COUNT(&cores) < 2)
		return 0;
	return c->busy_poll_us;
}

/* --- cipher library --- */

/* conf_read_file() has refused a configuration that requires ipsec-mb if it cannot be used. */
void cipher_library_apply_conf(struct leond *d)
{
	bool wanted = d->conf->cipher_library != CIPHER_LIBRARY_LIBCRYPTO;
	const char *before = d->states->cipher_library;
	char why_not[256];
	bool use = wanted && aead_may_use_ipsec_mb(why_not, sizeof(why_not));

	aead_use_ipsec_mb(use);
	d->states->cipher_library = aead_library();
	if (d->states->cipher_library == before)
		return;
	if (wanted && !use)
		log_notice("daemon", "cipher-library=libcrypto: ipsec-mb cannot be used: %s",
			   why_not);
	else
		log_info("daemon", "cipher-library=%s", d->states->cipher_library);
}
