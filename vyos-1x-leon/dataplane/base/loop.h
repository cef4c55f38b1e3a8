// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The event loop of the control thread: clock, timers, file descriptors, signals. Two
 * implementations of one interface: loop_sd.c on sd-event (production, timer accuracy 1 us) and
 * loop_sim.c on virtual time (tests). In tests, no descriptors exist, and time jumps to the next
 * timer. Owned by the daemon (or the test); all calls on the control thread; callbacks run there
 * too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mono.h"

struct loop;
struct timer;

typedef void (*timer_fn)(void *arg, mono_t now);
typedef void (*loop_fd_fn)(void *arg, int fd, uint32_t epoll_events);
typedef void (*loop_signal_fn)(void *arg, int signo);

/* Production loop; NULL and errno on failure. */
struct loop *loop_sd_new(void);
/* Virtual-time loop that starts at 1 s. */
struct loop *loop_sim_new(void);
void loop_free(struct loop *l); /* NULL ok; all timers must have been freed before */

/* Time of this iteration: read once per wake-up in production. */
mono_t loop_now(struct loop *l);

/* A new timer is disarmed. Its own callback may call timer_set(). Setting an armed timer replaces
 * its time. */
struct timer *timer_new(struct loop *l, timer_fn fn, void *arg);
void timer_set(struct timer *t, mono_t at);
void timer_stop(struct timer *t);
bool timer_is_set(const struct timer *t);
void timer_free(struct timer *t); /* NULL ok */

/* Production only (the sim returns -ENOTSUP). events: EPOLLIN | EPOLLOUT. */
int loop_fd_add(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg);
int loop_fd_mod(struct loop *l, int fd, uint32_t events);
void loop_fd_del(struct loop *l, int fd);
/* Blocks the signal in this thread and delivers it as an event. Call before threads start. */
int loop_signal_add(struct loop *l, int signo, loop_signal_fn fn, void *arg);

/* Production: runs until loop_quit(). Sends sd_notify(WATCHDOG=1) if the unit has WatchdogSec=. */
int loop_run(struct loop *l);
void loop_quit(struct loop *l, int code);
/* Sends sd_notify(3) text such as "READY=1\nSTATUS=..."; does nothing in the sim. */
void loop_notify(struct loop *l, const char *state);

/* Sim: runs all timers due up to and including `until`, ordered by time, then by arming. */
void loop_sim_run_until(struct loop *l, mono_t until);
