// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two nodes in session on virtual time, and two more addresses, for fuzz targets: NEW knows the
 * secret but is in no session, STRANGER knows nothing. Chance is the same in each run, so that an
 * input does the same each time. Nothing is logged. One thread.
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
	struct overlay *new; /* never started: its keys, and who it is */
	bool flooded;	     /* once is enough */
	bool cut;	     /* what is sent is lost */
	unsigned n_queue;
	struct lab_datagram queue[LAB_QUEUE];
	unsigned n_recorded; /* between us and them; a ring */
	struct lab_datagram recorded[LAB_RECORDED];
	uint64_t offered; /* the value that we offered to NEW last */
	size_t stranger_sent, stranger_got;
};

/* flags: OVERLAY_CLEAR, OVERLAY_TRUST */
struct lab *lab_new(uint8_t flags);
void lab_free(struct lab *l);
node_id_t lab_id(enum overlay_who who);
struct endpoint lab_ep(enum overlay_who who);
/* Everybody but STRANGER is a configured peer; without a secret nobody else gets a word in. */
const struct conf *lab_conf(uint8_t flags);
/* A datagram arrives at one of the nodes. */
void lab_input(struct lab *l, struct overlay *o, enum overlay_who from, const void *data,
	       size_t len);
/* Everything that is under way arrives. */
void lab_deliver(struct lab *l);
void lab_run(struct lab *l, unsigned ms);
/* Our session with THEM, NULL none. */
const struct session *lab_session(struct lab *l);
