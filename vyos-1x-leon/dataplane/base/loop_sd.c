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
	loop_signal_fn fn;
	void *arg;
};

struct sd_loop {
	struct loop loop;
	sd_event *event;
	struct fd_watch **fds; /* indexed by descriptor */
	uint32_t n_fds;
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

static int on_timer(sd_event_source *source attr_unused, uint64_t us attr_unused, void *userdata)
{
	struct sd_timer *t = userdata;

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

static int on_fd(sd_event_source *source attr_unused, int fd, uint32_t events, void *userdata)
{
	struct fd_watch *w = userdata;

	/* The callback may remove the watch. */
	w->fn(w->arg, fd, events);
	return 0;
}

static const struct loop_ops sd_ops = {
	.free = sd_loop_free,
	.now = sd_loop_now,
	.timer_new = sd_timer_new,
	.timer_set = sd_timer_set,
	.timer_stop = sd_timer_stop,
	.timer_is_set = sd_timer_is_set,
	.timer_free = sd_timer_free,
};

static bool is_sd(const struct loop *l)
{
	return l->ops == &sd_ops;
}

static struct fd_watch *find_fd(struct loop *l, int fd)
{
	struct sd_loop *s = sd_of(l);

	return is_sd(l) && fd >= 0 && (size_t)fd < s->n_fds ? s->fds[fd] : NULL;
}

int loop_fd_add(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg)
{
	struct sd_loop *s = sd_of(l);
	struct fd_watch *w;
	int r;

	if (!is_sd(l))
		return -ENOTSUP;
	if (fd < 0)
		return -EBADF;
	if (find_fd(l, fd))
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

int loop_fd_mod(struct loop *l, int fd, uint32_t events)
{
	struct fd_watch *w = find_fd(l, fd);
	int r;

	if (!w)
		return is_sd(l) ? -ENOENT : -ENOTSUP;
	r = sd_event_source_set_io_events(w->source, events);
	return r < 0 ? r : 0;
}

void loop_fd_del(struct loop *l, int fd)
{
	struct fd_watch *w = find_fd(l, fd);

	if (!w)
		return;
	sd_of(l)->fds[fd] = NULL;
	sd_event_source_disable_unref(w->source);
	free(w);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info attr_unused,
		     void *userdata)
{
	struct signal_watch *w = userdata;

	w->fn(w->arg, sd_event_source_get_signal(source));
	return 0;
}

int loop_signal_add(struct loop *l, int signo, loop_signal_fn fn, void *arg)
{
	sd_event_source *source;
	struct signal_watch *w;
	sigset_t set;
	int r;

	if (!is_sd(l))
		return -ENOTSUP;
	sigemptyset(&set);
	if (sigaddset(&set, signo) < 0)
		return -EINVAL;
	r = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (r)
		return -r;
	w = x_new(struct signal_watch);
	w->fn = fn;
	w->arg = arg;
	r = sd_event_add_signal(sd_of(l)->event, &source, signo, on_signal, w);
	if (r < 0) {
		free(w);
		return r;
	}
	/* The loop owns the source, and the source owns the watch. */
	sd_event_source_set_destroy_callback(source, free);
	sd_event_source_set_floating(source, true);
	sd_event_source_unref(source);
	return 0;
}

int loop_run(struct loop *l)
{
	struct sd_loop *s = sd_of(l);
	int watchdog;

	if (!is_sd(l))
		return -ENOTSUP;
	/* The watchdog is enabled only here. sd-event notifies systemd at once and systemd then
	 * expects regular notifications, which a slow start would miss. */
	watchdog = sd_event_set_watchdog(s->event, true);
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

void loop_quit(struct loop *l, int code)
{
	struct sd_loop *s = sd_of(l);

	if (!is_sd(l))
		return;
	s->quit = true;
	s->exit_code = code;
}

void loop_notify(struct loop *l, const char *state)
{
	/* An error means that systemd is absent; the notification has no receiver. */
	if (is_sd(l))
		(void)sd_notify(0, state);
}

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
