// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters of the packet path as the control thread sees them. Workers own their counters, so a
 * reset remembers where they stood and subtracts. Control thread.
 */
#include <stdio.h>
#include <unistd.h>

#include "daemon/control/command.h"
#include "daemon/control/counters.h"
#include "daemon/leond.h"

void counters_read(struct leond *d, uint64_t counter[N_COUNTERS], uint64_t drop[N_DROPS])
{
	fwd_stats(d->fwd, counter, drop);
	for (unsigned i = 0; i < N_COUNTERS; i++)
		counter[i] -= d->counter_base[i];
	for (unsigned i = 0; i < N_DROPS; i++)
		drop[i] -= d->drop_base[i];
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
	fwd_stats(c->d->fwd, c->d->counter_base, c->d->drop_base);
	c->d->statistics_since = c->now;
	return CMD_DONE;
}
