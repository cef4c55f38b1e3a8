// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Detection of stalls on both sides of the packet path. The control thread detects that workers do
 * not read frames of the LAN (an overloaded host stops threads individually). Workers detect that
 * the control thread has not run. Two routers on a LAN must not rely on outdated state: silence
 * without a listener proves nothing, and another router may have become forwarder. See fwd.h;
 * called by the loop guard, on the control thread.
 */
#include <poll.h>

#include "fwd/fwd.h"
#include "fwd/worker.h"

static void all_have_passed(void *arg)
{
	struct fwd *f = arg;

	f->watchdog.waits = false;
}

/* Waits until each worker has ended its current batch. */
static bool is_past_last_read(struct fwd *f)
{
	bool past;

	rcu_reclaim(f->rcu);
	past = !f->watchdog.waits;
	if (past) {
		f->watchdog.waits = true;
		rcu_retire(f->rcu, f, all_have_passed);
	}
	return past;
}

static bool has_frames(int tap)
{
	struct pollfd p = { .fd = tap, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

static bool reads_its_queue(struct fwd *f, unsigned i)
{
	const struct worker *w = &f->worker[i];
	uint64_t frames = load_relaxed(&w->stats.counter[CNT_tap_rx_frames]);
	bool reads = frames != f->watchdog.frames[i];

	f->watchdog.frames[i] = frames;
	return reads || w->io.tap < 0 || !has_frames(w->io.tap);
}

bool fwd_input_is_current(struct fwd *f)
{
	bool keeps_up = is_past_last_read(f);

	for (unsigned i = 0; i < f->n_workers; i++)
		keeps_up &= reads_its_queue(f, i);
	return keeps_up;
}

void fwd_lan_until(struct fwd *f, mono_t until)
{
	store_relaxed(&f->lan_until_ns, until.ns);
}
