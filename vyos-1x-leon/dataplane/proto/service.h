// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What all of proto/ stands on and what knows none of it: time, chance, events, token buckets,
 * alarms. Called by every floor; control thread.
 */
#pragma once

#include "proto/core.h"

mono_t overlay_now(const struct overlay *o);
/* The time at this very instant where the host offers it, else that of the loop's iteration. */
mono_t overlay_clock(const struct overlay *o);
uint64_t overlay_random(struct overlay *o);
/* now + lo .. hi ms, uniformly */
mono_t overlay_in(struct overlay *o, int64_t lo_ms, int64_t hi_ms);
/* Periodic work slows down in proportion where there are many members. */
int64_t overlay_stretch(const struct overlay *o, int64_t ms);
void overlay_emit(struct overlay *o, enum event_kind kind, node_id_t node, node_id_t other,
		  uint64_t value, const char *detail);
bool bucket_pass(struct bucket *b, mono_t now, int64_t cost_ns, int64_t burst_ns);
mono_t earlier(mono_t a, mono_t b); /* never is later than anything */
void alarm_init(struct overlay *o, struct alarm *a, timer_fn fn, void *arg);
void alarm_set(struct alarm *a, mono_t at); /* never: stops */
void alarm_sooner(struct alarm *a, mono_t at);
void alarm_free(struct alarm *a);
