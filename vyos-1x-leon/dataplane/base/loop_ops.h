// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations of an event-loop implementation; private to base/. Each implementation embeds struct
 * loop and struct timer as the first member of its own structures. For an operation that is NULL,
 * loop.c returns -ENOTSUP or does nothing.
 */
#pragma once

#include "loop.h"

struct loop_ops {
	void (*free)(struct loop *l);
	mono_t (*now)(struct loop *l);
	struct timer *(*timer_new)(struct loop *l); /* fn and arg are set by loop.c */
	void (*timer_set)(struct timer *t, mono_t at);
	void (*timer_stop)(struct timer *t);
	bool (*timer_is_set)(const struct timer *t);
	void (*timer_free)(struct timer *t);
	int (*fd_add)(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg);
	int (*fd_mod)(struct loop *l, int fd, uint32_t events);
	void (*fd_del)(struct loop *l, int fd);
	int (*signal_add)(struct loop *l, int signo, loop_signal_fn fn, void *arg);
	int (*run)(struct loop *l);
	void (*quit)(struct loop *l, int code);
	void (*notify)(struct loop *l, const char *state);
};

struct loop {
	const struct loop_ops *ops;
	unsigned n_timers; /* timers that exist, armed or not */
};

struct timer {
	struct loop *loop;
	timer_fn fn;
	void *arg;
};
