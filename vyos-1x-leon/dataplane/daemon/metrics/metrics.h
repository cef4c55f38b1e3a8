// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters and flows for others. Control thread.
 */
#pragma once

#include <stdint.h>

#include "base/mono.h"
#include "fwd/stats.h"

struct leond;

/* --- show_statistics.c: counters of the packet path since the last reset --- */
void counters_read(struct leond *d, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS]);
mono_t counters_since(const struct leond *d); /* the start, or the last reset */
uint64_t resident_bytes(void);

/* --- flow_export.c --- */
/* Export of flows to an IPFIX collector: the samples of workers become flows, and ended flows
 * become records with the path in use. Exists with `flow-export` only. doc/decisions/083. */

void flow_export_apply_conf(struct leond *d); /* also the start */
void flow_export_stop(struct leond *d);
