// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One attempt of a protocol to map the UDP port of leond at the gateway. Main thread; the functions
 * block for at most a few seconds.
 */
#pragma once

#include <stdbool.h>

#include "base/addr.h"

struct mapping_request {
	int natpmp; /* UDP socket, connected to NAT-PMP of the gateway */
	struct ip_addr gateway, source;
	uint16_t port;
	uint16_t external_port; /* requested */
	uint32_t lifetime_s;
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
