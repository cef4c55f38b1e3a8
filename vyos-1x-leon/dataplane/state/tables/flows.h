// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Table of the flows of sampled frames, in fixed memory. A flow ends after a pause, after the
 * active timeout, or if a new flow needs its place in a full table. The caller exports each ended
 * flow, so no sample is lost. Pure; control thread.
 */
#pragma once

#include "base/mono.h"
#include "base/siphash.h"
#include "wire/ipfix.h"

#define FLOWS_MAX	8192
#define FLOWS_ACTIVE_MS 60000
#define FLOWS_IDLE_MS	15000
/* Calls of flows_expire() that look at the whole table. */
#define FLOWS_TURNS 10

struct flows;
typedef void (*flow_ended_fn)(void *arg, const struct sampled_flow *f, enum flow_end why);

struct flows *flows_new(const struct hash_key *key, flow_ended_fn fn, void *arg);
void flows_free(struct flows *t); /* NULL ok; ends no flow */
/* Adds a sample to its flow. */
void flows_add(struct flows *t, const struct sampled_flow *sample);
/* Ends flows whose time is up, in the next part of the table. */
void flows_expire(struct flows *t, mono_t now);
/* Ends all flows. */
void flows_end_all(struct flows *t);
