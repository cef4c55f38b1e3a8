// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The production loop on sd-event, the only user of libsystemd. Owns the sd_event object and one
 * source per timer, descriptor and signal. Control thread. Timers use an accuracy of 1 us, because
 * sd-event otherwise coalesces wake-ups within 250 ms.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "defs.h"
#include "log.h"
#include "loop_ops.h"
#include "mem.h"

#define ACCURACY_US 1

struct sd_timer {
	struct timer timer;
	sd_event_source *source;
};

struct fd_watch {
	sd_event_source *source;
	loop_fd_fn fn;
	void *arg;
};

struct signal_watch {
	struct signal_watch *next;
	sd_event_source *source;
	loop_signal_fn fn;
	void *arg;
};

struct sd_loop {
	struct loop loop;
	sd_event *event;
	struct fd_watch **fds; /* indexed by descriptor */
	uint32_t n_fds;
	struct signal_watch *signals;
	bool quit;
	int exit_code;
};

static struct sd_loop *sd_of(struct loop *l)
{
	return container_of(l, struct sd_loop, loop);
}

static void sd_loop_free(struct loop *l)
{
	struct sd_loop *s = sd_of(l);

	for (size_t i = 0; i < s->n_fds; i++) {
		if (s->fds[i])
			sd_event_source_disable_unref(s->fds[i]->source);
		free(s->fds[i]);
	}
	free(s->fds);
	while (s->signals) {
		struct signal_watch *w = s->signals;

		s->signals = w->next;
		sd_event_source_disable_unref(w->source);
		free(w);
	}
	sd_event_unref(s->event);
	free(s);
}

static mono_t sd_loop_now(struct loop *l)
{
	uint64_t us = 0;

	if (sd_event_now(sd_of(l)->event, CLOCK_MONOTONIC, &us) < 0)
		bug("no monotonic clock");
	return (mono_t){ (int64_t)us * NS_PER_US };
}

static int on_timer(sd_event_source *source, uint64_t us, void *userdata)
{
	struct sd_timer *t = userdata;

	(void)source;
	(void)us;
	/* The callback may free the timer. */
	t->timer.fn(t->timer.arg, sd_loop_now(t->timer.loop));
	return 0;
}

static struct timer *sd_timer_new(struct loop *l)
{
	struct sd_timer *t = x_new(struct sd_timer);
	int r = sd_event_add_time(sd_of(l)->event, &t->source, CLOCK_MONOTONIC, UINT64_MAX,
				  ACCURACY_US, on_timer, t);

	if (r >= 0)
		r = sd_event_source_set_enabled(t->source, SD_EVENT_OFF);
	if (r < 0)
		bug("timer cannot be created (errno=%d)", -r);
	return &t->timer;
}

static struct sd_timer *sd_timer_of(struct timer *t)
{
	return container_of(t, struct sd_timer, timer);
}

static void sd_timer_set(struct timer *timer, mono_t at)
{
	struct sd_timer *t = sd_timer_of(timer);
	int64_t ns = at.ns > 0 ? at.ns : 1;
	/* Rounds up, because a timer must not run early. */
	uint64_t us = (uint64_t)((ns - 1) / NS_PER_US + 1);

	if (sd_event_source_set_time(t->source, us) < 0 ||
	    sd_event_source_set_enabled(t->source, SD_EVENT_ONESHOT) < 0)
		bug("timer cannot be armed");
}

static void sd_timer_stop(struct timer *timer)
{
	sd_event_source_set_enabled(sd_timer_of(timer)->source, SD_EVENT_OFF);
}

static bool sd_timer_is_set(const struct timer *timer)
{
	const struct sd_timer *t = container_of(timer, const struct sd_timer, timer);

	return sd_event_source_get_enabled(t->source, NULL) > 0;
}

static void sd_timer_free(struct timer *timer)
{
	struct sd_timer *t = sd_timer_of(timer);

	sd_event_source_disable_unref(t->source);
	free(t);
}

static int on_fd(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct fd_watch *w = userdata;

	(void)source;
	/* The callback may remove the watch. */
	w->fn(w->arg, fd, events);
	return 0;
}

