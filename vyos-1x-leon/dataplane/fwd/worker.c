// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The worker thread: waits for its sources (TAP queue, sockets) and runs the steps batch by batch.
 * See worker.h.
 */
#include "fwd/worker.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "crypto/aead.h"
#include "fwd/accel/divert.h"
#include "fwd/capture.h"
#include "fwd/in/receive.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/out/from_tap.h"
#include "fwd/send/send_steps.h"
#include "io/clock.h"

/* Interval of reassembly time-out checks while idle. */
#define REASM_POLL_MS 100

_Static_assert(FWD_WORKERS_MAX <= COPY_WORKERS_MAX, "each worker numbers frames for itself");

/* --- sources --- */

static bool take_wake(struct worker *w, int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) == sizeof(n))
		w->stopping = load_acquire(&w->fwd->stops);
	return false;
}

static void drain_errors(struct worker *w, int fd)
{
	struct udp_error e;

	while (udp_error_next(fd, &e)) {
		e.to.line = w->rx_line;
		if (e.error != EMSGSIZE)
			report_send_error(w, &e.to, e.error, false);
	}
}

/* An absent descriptor is negative, an optional one may be 0 too. */
static void add_source(struct worker *w, struct source s)
{
	if (s.fd <= 0)
		return;
	if (w->n_sources == SOURCES_MAX)
		bug("worker %u has more than %d sources", w->index, SOURCES_MAX);
	w->source[w->n_sources++] = s;
}

static void add_sources(struct worker *w)
{
	/* An error of a TAP queue means that the device was deleted and is permanent. Netlink
	 * notifies the control thread. */
	add_source(w, (struct source){ w->io.tap, from_tap, queue_due, NULL, 0 });
	add_source(w, (struct source){ w->io.udp4, from_net, NULL, drain_errors, 0 });
	add_source(w, (struct source){ w->io.udp6, from_net, NULL, drain_errors, 0 });
	add_source(w, (struct source){ w->io.second4, from_net, NULL, drain_errors, 1 });
	add_source(w, (struct source){ w->io.second6, from_net, NULL, drain_errors, 1 });
	add_source(w, (struct source){ w->io.stream, from_net, NULL, drain_errors, 0 });
	add_source(w, (struct source){ w->io.accel, from_accel, NULL, NULL, 0 });
	add_source(w, (struct source){ w->wake_fd, take_wake, NULL, NULL, 0 });
}

void worker_init(struct worker *w, struct fwd *f, unsigned index, const struct fwd_setup *setup)
{
	*w = (struct worker){ .fwd = f,
			      .index = index,
			      .io = setup->io[index],
			      .wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
			      .udp_gso = setup->udp_gso,
			      .tap_tso = setup->tap_offload,
			      .tap_uso = setup->tap_uso };
	if (w->wake_fd < 0)
		bug("no eventfd: errno %d", errno);
	add_sources(w);
	w->tap_rx.arena = x_buffer(TAP_RX_ARENA, 1);
	queue_init(&w->queue, f->hop, setup->slots_maximum);
	if (w->io.accel > 0)
		w->accel_arena = x_buffer(ACCEL_RX_ARENA, 1);
	w->rx = udp_rx_new(NET_BATCH, NET_BUFFER);
	w->rx_messages = NET_BATCH;
	tx_init(w, setup->slots_maximum);
	/* A worker without an own queue writes to the first one. */
	w->deliver.fd = w->io.tap >= 0 ? w->io.tap : setup->io[0].tap;
	w->reasm = reasm_new(REASM_BYTES);
	random_bytes(&w->hash_key, sizeof(w->hash_key));
	w->spare = x_calloc(NET_BUFFER, 1);
	w->cannot_forward_at = x_calloc(setup->slots_maximum, sizeof(w->cannot_forward_at[0]));
	w->control = ring_new(CONTROL_RING_BYTES);
	w->reports = ring_new(REPORT_RING_BYTES);
	w->samples = ring_new(SAMPLE_RING_BYTES);
	w->captured = ring_new(CAPTURE_RING_BYTES);
	w->traffic = x_calloc(setup->slots_maximum, sizeof(w->traffic[0]));
	w->line = x_calloc(setup->slots_maximum, sizeof(w->line[0]));
	w->vlan = x_calloc(VLAN_IDS, sizeof(w->vlan[0]));
	/* Counters of different workers, and of this daemon and its predecessor, must not collide
	 * within the reassembly time-out. */
	/* From the time of day: above the values of the previous daemon (protocol 2.8). */
	w->copy_counter = (uint64_t)wall_now_us();
	coding_init(&w->coding);
	resend_init(&w->resend);
	w->fragment_id = index << 28 | ((uint32_t)(mono_now().ns >> 10) & 0x0fffffff);
}

