// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The worker thread: waits for its TAP queue and its sockets, and runs the steps batch by batch.
 * See worker.h.
 */
#include "fwd/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "crypto/aead.h"
#include "fwd/events.h"
#include "fwd/from_net.h"
#include "fwd/from_tap.h"

/* Batches of one kind before the others and the stop request get their turn. */
#define ROUNDS 16
/* How often incomplete frames are looked at while nothing else happens. */
#define REASM_POLL_MS 100

enum source { SOURCE_STOP, SOURCE_TAP, SOURCE_UDP4, SOURCE_UDP6, N_SOURCES };

static mono_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t){ (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec };
}

void worker_init(struct worker *w, struct fwd *f, unsigned index, const struct fwd_setup *setup)
{
	*w = (struct worker){
		.fwd = f, .index = index, .io = setup->io[index], .udp_gso = setup->udp_gso
	};
	tap_rx_init(&w->tap_rx);
	w->rx = udp_rx_new(NET_BATCH, NET_BUFFER);
	tx_init(w, setup->slots_maximum);
	/* A worker without a queue of its own writes to the first one. */
	w->deliver.fd = w->io.tap >= 0 ? w->io.tap : setup->io[0].tap;
	w->deliver.batch.tcp = setup->tap_offload;
	w->deliver.batch.udp = setup->tap_uso;
	w->reasm = reasm_new(REASM_BYTES);
	random_bytes(&w->hash_key, sizeof(w->hash_key));
	w->spare = x_calloc(NET_BUFFER, 1);
	w->told = x_calloc(setup->slots_maximum, sizeof(w->told[0]));
	w->control = ring_new(CONTROL_RING_BYTES);
	w->events = ring_new(EVENT_RING_BYTES);
	w->traffic = x_calloc(setup->slots_maximum, sizeof(w->traffic[0]));
	/* Numbers of different workers, and of this daemon and one before it, do not meet within
	 * the time that a frame may wait. */
	w->fragment_id = index << 28 | ((uint32_t)(read_clock().ns >> 10) & 0x0fffffff);
}

void worker_fini(struct worker *w)
{
	tap_rx_fini(&w->tap_rx);
	udp_rx_free(w->rx);
	tx_fini(w);
	reasm_free(w->reasm);
	free(w->told);
	free(w->spare);
	ring_free(w->control);
	ring_free(w->events);
	free(w->traffic);
}

void worker_begin(struct worker *w)
{
	worker_see_news(w);
	w->now = read_clock();
	w->now_s = (uint32_t)(w->now.ns / NS_PER_S);
	w->real_ns = 0;
	w->news = false;
}

/* Only where there is something: an idle worker writes nothing. */
static void look_after_reasm(struct worker *w)
{
	uint64_t bytes = reasm_bytes(w->reasm);

	if (reasm_waiting(w->reasm)) {
		drop_many(w, DROP_fragment_timeout, reasm_expire(w->reasm, w->now));
		bytes = reasm_bytes(w->reasm);
	}
	if (bytes != atomic_load_explicit(&w->reasm_bytes, memory_order_relaxed))
		atomic_store_explicit(&w->reasm_bytes, bytes, memory_order_relaxed);
}

void worker_end(struct worker *w)
{
	uint64_t one = 1;

	deliver_flush(w);
	bundle_flush(w);
	tx_flush(w);
	look_after_reasm(w);
	/* Can only fail where the count is at its maximum, and then the reader is awake anyway. */
	if (w->news && write(w->fwd->event_fd, &one, sizeof(one)) < 0)
		w->news = false;
}

static void drain_errors(struct worker *w, int fd)
{
	struct udp_error e;

	while (udp_error_next(fd, &e))
		if (e.error != EMSGSIZE)
			event_suspect(w, &e.to, e.error, false);
}

