// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output of metric samples for all files with metrics. Control thread.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/mono.h"

struct node;

struct out {
	FILE *f;
	struct leond *d;
	const struct conf *conf;
	struct overlay *overlay;
	mono_t now;
};

void put_head(struct out *o, const char *name, const char *type, const char *help);
/* Begins a sample with the interface label. Labels follow; put_u64() or put_seconds() ends the
 * sample. */
void put_sample(struct out *o, const char *name);
void put_label(struct out *o, const char *key, const char *value);
void put_u64(struct out *o, uint64_t value);
void put_seconds(struct out *o, uint64_t us);
/* Units of the values in metrics.def. Negative values are printed as 0. */
enum unit { COUNT, MICROSECONDS, PER_MILLE, KBITS };
void put_value(struct out *o, enum unit unit, int64_t value);
/* Writes a sample with one label. */
void put_labelled(struct out *o, const char *name, const char *key, const char *label,
		  uint64_t value);
/* Writes a metric with a single sample. */
void put_metric(struct out *o, const char *name, const char *type, enum unit unit, const char *help,
		uint64_t value);
/* Begins a sample of another member. */
void put_node_sample(struct out *o, const char *name, const struct node *n);
/* The part of put_node_sample() that all metrics of the member share. */
void put_node_labels(struct out *o, const struct node *n);

/* metrics_table.c: the groups of metrics.def. */
enum metric_group { METRICS_ONE, METRICS_NODE, METRICS_NODE_ACCEL, METRICS_PAIR };
void put_ones(struct out *o);
/* METRICS_NODE or METRICS_NODE_ACCEL. */
void put_nodes(struct out *o, enum metric_group group);
void put_pairs(struct out *o);