void worker_fini(struct worker *w)
{
	close(w->wake_fd);
	priority_fini(&w->priority);
	free(w->tap_rx.arena);
	queue_fini(&w->queue);
	free(w->accel_arena);
	udp_rx_free(w->rx);
	tx_fini(w);
	reasm_free(w->reasm);
	free(w->cannot_forward_at);
	free(w->spare);
	coding_fini(&w->coding);
	resend_fini(&w->resend);
	ring_free(w->control);
	ring_free(w->reports);
	ring_free(w->samples);
	ring_free(w->captured);
	free(w->traffic);
	free(w->line);
	free(w->vlan);
}

static bool lan_is_old(const struct worker *w)
{
	int64_t until_ns = load_relaxed(&w->fwd->lan_until_ns);

	return until_ns && w->now.ns > until_ns;
}

void worker_begin(struct worker *w)
{
	worker_see_snapshot(w);
	w->now = mono_now();
	w->now_s = (uint32_t)(w->now.ns / NS_PER_S);
	w->lan_is_old = unlikely(w->snap->lan) && lan_is_old(w);
	w->real_ns = 0;
	w->posted = false;
}

/* Only if there are any: an idle worker writes nothing. */
static void look_after_reasm(struct worker *w)
{
	uint64_t bytes = reasm_bytes(w->reasm);

	if (reasm_waiting(w->reasm)) {
		drop_many(w, DROP_fragment_timeout, reasm_expire(w->reasm, w->now));
		bytes = reasm_bytes(w->reasm);
	}
	if (bytes != load_relaxed(&w->reasm_bytes))
		store_relaxed(&w->reasm_bytes, bytes);
}

static bool holds_are_due(const struct worker *w)
{
	mono_t due = hold_due(w->fwd->hold);

	return !mono_is_never(due) && !mono_before(w->now, due);
}

void worker_end(struct worker *w)
{
	uint64_t one = 1;

	deliver_flush(w);
	if (unlikely(w->holds || holds_are_due(w)))
		from_net_end(w);
	bundle_flush(w);
	if (unlikely(w->coding.n_open))
		protect_end_due(w);
	tx_flush(w);
	queue_reap(&w->queue);
	look_after_reasm(w);
	/* Fails only at the maximum of the counter, and then the reader is awake. */
	if (w->posted && write(w->fwd->event_fd, &one, sizeof(one)) < 0)
		w->posted = false;
}

/* --- the thread --- */

/* Runs one batch of one source; returns true if more may be pending. NULL: time passes for queued
 * frames. */
static bool run(struct worker *w, const struct source *s)
{
	bool more;

	worker_begin(w);
	w->rx_line = s ? s->line : 0;
	if (unlikely(resend_waits(&w->resend)))
		resend_look(w);
	more = s && s->take(w, s->fd);
	worker_end(w);
	rcu_quiescent(w->fwd->rcu, w->index);
	return more;
}

static void run_error(struct worker *w, const struct source *s)
{
	worker_begin(w);
	w->rx_line = s->line;
	s->error(w, s->fd);
	worker_end(w);
	rcu_quiescent(w->fwd->rcu, w->index);
}

/* Runs one batch of each ready source; a source with more pending stays ready. */
static void serve(struct worker *w, bool ready[SOURCES_MAX])
{
	for (unsigned i = 0; i < w->n_sources; i++)
		if (ready[i])
			ready[i] = run(w, &w->source[i]);
}

/* Evaluates poll(): handles errors, marks the others in `ready`. */
static void look(struct worker *w, struct pollfd pfd[SOURCES_MAX], bool ready[SOURCES_MAX])
{
	for (unsigned i = 0; i < w->n_sources; i++) {
		ready[i] |= (pfd[i].revents & POLLIN) != 0;
		if (!(pfd[i].revents & (POLLERR | POLLHUP | POLLNVAL)))
			continue;
		if (w->source[i].error)
			run_error(w, &w->source[i]);
		else
			pfd[i].fd = -1; /* permanent state: polling it would be a busy loop */
	}
}

/* Time until the periodic tasks of worker_end(); negative: none. */
static int64_t next_task(const struct worker *w)
{
	mono_t due = hold_due(w->fwd->hold);

	if (unlikely(w->coding.n_open))
		due = mono_earlier(due, protect_due(w));
	if (unlikely(!mono_is_never(due)))
		return min_of(max_of(mono_sub_ns(due, mono_now()), (int64_t)1),
			      (int64_t)RESEND_POLL_MS * NS_PER_MS);
	if (unlikely(resend_waits(&w->resend)))
		return RESEND_POLL_MS * NS_PER_MS;
	return reasm_waiting(w->reasm) ? REASM_POLL_MS * NS_PER_MS : -1;
}

/* Sources with due queued frames take their turn too. Returns the sleep time: 0 if a source is
 * ready; negative: until an event. */
