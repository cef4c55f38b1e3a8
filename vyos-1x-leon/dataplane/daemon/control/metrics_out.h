// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How `metrics` writes a sample, for the files that have some. Control thread.
 */
#pragma once

#include <stdio.h>

#include "daemon/leond.h"

struct out {
	FILE *f;
	struct leond *d;
	mono_t now;
};

void put_head(struct out *o, const char *name, const char *type, const char *help);
/* Begins a sample with the interface label; labels follow; put_u64() or put_seconds() ends it. */
void put_sample(struct out *o, const char *name);
void put_label(struct out *o, const char *key, const char *value);
void put_u64(struct out *o, uint64_t value);
void put_seconds(struct out *o, uint64_t us);
/* A metric that has one sample. */
void put_gauge(struct out *o, const char *name, const char *help, uint64_t value);
void put_counter(struct out *o, const char *name, const char *help, uint64_t value);
/* Begins a sample of another member. */
void put_node_sample(struct out *o, const char *name, const struct node *n);

/* metrics_queues.c: what waits before the overlay, and the rates that it waits for. */
void put_queues(struct out *o);
void put_next_hop_queues(struct out *o);
