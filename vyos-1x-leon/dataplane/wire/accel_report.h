// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What leon-accel tells leond of its connections, and what leond asks it, at the socket of
 * accel_queue.h beside the messages there: totals and nodes by itself once a second, connections a
 * page at a time when they are asked for. Every message has a fixed size or a bound. Pure encode
 * and decode; control thread, leon-accel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

/* Apart from enum accel_say, which shares the socket. */
enum accel_report_what {
	ACCEL_REPORT_TOTALS = 32,
	ACCEL_REPORT_NODE, /* of one node, where something changed */
	ACCEL_REPORT_PAGE, /* the answer to ASK_PAGE */
	ACCEL_ASK_PAGE,	   /* leond: connections behind this one */
	ACCEL_ASK_RETURN,  /* leond: give all connections back */
	ACCEL_REPORT_END,
};

#define ACCEL_PAGE_CONNS 64
#define ACCEL_CONN_LEN	 111
#define ACCEL_REPORT_MAX (7 + ACCEL_PAGE_CONNS * ACCEL_CONN_LEN)

enum accel_conn_state {
	ACCEL_CONN_PLAIN,
	ACCEL_CONN_DRAINING,
	ACCEL_CONN_TAKEN,
	ACCEL_CONN_RETURNING,
	ACCEL_CONN_CLOSED,
	ACCEL_CONN_STATES,
};

/* Why one that is to be taken is not. */
enum accel_why {
	ACCEL_WHY_NONE,
	ACCEL_WHY_FAST,	 /* it is as fast as it would be */
	ACCEL_WHY_UNFIT, /* it cannot be: MPTCP and the like, clocks */
	ACCEL_WHY_FULL,	 /* the maximum of connections is */
	ACCEL_WHY_LATER, /* a try failed, or it was just given back */
	ACCEL_WHY_CALM,	 /* it was given back since it brings little, and still does */
	ACCEL_WHYS,
};

/* Of one direction or both: bytes of hosts, and the same as the carrier had them. */
struct accel_bytes {
	uint64_t out, in, carried_out, carried_in;
};

/* What it is worth, see leon-accel/saving.h. */
struct accel_time {
	uint64_t with_ms, without_ms;
};

struct accel_totals {
	uint32_t followed, taken_now;
	uint32_t fast; /* of those that are followed, not taken since they would not gain */
	uint64_t held; /* bytes of frames that wait */
	uint64_t taken, returned, reset, refused;
	uint64_t queue_full, held_dropped;
	struct accel_bytes bytes;
	struct accel_time time;
};

struct accel_node {
	node_id_t id;
	bool reached; /* the carrier is up */
	uint32_t taken_now;
	uint64_t taken, returned, reset, refused;
};

struct accel_conn {
	uint64_t serial; /* grows from one connection to the next */
	uint16_t vlan;
	struct ip_addr near, far;
	uint16_t near_port, far_port;
	node_id_t node;
	uint8_t state; /* enum accel_conn_state */
	uint32_t since_ms, held;
	uint16_t times; /* taken so often */
	uint8_t why;	/* enum accel_why */
	struct accel_bytes bytes;
	struct accel_time time;
};

struct accel_page {
	uint32_t ask; /* that of the question */
	bool more;    /* connections behind the last of these */
	uint8_t n;
	struct accel_conn conn[ACCEL_PAGE_CONNS];
};

struct accel_report {
	uint8_t what;
	union {
		struct accel_totals totals;
		struct accel_node node;
		struct accel_page page;
		struct {
			uint32_t ask;
			uint64_t behind; /* serial; 0: from the first */
		} ask;
	};
};

/* The length written. */
size_t accel_report_encode(const struct accel_report *r, uint8_t out[ACCEL_REPORT_MAX]);
/* 0 or -EBADMSG. */
int accel_report_decode(const void *data, size_t len, struct accel_report *r);