static int64_t look_here(const struct worker *w, bool ready[SOURCES_MAX])
{
	int64_t sleep_ns = next_task(w);

	for (unsigned i = 0; i < w->n_sources; i++) {
		mono_t due = w->source[i].due ? w->source[i].due(w) : MONO_NEVER;
		int64_t left;

		if (likely(mono_is_never(due) && !ready[i]))
			continue;
		left = ready[i] ? 0 : max_of(mono_sub_ns(due, mono_now()), (int64_t)0);
		ready[i] = left == 0;
		sleep_ns = sleep_ns < 0 ? left : min_of(sleep_ns, left);
	}
	return sleep_ns;
}

static int wait_for_work(const struct worker *w, struct pollfd pfd[SOURCES_MAX], int64_t sleep_ns)
{
	struct timespec ts = { sleep_ns / NS_PER_S, sleep_ns % NS_PER_S };

	return ppoll(pfd, w->n_sources, sleep_ns < 0 ? NULL : &ts, NULL);
}

/* The worker is offline. No pause delays a queued frame. */
static void let_frames_gather(struct worker *w, int64_t sleep_ns)
{
	const struct timespec pause = { 0, MODERATION_PAUSE_NS };

	if (!w->priority.realtime || !moderation_pauses(&w->moderation, w->inputs) ||
	    (sleep_ns >= 0 && sleep_ns < MODERATION_PAUSE_NS))
		return;
	count(w, CNT_moderated, 1);
	nanosleep(&pause, NULL);
}

/* The work has ended; the worker is online. */
static void begin_idle(struct worker *w)
{
	const struct snap *s = load_acquire(&w->fwd->snap);

	w->polling.limit_us = s->busy_poll_us;
	w->idle_at = s->busy_poll_us ? mono_now() : (mono_t){ 0 };
}

static int64_t idle_us(const struct worker *w)
{
	return mono_sub_us(mono_now(), w->idle_at);
}

static bool polls(const struct worker *w)
{
	return w->idle_at.ns && idle_us(w) < min_of(w->polling.window_us, w->polling.limit_us);
}

static void end_idle(struct worker *w)
{
	if (w->idle_at.ns)
		polling_learn(&w->polling, idle_us(w));
}

static void look_at_priority(struct worker *w)
{
	int permitted = load_relaxed(&w->fwd->realtime);

	if (priority_look(&w->priority, permitted, w->now))
		count(w, CNT_prioritized, 1);
}

static void yield_cpu(struct worker *w)
{
	static const enum counter moved[] = { CNT_tap_rx_bytes, CNT_net_rx_bytes,
					      CNT_net_tx_bytes };
	uint64_t bytes = 0;

	if (!w->priority.realtime)
		return;
	for (size_t i = 0; i < array_size(moved); i++)
		bytes += load_relaxed(&w->stats.counter[moved[i]]);
	if (moderation_yields(&w->moderation, w->inputs, bytes))
		sched_yield();
}

/*
 * poll() instead of epoll, because an epoll instance stays on the wait queue of a socket while its
 * worker runs. The kernel calls the instance for each sent segment when its memory is freed (a
 * sixteenth of the time of a bulk sender). poll() is on the queue only during the sleep.
 *
 * All sources are polled before each turn, at a cost of a microsecond. A source that becomes ready
 * waits for one batch of another busy source, not for its whole backlog.
 */
void *worker_run(void *arg)
{
	struct worker *w = arg;
	struct pollfd pfd[SOURCES_MAX];
	bool ready[SOURCES_MAX] = { false };
	char name[16];

	snprintf(name, sizeof(name), "leon-worker-%u", w->index);
	prctl(PR_SET_NAME, name);
	for (unsigned i = 0; i < w->n_sources; i++)
		pfd[i] = (struct pollfd){ .fd = w->source[i].fd, .events = POLLIN };
	w->stopping = false;
	while (!w->stopping) {
		bool awake = polls(w);
		int64_t sleep_ns = look_here(w, ready);
		bool here = sleep_ns == 0;
		int n;

		if (!awake && !here)
			let_frames_gather(w, sleep_ns);
		n = wait_for_work(w, pfd, awake ? 0 : sleep_ns);
		if (n == 0 && awake && !here) {
			count(w, CNT_busy_polls, 1);
			continue;
		}
		if (n > 0 || here)
			end_idle(w);
		rcu_online(w->fwd->rcu, w->index);
		if (n > 0)
			look(w, pfd, ready);
		serve(w, ready);
		if (n == 0 && !here)
			run(w, NULL);
		if (n > 0 || here)
			begin_idle(w);
		rcu_offline(w->fwd->rcu, w->index);
		look_at_priority(w);
		yield_cpu(w);
	}
	return NULL;
}
