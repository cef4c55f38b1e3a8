// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters of the packet path for show commands. Workers own the counters, so a reset stores the
 * values and later subtracts the stored values. Control thread.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/answer/answer.h"
#include "daemon/metrics/metrics.h"
#include "daemon/states.h"
#include "fwd/fwd.h"

/* Values at the last reset. */
struct counters_reset {
	uint64_t counter[N_COUNTERS], drop[N_DROPS];
	mono_t at;
};

void counters_read(struct leond *d, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS])
{
	const struct counters_reset *r = d->states->counters_reset;

	fwd_stats(d->fwd, counter, drop);
	for (unsigned i = 0; r && i < N_COUNTERS; i++)
		counter[i] -= r->counter[i];
	for (unsigned i = 0; r && i < N_DROPS; i++)
		drop[i] -= r->drop[i];
}

mono_t counters_since(const struct leond *d)
{
	return d->states->counters_reset ? d->states->counters_reset->at : d->started;
}

void counters_free(struct leond *d)
{
	x_free(d->states->counters_reset);
}

uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long size, resident = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

enum command_result reset_statistics(struct command *c)
{
	struct counters_reset *r = c->d->states->counters_reset;

	if (!r)
		r = c->d->states->counters_reset = x_new(struct counters_reset);
	fwd_stats(c->d->fwd, r->counter, r->drop);
	r->at = c->now;
	return CMD_DONE;
}