/* One batch of one source; true where more may wait. */
static bool run_source(struct worker *w, enum source s)
{
	bool more = false;

	worker_begin(w);
	switch (s) {
	case SOURCE_TAP:
		more = from_tap(w);
		break;
	case SOURCE_UDP4:
		more = from_net(w, w->io.udp4);
		break;
	case SOURCE_UDP6:
		more = from_net(w, w->io.udp6);
		break;
	case SOURCE_STOP:
	case N_SOURCES:
		break;
	}
	worker_end(w);
	rcu_quiescent(w->fwd->rcu, w->index);
	return more;
}

static void run_errors(struct worker *w, int fd)
{
	worker_begin(w);
	drain_errors(w, fd);
	worker_end(w);
	rcu_quiescent(w->fwd->rcu, w->index);
}

/* Serves the sources that epoll found, in turn, until none has more or the rounds are over. */
static void serve(struct worker *w, bool ready[N_SOURCES])
{
	bool again = true;

	for (unsigned round = 0; again && round < ROUNDS; round++) {
		again = false;
		for (enum source s = SOURCE_TAP; s < N_SOURCES; s++) {
			if (!ready[s])
				continue;
			ready[s] = run_source(w, s);
			again |= ready[s];
		}
	}
}

/* What poll() found: errors at once, the rest in `ready`. */
static void look(struct worker *w, struct pollfd pfd[N_SOURCES], bool ready[N_SOURCES])
{
	for (enum source s = SOURCE_STOP; s < N_SOURCES; s++) {
		ready[s] = pfd[s].revents & POLLIN;
		if (!(pfd[s].revents & (POLLERR | POLLHUP | POLLNVAL)))
			continue;
		/* The device was deleted. It stays in this state, so waiting for it would be a busy
		 * loop; the control thread hears of it through netlink. */
		if (s == SOURCE_TAP)
			pfd[s].fd = -1;
		else
			run_errors(w, pfd[s].fd);
	}
}

static int sleep_ms(const struct worker *w)
{
	return reasm_waiting(w->reasm) ? REASM_POLL_MS : -1;
}

/* There was work: until when more is waited for without sleep, which takes the system tens of
 * microseconds to end. The worker is online. */
static mono_t stay_awake(struct worker *w)
{
	const struct snap *s = atomic_load_explicit(&w->fwd->snap, memory_order_acquire);

	return s->busy_poll_us ? mono_add_ns(read_clock(), (int64_t)s->busy_poll_us * NS_PER_US)
			       : (mono_t){ 0 };
}

static bool is_before(mono_t t)
{
	return t.ns && read_clock().ns < t.ns;
}

/*
 * poll() and not epoll: an epoll instance stays on the wait queue of a socket while its worker
 * runs, so that the kernel would call it for each segment sent whose memory it frees (a sixteenth
 * of the time of a bulk sender); poll() is on it only while the worker sleeps.
 */
void *worker_run(void *arg)
{
	struct worker *w = arg;
	struct pollfd pfd[N_SOURCES] = { { .fd = w->fwd->stop_fd, .events = POLLIN },
					 { .fd = w->io.tap, .events = POLLIN },
					 { .fd = w->io.udp4, .events = POLLIN },
					 { .fd = w->io.udp6, .events = POLLIN } };
	mono_t awake_until = { 0 };
	bool stop = false;
	char name[16];

	snprintf(name, sizeof(name), "leon-worker-%u", w->index);
	prctl(PR_SET_NAME, name);
	while (!stop) {
		bool ready[N_SOURCES] = { false }, awake = is_before(awake_until);
		int n = poll(pfd, N_SOURCES, awake ? 0 : sleep_ms(w));

		if (n == 0 && awake) {
			count(w, CNT_busy_polls, 1);
			continue;
		}
		rcu_online(w->fwd->rcu, w->index);
		if (n > 0)
			look(w, pfd, ready);
		stop = ready[SOURCE_STOP];
		serve(w, ready);
		if (n == 0)
			run_source(w, SOURCE_STOP); /* time passes for what waits */
		awake_until = n > 0 ? stay_awake(w) : (mono_t){ 0 };
		rcu_offline(w->fwd->rcu, w->index);
	}
	return NULL;
}
