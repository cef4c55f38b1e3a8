// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A trace: how long a datagram takes between any two hosts, slice by slice. Reads the text formats
 * of leonsim(1) (matrices of milliseconds, gzip or not), says what a datagram that leaves now takes
 * under either reading, and what the truth is that paths are judged by. One thread.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum reading {
	READING_HOLD,  /* a value stands until the next slice */
	READING_NOISE, /* each datagram draws from the slices around */
};

struct trace {
	unsigned n, n_slices; /* hosts; matrices */
	float *us;	      /* [slice][from][to]: round trip in us; NAN: there is no way */
	enum reading reading;
	unsigned window;  /* NOISE: slices to either side */
	int64_t slice_us; /* how long one lasts */
	uint64_t rng;
};

/* NULL with a sentence in err. The reading, the window and the slice are the caller's to set. */
struct trace *trace_read(const char *file, char *err, unsigned err_len);
/* The same of text that is open. */
struct trace *trace_parse(FILE *f, char *err, unsigned err_len);
/* Of a matrix in memory: n * n round trips in us, for one slice. */
struct trace *trace_of(const float *us, unsigned n);
void trace_free(struct trace *t); /* NULL ok */

/* Keeps the hosts in keep[0..n), in that order. */
void trace_select(struct trace *t, const unsigned *keep, unsigned n);
/* One more host, with these round trips in us to the others at all times. */
void trace_add(struct trace *t, const float *us);

uint64_t trace_random(struct trace *t);
/* Slice at a time since the start of the trace. */
unsigned trace_slice(const struct trace *t, int64_t at_us);
/* Round trip that one datagram from -> to would see; NAN: it does not arrive. */
double trace_draw_us(struct trace *t, unsigned slice, unsigned from, unsigned to);
/* Mean round trip of the link in a slice, both ways taken together: what an oracle knows. */
double trace_true_us(const struct trace *t, unsigned slice, unsigned a, unsigned b);
