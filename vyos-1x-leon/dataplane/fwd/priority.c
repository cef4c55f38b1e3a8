// SPDX-License-Identifier: GPL-2.0-or-later
/* Real-time priority of a worker. Workers. */
#include "fwd/thread.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/defs.h"

bool priority_is_needed(struct priority *p, uint64_t waited_ns, mono_t now)
{
	bool waited = waited_ns - p->waited_ns > PRIORITY_LOOK_NS / 2;
	bool again = mono_before(now, mono_add_ns(p->until, p->hold_ns));

	p->waited_ns = waited_ns;
	if (waited && !p->realtime) {
		p->hold_ns = again ? min_of(2 * p->hold_ns, (int64_t)PRIORITY_HOLD_MAX_NS)
				   : PRIORITY_HOLD_MIN_NS;
		p->until = mono_add_ns(now, p->hold_ns);
	}
	return mono_before(now, p->until);
}

/* Linux, Documentation/scheduler/sched-stats.rst: time on a processor, time of waiting for one. */
static bool read_waited(struct priority *p, uint64_t *ns)
{
	char text[80];
	ssize_t n;

	if (p->fd == 0)
		p->fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	n = p->fd < 0 ? -1 : pread(p->fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "%*u %" SCNu64, ns) == 1;
}

bool priority_look(struct priority *p, int permitted, mono_t now)
{
	struct sched_param param = { .sched_priority = 0 };
	bool needed = true;
	uint64_t waited_ns;

	if (mono_sub_ns(now, p->looked) < PRIORITY_LOOK_NS)
		return false;
	p->looked = now;
	if (read_waited(p, &waited_ns))
		needed = priority_is_needed(p, waited_ns, now);
	needed = needed && permitted > 0;
	if (needed == p->realtime)
		return false;
	if (needed)
		param.sched_priority = permitted;
	if (pthread_setschedparam(pthread_self(), needed ? SCHED_RR : SCHED_OTHER, &param) == 0)
		p->realtime = needed;
	return needed && p->realtime;
}

void priority_fini(struct priority *p)
{
	if (p->fd > 0)
		close(p->fd);
}
