// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The records of a capture in leonctl, and their output. live/capture.c fills the structures.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/addr.h"

#define CAPTURE_PATH_MAX 4

struct captured_node {
	char id[NODE_ID_STRLEN], name[40], state[16], by[NODE_ID_STRLEN];
	uint64_t frames, lost;
	bool aligned; /* the next two are known */
	uint32_t offset_us, error_us;
};

struct captured_frame {
	size_t node; /* index */
	char place[12];
	uint32_t clock_us; /* of the node, modulo 2^32 */
	int64_t at_us;	   /* since 1970, aligned */
	char path[CAPTURE_PATH_MAX][NODE_ID_STRLEN];
	unsigned n_path;
	bool sealed;
	uint32_t len, n;
	uint8_t *data;
};

struct captured {
	size_t n_nodes, n_frames, room;
	struct captured_node *node;
	struct captured_frame *frame;
	uint32_t clock_us; /* of the own node, at wall_us */
	int64_t wall_us;
	uint32_t snap;
};

/* Sets the aligned times, and sorts by them. */
void captured_align(struct captured *c);
void captured_write(const struct captured *c, FILE *f); /* pcapng */
void captured_list(const struct captured *c, FILE *f);	/* a line for each frame */
/* Prints problems of nodes. Returns the number of nodes that took part. */
unsigned captured_report(const struct captured *c, FILE *f);
void captured_free(struct captured *c);
