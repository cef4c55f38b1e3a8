// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two nodes with a session on virtual time, and two more addresses, for fuzz targets. NEW knows the
 * secret but has no session, STRANGER knows nothing. Random numbers are equal in each run, so an
 * input has one result. Nothing is logged. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz_overlay.h"
#include "proto/overlay.h"

#define LAB_QUEUE    64
#define LAB_RECORDED 16
#define LAB_DATAGRAM 1500

struct lab_datagram {
	enum overlay_who from, to;
	size_t len;
	uint8_t data[LAB_DATAGRAM];
};

struct lab;
struct lab_side {
	struct lab *lab;
	enum overlay_who who;
	struct overlay *o;
};

struct lab {
	struct loop *loop;
	struct lab_side us, them;
	struct overlay *new; /* never started: its keys and its identity */
	bool flooded;	     /* one flood is enough */
	bool cut;	     /* sent datagrams are lost */
	unsigned n_queue;
	struct lab_datagram queue[LAB_QUEUE];
	unsigned n_recorded; /* ring of datagrams between US and THEM */
	struct lab_datagram recorded[LAB_RECORDED];
	uint64_t offered; /* the last value that US offered to NEW */
	size_t stranger_sent, stranger_got;
};

/* flags: OVERLAY_CLEAR, OVERLAY_TRUST */
struct lab *lab_new(uint8_t flags);
void lab_free(struct lab *l);
node_id_t lab_id(enum overlay_who who);
struct endpoint lab_ep(enum overlay_who who);
/* All nodes except STRANGER are configured peers. Without a secret, other nodes are ignored. */
const struct conf *lab_conf(uint8_t flags);
/* A datagram arrives at one of the nodes. */
void lab_input(struct lab *l, struct overlay *o, enum overlay_who from, const void *data,
	       size_t len);
/* Delivers all datagrams in flight. */
void lab_deliver(struct lab *l);
void lab_run(struct lab *l, unsigned ms);
/* The session of US with THEM. NULL: none. */
const struct session *lab_session(struct lab *l);
