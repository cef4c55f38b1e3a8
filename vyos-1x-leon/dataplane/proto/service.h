// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Services without knowledge of the protocol: time, random numbers, events, alarms.
 * Called by every floor; control thread.
 */
#pragma once

#include "base/loop.h"
#include "proto/core.h"

mono_t overlay_now(const struct overlay *o);
/* Returns the current time if the host provides it, else the time of the loop iteration. */
mono_t overlay_clock(const struct overlay *o);
uint64_t overlay_random(struct overlay *o);
/* now plus a uniform random time of lo..hi ms */
mono_t overlay_in(struct overlay *o, int64_t lo_ms, int64_t hi_ms);
/* Scales the interval of periodic work with the number of members. */
int64_t overlay_stretch(const struct overlay *o, int64_t ms);
/* Scales the interval of PINGs with the number of links or paths that miss answers: all share the
 * PINGs of 16. If many miss some, the line or the machine is at fault, and more PINGs would add to
 * its load. */
int64_t overlay_spread(int64_t ms, uint32_t n_missing);
void overlay_emit(struct overlay *o, enum event_kind kind, node_id_t node, node_id_t other,
		  uint64_t value, const char *detail);
/* Returns true at most once a minute, for events that a remote host can cause. */
bool overlay_once_a_minute(const struct overlay *o, struct bucket *b);
/* Counts an event that an earlier run of a node explains once or twice. Returns true for the fourth
 * and later ones of a minute, which indicate a duplicate node-id. */
bool overlay_many_a_minute(const struct overlay *o, struct minute_count *c);
/* Counters of the data to and from a node; zero if the host has no data. */
struct overlay_traffic overlay_traffic_of(const struct overlay *o, uint16_t slot);

mono_t earlier(mono_t a, mono_t b); /* never is later than any time */
void alarm_init(struct overlay *o, struct alarm *a, timer_fn fn, void *arg);
void alarm_set(struct alarm *a, mono_t at); /* never: stops the alarm */
void alarm_sooner(struct alarm *a, mono_t at);
void alarm_free(struct alarm *a);
