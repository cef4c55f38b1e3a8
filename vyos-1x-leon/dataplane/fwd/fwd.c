// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The façade of the packet path for the control thread: workers, snapshots, reports and counters.
 * See fwd.h. Control thread.
 */
#include "fwd/fwd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "fwd/in/received_tables.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/capture.h"
#include "fwd/worker.h"
#include "wire/ipfix.h"

struct fwd *fwd_new(const struct fwd_setup *setup)
{
	struct fwd *f;

	if (!setup->n_workers || setup->n_workers > FWD_WORKERS_MAX || !setup->slots_maximum)
		bug("%u workers, %u slots", setup->n_workers, setup->slots_maximum);
	f = x_new(struct fwd);
	f->n_workers = setup->n_workers;
	f->slots_maximum = setup->slots_maximum;
	f->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (f->event_fd < 0)
		bug("no eventfd: errno %d", errno);
	f->rcu = rcu_new(f->n_workers);
	f->thread = x_calloc(f->n_workers, sizeof(f->thread[0]));
	f->worker = x_calloc_aligned(f->n_workers, sizeof(f->worker[0]));
	f->copies = copies_new(f->slots_maximum);
	f->recovery = recovery_new();
	f->hold = hold_new();
	f->flood_dedup = flood_dedup_new();
	f->hop = x_calloc(f->slots_maximum, sizeof(f->hop[0]));
	f->spread = x_calloc(f->slots_maximum, sizeof(f->spread[0]));
	f->no_gso = x_calloc(f->slots_maximum, sizeof(f->no_gso[0]));
	for (unsigned i = 0; i < f->n_workers; i++)
		worker_init(&f->worker[i], f, i, setup);
	return f;
}

uint16_t fwd_slots(const struct fwd *f)
{
	return f->slots_maximum;
}

void fwd_wake(struct fwd *f)
{
	uint64_t one = 1;

	for (unsigned i = 0; i < f->n_workers; i++)
		if (write(f->worker[i].wake_fd, &one, sizeof(one)) < 0)
			bug("cannot wake worker %u: errno %d", i, errno);
}

static void join(struct fwd *f, unsigned n)
{
	store_release(&f->stops, true);
	fwd_wake(f);
	for (unsigned i = 0; i < n; i++)
		pthread_join(f->thread[i], NULL);
	store_relaxed(&f->stops, false);
}

int fwd_start(struct fwd *f)
{
	sigset_t all, old;
	int rc = 0;
	unsigned i;

	if (!load_relaxed(&f->snap))
		bug("started without a snapshot");
	/* The control thread handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (i = 0; i < f->n_workers && rc == 0; i++)
		rc = pthread_create(&f->thread[i], NULL, worker_run, &f->worker[i]);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc) {
		join(f, i - 1);
		return -rc;
	}
	f->running = true;
	return 0;
}

void fwd_set_realtime(struct fwd *f, int priority)
{
	store_relaxed(&f->realtime, priority);
	fwd_wake(f);
}

void fwd_stop(struct fwd *f)
{
	if (!f->running)
		return;
	join(f, f->n_workers);
	f->running = false;
}

void fwd_free(struct fwd *f)
{
	if (!f)
		return;
	fwd_stop(f);
	for (unsigned i = 0; i < f->n_workers; i++)
		worker_fini(&f->worker[i]);
	copies_free(f->copies);
	recovery_free(f->recovery);
	hold_free(f->hold);
	flood_dedup_free(f->flood_dedup);
	free(f->hop);
	free(f->spread);
	free(f->no_gso);
	rcu_free(f->rcu);
	snap_free(load_relaxed(&f->snap));
	close(f->event_fd);
	free(f->worker);
	free(f->thread);
	free(f);
}

void fwd_forget(struct fwd *f, uint16_t slot)
{
	copies_forget(f->copies, slot);
}

void fwd_publish(struct fwd *f, struct snap *s)
{
	struct snap *old;

	if (s->n_slots > f->slots_maximum)
		bug("snapshot of %u slots, at most %u", s->n_slots, f->slots_maximum);
	old = atomic_exchange_explicit(&f->snap, s, memory_order_acq_rel);
	if (old)
		rcu_retire(f->rcu, old, snap_free);
	rcu_reclaim(f->rcu);
}

const struct snap *fwd_snap(const struct fwd *f)
{
	return load_relaxed(&f->snap);
}

void fwd_retire(struct fwd *f, void *p, void (*fn)(void *))
{
	rcu_retire(f->rcu, p, fn);
}

void fwd_reclaim(struct fwd *f)
{
	rcu_reclaim(f->rcu);
}

int fwd_report_fd(const struct fwd *f)
{
	return f->event_fd;
}

void fwd_report_ack(struct fwd *f)
{
	uint64_t n;

	/* A failure means no new report, which is also acknowledged. */
	if (read(f->event_fd, &n, sizeof(n)) < 0)
		return;
}

