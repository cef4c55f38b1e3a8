// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests real-time scheduling, and limits busy polling, see device.h. Control thread.
 *
 * A received datagram waits until the worker runs. Beside busy programs this takes milliseconds
 * each time. The kernel's own forwarding runs in interrupts and does not wait. The control thread
 * has a higher priority than workers, because its delay counts as latency of a link. The kernel
 * limits real-time threads to 95 % (kernel.sched_rt_runtime_us).
 */
#include "daemon/device/device.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "base/log.h"
#include "daemon/leond.h"
#include "fwd/fwd.h"
#include "state/conf/conf.h"

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
