// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A trace: the delay of a datagram between any two hosts, in slices of time. Reads the text formats
 * of leonsim(1) (matrices of milliseconds, with or without gzip). Returns the delay of a datagram
 * that is sent now under either reading, and the true delay for the oracle. One thread.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum reading {
	READING_HOLD,  /* a value holds until the next slice */
	READING_NOISE, /* each datagram draws from the adjacent slices */
};

struct trace {
	unsigned n, n_slices; /* hosts; matrices */
	float *us;	      /* [slice][from][to]: round trip in us; NAN: no connection */
	enum reading reading;
	unsigned window;  /* READING_NOISE: slices to either side */
	int64_t slice_us; /* length of a slice */
	uint64_t rng;
};

/* Returns NULL with a sentence in err. The caller sets the reading, the window and the slice. */
struct trace *trace_read(const char *file, char *err, unsigned err_len);
/* Reads a trace from an open stream. */
struct trace *trace_parse(FILE *f, char *err, unsigned err_len);
void trace_free(struct trace *t); /* NULL ok */

/* Keeps the hosts in keep[0..n), in that order. */
void trace_select(struct trace *t, const unsigned *keep, unsigned n);
/* Adds a host with these round trips in us to the others at all times. */
void trace_add(struct trace *t, const float *us);

uint64_t trace_random(struct trace *t);
/* Returns the slice at a time since the start of the trace. */
unsigned trace_slice(const struct trace *t, int64_t at_us);
/* Returns the round trip that one datagram from -> to would see; NAN: the datagram is lost. */
double trace_draw_us(struct trace *t, unsigned slice, unsigned from, unsigned to);
/* Returns the mean round trip of the link in a slice over both directions, as the oracle uses
 * it. */
double trace_true_us(const struct trace *t, unsigned slice, unsigned a, unsigned b);