static struct fd_watch *find_fd(struct sd_loop *s, int fd)
{
	return fd >= 0 && (size_t)fd < s->n_fds ? s->fds[fd] : NULL;
}

static int sd_fd_add(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg)
{
	struct sd_loop *s = sd_of(l);
	struct fd_watch *w;
	int r;

	if (fd < 0)
		return -EBADF;
	if (find_fd(s, fd))
		return -EEXIST;
	w = x_new(struct fd_watch);
	w->fn = fn;
	w->arg = arg;
	r = sd_event_add_io(s->event, &w->source, fd, events, on_fd, w);
	if (r < 0) {
		free(w);
		return r;
	}
	s->fds = x_grow(s->fds, &s->n_fds, (size_t)fd + 1, sizeof(struct fd_watch *));
	s->fds[fd] = w;
	return 0;
}

static int sd_fd_mod(struct loop *l, int fd, uint32_t events)
{
	struct fd_watch *w = find_fd(sd_of(l), fd);
	int r;

	if (!w)
		return -ENOENT;
	r = sd_event_source_set_io_events(w->source, events);
	return r < 0 ? r : 0;
}

static void sd_fd_del(struct loop *l, int fd)
{
	struct sd_loop *s = sd_of(l);
	struct fd_watch *w = find_fd(s, fd);

	if (!w)
		return;
	s->fds[fd] = NULL;
	sd_event_source_disable_unref(w->source);
	free(w);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct signal_watch *w = userdata;

	(void)info;
	w->fn(w->arg, sd_event_source_get_signal(source));
	return 0;
}

static int sd_signal_add(struct loop *l, int signo, loop_signal_fn fn, void *arg)
{
	struct sd_loop *s = sd_of(l);
	struct signal_watch *w;
	sigset_t set;
	int r;

	sigemptyset(&set);
	if (sigaddset(&set, signo) < 0)
		return -EINVAL;
	r = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (r)
		return -r;
	w = x_new(struct signal_watch);
	w->fn = fn;
	w->arg = arg;
	r = sd_event_add_signal(s->event, &w->source, signo, on_signal, w);
	if (r < 0) {
		free(w);
		return r;
	}
	w->next = s->signals;
	s->signals = w;
	return 0;
}

static int sd_run(struct loop *l)
{
	struct sd_loop *s = sd_of(l);
	/* The watchdog is enabled only here. sd-event notifies systemd at once and systemd then
	 * expects regular notifications, which a slow start would miss. */
	int watchdog = sd_event_set_watchdog(s->event, true);

	if (watchdog < 0)
		return watchdog;
	/* sd_event_loop() cannot run a second time. */
	while (!s->quit) {
		int r = sd_event_run(s->event, UINT64_MAX);

		if (r < 0 && r != -EINTR)
			return r;
	}
	s->quit = false;
	return s->exit_code;
}

static void sd_quit(struct loop *l, int code)
{
	struct sd_loop *s = sd_of(l);

	s->quit = true;
	s->exit_code = code;
}

static void sd_notify_state(struct loop *l, const char *state)
{
	(void)l;
	/* An error means that systemd is absent; the notification has no receiver. */
	(void)sd_notify(0, state);
}

static const struct loop_ops sd_ops = {
	.free = sd_loop_free,
	.now = sd_loop_now,
	.timer_new = sd_timer_new,
	.timer_set = sd_timer_set,
	.timer_stop = sd_timer_stop,
	.timer_is_set = sd_timer_is_set,
	.timer_free = sd_timer_free,
	.fd_add = sd_fd_add,
	.fd_mod = sd_fd_mod,
	.fd_del = sd_fd_del,
	.signal_add = sd_signal_add,
	.run = sd_run,
	.quit = sd_quit,
	.notify = sd_notify_state,
};

struct loop *loop_sd_new(void)
{
	struct sd_loop *s = x_new(struct sd_loop);
	int r = sd_event_new(&s->event);

	s->loop.ops = &sd_ops;
	if (r < 0) {
		sd_loop_free(&s->loop);
		errno = -r;
		return NULL;
	}
	return &s->loop;
}
