// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times of the attempts to map a port: NAT-PMP first, then UPnP. A check after half of the granted
 * lifetime, at most a minute; further attempts after failures. No clock and no I/O: the methods and
 * the time are parameters. Main thread.
 */
#pragma once

#include "base/mono.h"
#include "ipc/portmap_control.h"
#include "mapping.h"

struct mapper {
	/* Set at first, all others zero: in order, NULL at the end. */
	const struct mapping_method *const *methods;
	struct mapping_request request;
	const struct mapping_method *method; /* NULL: no mapping */
	mono_t next_at, renew_at, expires_at;
	int64_t wait_ms; /* after a failure */
};

/* Begins with a request. A mapping of an earlier request at the same gateway is kept. */
void mapper_request(struct mapper *m, const struct mapping_request *q, mono_t now);
/* Makes an attempt, if it is due. Returns true and a report for leond. */
bool mapper_run(struct mapper *m, mono_t now, struct portmap_report *out);
void mapper_remove(struct mapper *m);
