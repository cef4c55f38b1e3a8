// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether the two sides of the packet path keep up with each other: the control thread learns
 * that workers do not read what the LAN sends (a machine that is held up stops its threads one
 * by one), and workers learn that the control thread has not run. Who shares a LAN must not go by
 * what is old: silence that nobody listened to is none, and another may forward by now.
 * See fwd.h; called by the loop guard, on the control thread.
 */
#include <poll.h>

#include "fwd/fwd.h"
#include "fwd/worker.h"

static void all_have_passed(void *arg)
{
	struct fwd *f = arg;

	f->keeping_up.waits = false;
}

/* Each worker ends the batch that it has now, sooner or later. */
static bool is_past_last_call(struct fwd *f)
{
	bool past;

	rcu_reclaim(f->rcu);
	past = !f->keeping_up.waits;
	if (past) {
		f->keeping_up.waits = true;
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
	uint64_t frames =
		atomic_load_explicit(&w->stats.counter[CNT_tap_rx_frames], memory_order_relaxed);
	bool reads = frames != f->keeping_up.frames[i];

	f->keeping_up.frames[i] = frames;
	return reads || w->io.tap < 0 || !has_frames(w->io.tap);
}

bool fwd_keeps_up(struct fwd *f)
{
	bool keeps_up = is_past_last_call(f);

	for (unsigned i = 0; i < f->n_workers; i++)
		keeps_up &= reads_its_queue(f, i);
	return keeps_up;
}

void fwd_lan_until(struct fwd *f, mono_t until)
{
	atomic_store_explicit(&f->lan_until_ns, until.ns, memory_order_relaxed);
}
