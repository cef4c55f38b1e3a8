// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations of both event loops; private to base/. Each embeds struct loop and struct timer as the
 * first member of its own structures.
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
