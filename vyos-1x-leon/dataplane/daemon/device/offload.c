// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel offloads. Each can be disabled, to test the behaviour on older kernels and to find a
 * faulty driver. A route that refuses an offload is reported once. Control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/device/offload.h"
#include "daemon/leond.h"

#define VARIABLE "LEON_WITHOUT"

/* Returns true if the comma-separated list contains the word. */
static bool lists(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == 0))
			return true;
	}
	return false;
}

void offload_limit(struct leond *d)
{
	const char *without = getenv(VARIABLE);
	bool tso, uso, gso, gro;

	if (!without || !*without)
		return;
	tso = !lists(without, "tso");
	uso = tso && !lists(without, "uso");
	gso = !lists(without, "udp-gso");
	gro = !lists(without, "udp-gro");
	tap_limit_offload(&d->tap, tso, uso);
	udp_limit(&d->udp, gso, gro);
	log_notice("daemon", "works without offloads " VARIABLE "=%s", without);
}

void offload_look(struct leond *d, mono_t now)
{
	uint64_t counter[N_COUNTERS], drops[N_DROPS];

	(void)now;
	if (d->gso_refused)
		return;
	fwd_stats(d->fwd, counter, drops);
	d->gso_refused = counter[CNT_gso_refused] > 0;
	if (d->gso_refused)
		log_warn("daemon", "a route refuses UDP segmentation offload (IPsec, or a driver "
				   "without checksum offload): throughput suffers");
}
