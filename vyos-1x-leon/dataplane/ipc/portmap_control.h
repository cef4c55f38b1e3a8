// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The messages between leond and leon-portmap, the program that requests a port mapping of the
 * gateway. One SOCK_SEQPACKET socket, to which ipc/stream_control.h sends, and one structure in
 * each message. Control thread of leond, main thread of leon-portmap. doc/decisions/076.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

#define PORTMAP_PROTOCOL     1
#define PORTMAP_REASON_LEN   160
#define PORTMAP_LIFETIME_MAX 86400u
#define NATPMP_PORT_NUMBER   5351

enum portmap_order {
	PORTMAP_SETUP,	/* passes a UDP socket, connected to NAT-PMP of the gateway */
	PORTMAP_REMOVE, /* removes the mapping, and ends */
};
struct portmap_command {
	uint32_t protocol; /* PORTMAP_PROTOCOL */
	uint32_t order;
	uint32_t number;	/* SETUP: reports state it */
	uint32_t lifetime_s;	/* requested */
	struct ip_addr gateway; /* IPv4 */
	struct ip_addr source;	/* IPv4, source address of leond */
	uint16_t port;		/* UDP port of leond */
	uint16_t external_port; /* requested; may be refused */
};

enum portmap_method { PORTMAP_NONE, PORTMAP_NATPMP, PORTMAP_UPNP };
enum portmap_news {
	PORTMAP_MAPPED, /* new or renewed */
	PORTMAP_FAILED, /* the attempt failed; an earlier mapping lasts for its lifetime */
	PORTMAP_GONE,	/* the gateway refuses, and has no mapping of this node */
};
struct portmap_report {
	uint32_t protocol;
	uint32_t number;
	uint32_t news;
	uint32_t method;		 /* of MAPPED */
	uint32_t lifetime_s;		 /* of MAPPED: granted */
	struct endpoint external;	 /* of MAPPED, IPv4 */
	char reason[PORTMAP_REASON_LEN]; /* of FAILED and GONE */
};

/* Makes a report of leon-portmap safe to use. The program reads bytes of strangers, so leond
 * believes nothing: numbers out of range are refused, and the reason becomes printable ASCII.
 * Returns false if the report is invalid. */
bool portmap_report_check(struct portmap_report *r);
/* "nat-pmp", "upnp"; NULL without a method. */
const char *portmap_method_name(uint32_t method);
