// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The complete engine of leon-accel without the network of the kernel: one other node, and one host
 * on each side. Socket pairs replace the TAPs, the proxy sockets and the inter-proxy connection.
 * Time is virtual. The linker redirects the calls in accel_wraps of tests/fuzz/meson.build to this
 * lab. One lab at a time, one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "wire/accel.h"

#define ACCEL_LAB_SELF	2u /* leader towards node 3, follower of node 1 */
#define ACCEL_LAB_VLAN	20u
#define ACCEL_LAB_PROXY 16u /* proxy sockets at one time */

struct accel_lab {
	struct engine e;
	struct loop *loop;
	mono_t now;
	node_id_t peer;
	int queue;		    /* leond's end of the queue; -1: closed */
	int interproxy;		    /* the peer's end of the inter-proxy connection; -1: none */
	int beside_listener;	    /* the other end of the listener; -1: none */
	int host[ACCEL_LAB_PROXY];  /* the near host's end of each proxy socket; -1: none */
	int proxy[ACCEL_LAB_PROXY]; /* the engine's end of each proxy socket */
	uint32_t unacknowledged;    /* reported by proxy sockets */
};

void accel_lab_begin(struct accel_lab *l, node_id_t peer, const struct accel_settings *s);
/* Ends all connections by force, checks that nothing is left and frees the engine. */
void accel_lab_end(struct accel_lab *l);
/* Handles the descriptors that are ready, then the timers of the next ms. */
void accel_lab_run(struct accel_lab *l, int64_t ms);
/* Reports the peer as leond does. */
void accel_lab_node(struct accel_lab *l, uint32_t rtt_us, uint16_t room, bool bypassed);
/* Opens the inter-proxy connection if there is none, without a HELLO of the peer. */
void accel_lab_connect(struct accel_lab *l);
/* Discards the bytes from the engine to leond and to the peer. */
void accel_lab_drain(struct accel_lab *l);
/* The connection between the two hosts as the peer sees it. */
struct accel_key accel_lab_key(void);