bool fwd_next_report(struct fwd *f, struct fwd_report *r)
{
	unsigned n = 2 * f->n_workers;

	if (f->held)
		ring_release(f->held);
	f->held = NULL;
	/* Takes a record of each ring in turn, so a busy ring does not starve the others. */
	for (unsigned i = 0; i < n; i++) {
		unsigned at = (f->next_ring + i) % n;
		struct worker *w = &f->worker[at / 2];
		struct ring *ring = at % 2 ? w->reports : w->control;

		if (report_take(ring, r)) {
			f->held = ring;
			f->next_ring = (at + 1) % n;
			return true;
		}
	}
	return false;
}

static bool next_record(struct ring *ring, void *out, size_t size)
{
	uint16_t type;
	size_t len;
	const void *rec = ring_peek(ring, &type, &len);

	if (!rec)
		return false;
	memcpy(out, rec, min_of(len, size));
	ring_release(ring);
	return true;
}

bool fwd_next_sample(struct fwd *f, struct sampled_flow *out)
{
	bool found = false;

	for (unsigned i = 0; !found && i < f->n_workers; i++)
		found = next_record(f->worker[i].samples, out, sizeof(*out));
	return found;
}

bool fwd_next_captured(struct fwd *f, struct fwd_captured *out)
{
	bool found = false;

	for (unsigned i = 0; !found && i < f->n_workers; i++)
		found = next_record(f->worker[i].captured, out, sizeof(*out));
	return found;
}

void fwd_traffic(const struct fwd *f, uint16_t slot, struct fwd_traffic *out)
{
	*out = (struct fwd_traffic){ 0 };
	for (unsigned i = 0; slot < f->slots_maximum && i < f->n_workers; i++) {
		const struct traffic *t = &f->worker[i].traffic[slot];

		out->link_tx += load_relaxed(&t->link_tx);
		out->link_rx += load_relaxed(&t->link_rx);
		out->path_tx += load_relaxed(&t->path_tx);
		out->path_rx += load_relaxed(&t->path_rx);
		out->refused += load_relaxed(&t->refused);
		out->directed += load_relaxed(&t->directed);
		out->link_tx_bytes += load_relaxed(&t->link_tx_bytes);
		out->link_rx_bytes += load_relaxed(&t->link_rx_bytes);
		out->trains += load_relaxed(&t->trains);
	}
}

void fwd_uses(const struct fwd *f, uint16_t n_slots, struct fwd_use *out)
{
	uint16_t n = (uint16_t)min_of(n_slots, f->slots_maximum);

	memset(out, 0, n_slots * sizeof(*out));
	for (unsigned i = 0; i < f->n_workers; i++) {
		for (uint16_t slot = 0; slot < n; slot++) {
			const struct traffic *t = &f->worker[i].traffic[slot];

			out[slot].link_tx += load_relaxed(&t->link_tx);
			out[slot].directed += load_relaxed(&t->directed);
		}
	}
}

struct fwd_line_traffic fwd_line_traffic(const struct fwd *f, uint16_t slot, unsigned line)
{
	struct fwd_line_traffic sum = { 0 };

	for (unsigned i = 0; slot < f->slots_maximum && i < f->n_workers; i++) {
		const struct line_traffic *t = &f->worker[i].line[slot];

		sum.tx_bytes += load_relaxed(&t->tx_bytes[line % LINE_PAIRS]);
		sum.rx_bytes += load_relaxed(&t->rx_bytes[line % LINE_PAIRS]);
	}
	return sum;
}

void fwd_set_line(struct fwd *f, uint16_t slot, bool second, uint32_t kbits, uint32_t delay_us)
{
	struct spread_line *l = &f->spread[slot].line[second];

	store_relaxed(&l->kbits, kbits);
	store_relaxed(&l->delay_us, delay_us);
}

int64_t fwd_line_backlog_us(const struct fwd *f, uint16_t slot, bool second, mono_t now)
{
	return spread_backlog_us(&f->spread[slot].line[second], now);
}

void fwd_correct_line(struct fwd *f, uint16_t slot, bool second, int64_t us, mono_t now)
{
	shaper_correct(&f->spread[slot].line[second].shaper, us, now);
}

void fwd_set_segmentation(struct fwd *f, uint16_t slot, bool on)
{
	if (slot < f->slots_maximum)
		store_relaxed(&f->no_gso[slot], !on);
}

