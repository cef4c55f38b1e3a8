// SPDX-License-Identifier: GPL-2.0-or-later
/* See trace.h. gzip(1), which every Debian has, unpacks a .gz file. */
#include "trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/addr.h"
#include "base/mem.h"

#define HOSTS_MAX 1024
#define LEAST_US  50 /* RTT of two hosts at one place */
#define MOST_MS	  60000

struct input {
	FILE *f;
	pid_t pid; /* of gzip, or 0 */
};

struct lines {
	FILE *f;
	char *line;
	size_t room;
	unsigned no;
};

static bool input_open(struct input *in, const char *file)
{
	size_t len = strlen(file);
	int fds[2];

	*in = (struct input){ 0 };
	if (access(file, R_OK) < 0)
		return false;
	if (len < 3 || strcmp(file + len - 3, ".gz") != 0) {
		in->f = fopen(file, "re");
		return in->f != NULL;
	}
	if (pipe(fds) < 0)
		return false;
	in->pid = fork();
	if (in->pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execlp("gzip", "gzip", "-dc", "--", file, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	in->f = fdopen(fds[0], "r");
	return in->pid > 0 && in->f;
}

/* Returns false if gzip failed. Its output is read to the end, because gzip fails if its pipe
 * closes early. */
static bool input_close(struct input *in)
{
	int status = 0;

	while (in->f && in->pid > 0 && fgetc(in->f) != EOF)
		;
	if (in->f)
		fclose(in->f);
	return in->pid <= 0 || (waitpid(in->pid, &status, 0) == in->pid && WIFEXITED(status) &&
				!WEXITSTATUS(status));
}

/* Returns the count of numbers of the next line, 0 at the end, -1 if the line has other text. Empty
 * lines and comments are skipped. */
static int read_row(struct lines *in, float *us)
{
	int n = 0;

	while (n == 0 && getline(&in->line, &in->room, in->f) >= 0) {
		char *at = in->line, *end;

		in->no++;
		for (;; n++, at = end) {
			double ms = strtod(at, &end);

			if (end == at)
				break;
			if (n == HOSTS_MAX || ms > MOST_MS)
				return -1;
			us[n] = ms < 0 || isnan(ms) ? NAN
						    : (float)max_of(ms * 1000, 1.0 * LEAST_US);
		}
		at += strspn(at, " \t\r\n");
		if (*at && *at != '#')
			return -1;
	}
	return n;
}

/* If one end has no value, the value of the other end applies to the link. If neither has one, the
 * previous measurement applies, and before the first measurement the next one. */
static void fill(struct trace *t)
{
	size_t nn = (size_t)t->n * t->n;

	for (unsigned s = 0; s < t->n_slices; s++)
		for (size_t i = 0; i < nn; i++)
			if (isnan(t->us[s * nn + i]))
				t->us[s * nn + i] = t->us[s * nn + i % t->n * t->n + i / t->n];
	for (unsigned s = 1; s < t->n_slices; s++)
		for (size_t i = 0; i < nn; i++)
			if (isnan(t->us[s * nn + i]))
				t->us[s * nn + i] = t->us[(s - 1) * nn + i];
	for (unsigned s = t->n_slices - 1; s-- > 0;)
		for (size_t i = 0; i < nn; i++)
			if (isnan(t->us[s * nn + i]))
				t->us[s * nn + i] = t->us[(s + 1) * nn + i];
}

static bool read_all(struct trace *t, struct lines *in, char *err, unsigned err_len)
{
	float *row = x_calloc(HOSTS_MAX, sizeof(*row));
	unsigned rows = 0, room = 0;
	int n;

	while ((n = read_row(in, row)) > 0) {
		if (t->n == 0)
			t->n = (unsigned)n;
		if ((unsigned)n != t->n)
			break;
		if (rows == room) {
			room = room ? 2 * room : t->n;
			t->us = x_realloc(t->us, (size_t)room * t->n, sizeof(float));
		}
		memcpy(t->us + (size_t)rows++ * t->n, row, t->n * sizeof(float));
	}
	free(row);
	if (n < 0)
		snprintf(err, err_len, "line %u: expected numbers of milliseconds up to %d", in->no,
			 MOST_MS);
	else if (n)
		snprintf(err, err_len, "line %u has %d values, the lines before have %u", in->no, n,
			 t->n);
	else if (t->n < 2 || rows % t->n)
		snprintf(err, err_len,
			 "%u lines of %u values are no square matrices of two or more "
			 "hosts",
			 rows, t->n);
	else
		t->n_slices = rows / t->n;
	return t->n_slices > 0;
}

struct trace *trace_parse(FILE *f, char *err, unsigned err_len)
{
	struct trace *t = x_new(struct trace);
	struct lines in = { .f = f };
	bool ok = read_all(t, &in, err, err_len);

	free(in.line);
	if (ok) {
		fill(t);
		return t;
	}
	trace_free(t);
	return NULL;
}

struct trace *trace_read(const char *file, char *err, unsigned err_len)
{
	struct trace *t = NULL;
	struct input in;

	if (!input_open(&in, file))
		snprintf(err, err_len, "cannot be read: %s", strerror(errno));
	else
		t = trace_parse(in.f, err, err_len);
	if (!input_close(&in) && in.f) {
		snprintf(err, err_len, "is damaged: gzip cannot unpack it");
		trace_free(t);
		return NULL;
	}
	return t;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	free(t->us);
	free(t);
}

static float value(const struct trace *t, unsigned slice, unsigned from, unsigned to)
{
	return t->us[((size_t)slice * t->n + from) * t->n + to];
}

/* Gives the trace the hosts keep[0..n); NULL: all of them, and a host with these round trips. */
static void rebuild(struct trace *t, const unsigned *keep, unsigned n, const float *rtt_us)
{
	float *us = x_calloc((size_t)t->n_slices * n * n, sizeof(float)), *to = us;

	for (unsigned s = 0; s < t->n_slices; s++)
		for (unsigned a = 0; a < n; a++)
			for (unsigned b = 0; b < n; b++, to++)
				if (keep)
					*to = value(t, s, keep[a], keep[b]);
				else if (a < t->n && b < t->n)
					*to = value(t, s, a, b);
				else if (a != b)
					*to = rtt_us[min_of(a, b)];
	free(t->us);
	t->us = us;
	t->n = n;
}

void trace_select(struct trace *t, const unsigned *keep, unsigned n)
{
	rebuild(t, keep, n, NULL);
}

void trace_add(struct trace *t, const float *us)
{
	rebuild(t, NULL, t->n + 1, us);
}

uint64_t trace_random(struct trace *t)
{
	return hash_mix64(t->rng += 0x9e3779b97f4a7c15ULL);
}

unsigned trace_slice(const struct trace *t, int64_t at_us)
{
	int64_t s = at_us < 0 ? 0 : at_us / t->slice_us;

	return (unsigned)min_of(s, (int64_t)t->n_slices - 1);
}

/* Returns the range of slices from which a datagram draws. */
static void around(const struct trace *t, unsigned slice, unsigned *first, unsigned *last)
{
	unsigned w = t->reading == READING_NOISE ? t->window : 0;

	*first = slice > w ? slice - w : 0;
	*last = min_of(slice + w, t->n_slices - 1);
}

double trace_draw_us(struct trace *t, unsigned slice, unsigned from, unsigned to)
{
	unsigned first, last;

	around(t, slice, &first, &last);
	if (last > first)
		slice = first + (unsigned)(trace_random(t) % (last - first + 1));
	return (double)value(t, slice, from, to);
}

double trace_true_us(const struct trace *t, unsigned slice, unsigned a, unsigned b)
{
	unsigned first, last;
	double sum = 0;

	around(t, slice, &first, &last);
	for (unsigned s = first; s <= last; s++)
		sum += (double)(value(t, s, a, b) + value(t, s, b, a)) / 2;
	return sum / (last - first + 1);
}
