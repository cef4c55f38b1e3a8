// SPDX-License-Identifier: GPL-2.0-or-later
/* The records of a capture, and their output. */
#include "live/live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/defs.h"
#include "base/version.h"
#include "text/text.h"

#define COMMENT_LEN 256

/* Display name of a node. */
static const char *name_of(const struct captured *c, const char *id)
{
	for (size_t i = 0; i < c->n_nodes; i++)
		if (strcmp(c->node[i].id, id) == 0 && c->node[i].name[0])
			return c->node[i].name;
	return id;
}

/* --- times --- */

static int64_t aligned(const struct captured *c, const struct captured_frame *f)
{
	const struct captured_node *n = &c->node[f->node];
	uint32_t own = f->clock_us - (n->aligned ? n->offset_us : 0);

	return c->wall_us - (int32_t)(c->clock_us - own);
}

static int compare(const void *x, const void *y)
{
	const struct captured_frame *a = x, *b = y;

	return a->at_us < b->at_us ? -1 : a->at_us > b->at_us;
}

void captured_align(struct captured *c)
{
	for (size_t i = 0; i < c->n_frames; i++)
		c->frame[i].at_us = aligned(c, &c->frame[i]);
	if (c->n_frames)
		qsort(c->frame, c->n_frames, sizeof(*c->frame), compare);
}

/* --- text --- */

/* The node behind this one on the path; NULL at the ends. */
static const char *next_of(const struct captured *c, const struct captured_frame *f)
{
	unsigned at = 0;

	if (strcmp(f->place, "relayed") == 0)
		while (at < f->n_path && strcmp(f->path[at], c->node[f->node].id) != 0)
			at++;
	at += strcmp(f->place, "relayed") == 0;
	return at < f->n_path ? f->path[at] : NULL;
}

/* "relayed to b, path r b, sealed" */
static void describe(const struct captured *c, const struct captured_frame *f, char *out,
		     size_t len)
{
	const char *next = next_of(c, f);

	snprintf(out, len, "%s", f->place);
	if (next)
		text_add(out, len, " to ", text_format("%s, path", name_of(c, next)));
	for (unsigned i = 0; next && i < f->n_path; i++)
		text_add(out, len, " ", name_of(c, f->path[i]));
	if (f->sealed)
		text_add(out, len, ", ", "sealed");
}

static bool took_part(const struct captured_node *n)
{
	return strcmp(n->state, "refused") != 0 && strcmp(n->state, "busy") != 0 &&
	       strcmp(n->state, "starting") != 0 &&
	       (n->frames || strcmp(n->state, "no-answer") != 0);
}

/* Returns NULL for a state without a problem. */
static const char *problem_of(const char *state)
{
	static const struct {
		const char *state, *text;
	} problems[] = {
		{ "refused", "refuses: its \"capture permit\" does not list this node" },
		{ "restarted", "ended the capture early: it restarted, or its permission ended" },
		{ "no-answer", "does not answer: unreachable, or its release has no capture" },
		{ "invalid", "sent malformed records, more than requested, or did not end" },
	};

	for (size_t i = 0; i < array_size(problems); i++)
		if (strcmp(problems[i].state, state) == 0)
			return problems[i].text;
	return NULL;
}

unsigned captured_report(const struct captured *c, FILE *f)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct captured_node *node = &c->node[i];
		const char *name = name_of(c, node->id), *problem = problem_of(node->state);

		if (problem)
			fprintf(f, "%s (%s) %s\n", name, node->id, problem);
		if (strcmp(node->state, "busy") == 0)
			fprintf(f, "%s (%s) is busy with a capture of %s: try again later\n", name,
				node->id, name_of(c, node->by));
		n += took_part(node);
		if (node->frames && !node->aligned)
			fprintf(f,
				"%s (%s): no link measures its clock, so its times are not aligned\n",
				name, node->id);
		if (node->lost)
			fprintf(f, "%s (%s): %llu frames are missing, too many at once\n", name,
				node->id, (unsigned long long)node->lost);
	}
	return n;
}

void captured_list(const struct captured *c, FILE *f)
{
	char comment[COMMENT_LEN], when[16];

	for (size_t i = 0; i < c->n_frames; i++) {
		const struct captured_frame *fr = &c->frame[i];
		time_t s = (time_t)(fr->at_us / 1000000);
		struct tm tm;

		localtime_r(&s, &tm);
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
		describe(c, fr, comment, sizeof(comment));
		fprintf(f, "%s.%06u  %-12s %5u bytes  %s\n", when, (unsigned)(fr->at_us % 1000000),
			name_of(c, c->node[fr->node].id), fr->len, comment);
	}
}

/* --- the file --- */

static void write_interface(const struct captured *c, const struct captured_node *n, FILE *f)
{
	char text[COMMENT_LEN];

	if (n->aligned)
		snprintf(text, sizeof(text), "LEON node %s, clock aligned, error at most %u us",
			 n->id, n->error_us);
	else
		snprintf(text, sizeof(text), "LEON node %s, clock not aligned", n->id);
	pcapng_interface(f, name_of(c, n->id), text, c->snap);
}

static enum pcapng_direction direction_of(const char *place)
{
	if (strcmp(place, "from-tap") == 0)
		return PCAPNG_INBOUND;
	return strcmp(place, "relayed") == 0 ? PCAPNG_UNKNOWN : PCAPNG_OUTBOUND;
}

void captured_write(const struct captured *c, FILE *f)
{
	char text[COMMENT_LEN];

	snprintf(text, sizeof(text), "leonctl %s", leon_version);
	pcapng_begin(f, text);
	for (size_t i = 0; i < c->n_nodes; i++)
		write_interface(c, &c->node[i], f);
	for (size_t i = 0; i < c->n_frames; i++) {
		const struct captured_frame *fr = &c->frame[i];
		struct pcapng_packet p = { .interface = (uint32_t)fr->node,
					   .at_us = fr->at_us,
					   .direction = direction_of(fr->place),
					   .data = fr->data,
					   .n = fr->n,
					   .len = fr->len,
					   .comment = text };

		describe(c, fr, text, sizeof(text));
		pcapng_packet(f, &p);
	}
	for (size_t i = 0; i < c->n_nodes; i++)
		pcapng_statistics(f, (uint32_t)i, c->wall_us, c->node[i].frames + c->node[i].lost,
				  c->node[i].lost, c->node[i].state);
}

void captured_free(struct captured *c)
{
	for (size_t i = 0; i < c->n_frames; i++)
		free(c->frame[i].data);
	free(c->frame);
	free(c->node);
}
