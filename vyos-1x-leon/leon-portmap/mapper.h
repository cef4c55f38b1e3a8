// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times of the attempts to map a port: NAT-PMP first, then UPnP. A check after half of the granted
 * lifetime, at most a minute; further attempts after failures. No clock and no I/O: the methods and
 * the time are parameters. Main thread.
 */
#pragma once

#include <stdbool.h>

#include "base/addr.h"
#include "base/mono.h"
#include "ipc/portmap_control.h"

/* --- mapping.c ---
 * One attempt of a protocol to map the UDP port of leond at the gateway. Main thread; the functions
 * block for at most a few seconds.
 */

struct mapping_request {
	int natpmp; /* UDP socket, connected to NAT-PMP of the gateway */
	struct portmap_command c;
	bool renew; /* false: an existing mapping with the external port suffices */
};

enum mapping_result {
	MAPPING_OK,
	MAPPING_SILENT,	 /* no answer, or no valid answer */
	MAPPING_REFUSED, /* the gateway answers, and maps nothing */
};

struct mapping_answer {
	struct endpoint external;
	uint32_t lifetime_s;
	char reason[64]; /* unless MAPPING_OK */
};

struct mapping_method {
	const char *name;
	uint32_t number; /* enum portmap_method */
	enum mapping_result (*map)(const struct mapping_request *q, struct mapping_answer *a);
	void (*unmap)(const struct mapping_request *q);
};
extern const struct mapping_method natpmp_method, upnp_method;

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