void fwd_vlans(const struct fwd *f, struct fwd_vlan out[VLAN_IDS])
{
	memset(out, 0, VLAN_IDS * sizeof(*out));
	for (unsigned i = 0; i < f->n_workers; i++) {
		for (unsigned vlan = 0; vlan < VLAN_IDS; vlan++) {
			const struct vlan_flood *v = &f->worker[i].vlan[vlan];

			out[vlan].flooded += load_relaxed(&v->flooded);
			out[vlan].pruned += load_relaxed(&v->pruned);
			out[vlan].limited += load_relaxed(&v->limited);
		}
	}
}

void fwd_set_bottleneck(struct fwd *f, uint32_t kbits)
{
	store_relaxed(&f->bottleneck_kbits, kbits);
}

void fwd_set_hop(struct fwd *f, uint16_t slot, uint32_t kbits)
{
	uint32_t was = fwd_hop_kbits(f, slot);

	if (kbits == was)
		return;
	store_relaxed(&f->hop[slot].kbits, kbits);
	f->n_shaped += kbits != 0;
	f->n_shaped -= was != 0;
	store_relaxed(&f->shapes_hops, f->n_shaped != 0);
}

bool fwd_shapes_hops(const struct fwd *f)
{
	return f->n_shaped != 0;
}

uint32_t fwd_hop_kbits(const struct fwd *f, uint16_t slot)
{
	return load_relaxed(&f->hop[slot].kbits);
}

static void add_queue(const struct queue_figures *t, struct fwd_queue *sum)
{
	sum->backlog_bytes += load_relaxed(&t->backlog_bytes);
	sum->backlog_frames += load_relaxed(&t->backlog_frames);
	sum->sent += load_relaxed(&t->sent);
	sum->marked += load_relaxed(&t->marked);
	sum->full += load_relaxed(&t->full);
	sum->late += load_relaxed(&t->late);
	sum->waits_us += load_relaxed(&t->waits_us);
	for (unsigned i = 0; i < FWD_WAITS; i++)
		sum->waits[i] += load_relaxed(&t->waits[i]);
}

void fwd_add_socket_waits(const struct fwd *f, unsigned worker, struct fwd_waits *sum)
{
	const struct socket_waits *s = &f->worker[worker].socket_waits;

	sum->waits_us += load_relaxed(&s->waits_us);
	for (unsigned i = 0; i < FWD_WAITS; i++) {
		uint64_t n = load_relaxed(&s->waits[i]);

		sum->waits[i] += n;
		sum->n += n;
	}
}

void fwd_queue(const struct fwd *f, unsigned worker, struct fwd_queue *out)
{
	*out = (struct fwd_queue){ 0 };
	for (unsigned i = 0; i < FWD_TIERS; i++)
		add_queue(&f->worker[worker].queue.tier[i], out);
}

void fwd_queue_tier(const struct fwd *f, enum fwd_tier tier, struct fwd_queue *out)
{
	*out = (struct fwd_queue){ 0 };
	for (unsigned i = 0; i < f->n_workers; i++)
		add_queue(&f->worker[i].queue.tier[tier], out);
}

void fwd_queue_hop(const struct fwd *f, uint16_t slot, struct fwd_queue *out)
{
	*out = (struct fwd_queue){ 0 };
	for (unsigned i = 0; i < f->n_workers; i++)
		add_queue(&f->worker[i].queue.hop[slot], out);
}

uint64_t fwd_held_frames(const struct fwd *f)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < f->n_workers; i++)
		n += load_relaxed(&f->worker[i].queue.held_frames);
	return n;
}

const char *fwd_tier_name(enum fwd_tier tier)
{
	static const char *const names[] = { [TIER_BULK] = "bulk",
					     [TIER_BEST_EFFORT] = "best-effort",
					     [TIER_VIDEO] = "video",
					     [TIER_VOICE] = "voice" };

	return names[tier];
}

void fwd_stats(const struct fwd *f, uint64_t counter[N_COUNTERS], uint64_t drops[N_DROPS])
{
	memset(counter, 0, N_COUNTERS * sizeof(*counter));
	memset(drops, 0, N_DROPS * sizeof(*drops));
	for (unsigned i = 0; i < f->n_workers; i++) {
		const struct stats *s = &f->worker[i].stats;

		for (unsigned c = 0; c < N_COUNTERS; c++)
			counter[c] += load_relaxed(&s->counter[c]);
		for (unsigned d = 0; d < N_DROPS; d++)
			drops[d] += load_relaxed(&s->drop[d]);
	}
}

unsigned fwd_budget_used_percent(const struct fwd *f, mono_t now)
{
	const struct policy *p = fwd_snap(f)->policy;

	return p ? budget_used_percent(&f->budget, p->budget_kbits, now) : 0;
}

uint64_t fwd_reassembly_bytes(const struct fwd *f)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < f->n_workers; i++)
		sum += load_relaxed(&f->worker[i].reasm_bytes);
	return sum;
}
