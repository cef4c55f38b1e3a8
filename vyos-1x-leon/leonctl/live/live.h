// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parts of the commands of live/. Each section belongs to the file of its name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/addr.h"
#include "base/json/jsonr.h"

/* --- capture_file.c ---
 * The records of a capture in leonctl, and their output. live/capture.c fills the structures.
 */

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

/* --- pcapng.c ---
 * Writer of pcapng files (draft-ietf-opsawg-pcapng): one section, an interface for each node, times
 * in microseconds, in the byte order of this host. libpcap writes the older format only, which has
 * neither interfaces nor comments.
 */

enum pcapng_direction { PCAPNG_UNKNOWN, PCAPNG_INBOUND, PCAPNG_OUTBOUND };

struct pcapng_packet {
	uint32_t interface; /* number, from 0, in the order of pcapng_interface() */
	int64_t at_us;	    /* since 1970 */
	enum pcapng_direction direction;
	const uint8_t *data;
	uint32_t n, len; /* captured bytes, bytes of the frame */
	const char *comment;
};

/* Each text has at most PCAPNG_TEXT_MAX bytes; a longer one is cut. */
#define PCAPNG_TEXT_MAX 1024

void pcapng_begin(FILE *f, const char *program);
/* An interface of Ethernet. */
void pcapng_interface(FILE *f, const char *name, const char *description, uint32_t snap);
void pcapng_packet(FILE *f, const struct pcapng_packet *p);
/* received: matching frames of the interface. dropped: the part without a packet in the file. */
void pcapng_statistics(FILE *f, uint32_t interface, int64_t at_us, uint64_t received,
		       uint64_t dropped, const char *comment);

/* --- http.c ---
 * The part of HTTP/1.x (RFC 9112) for `leonctl metrics --listen`: the first line and the end of the
 * head of a request. The client is not trusted, so the parser ignores everything else. Pure.
 */

#define HTTP_HEAD_MAX 4096

enum http_verdict {
	HTTP_MORE, /* the head is incomplete */
	HTTP_METRICS,
	HTTP_METRICS_HEAD, /* HEAD: answer without body */
	HTTP_ROOT,
	HTTP_NOT_FOUND,
	HTTP_BAD_METHOD,
	HTTP_BAD,
	N_HTTP_VERDICTS,
};
/* Classifies the bytes received until now. */
enum http_verdict http_request(const char *head, size_t len);

/* --- top_view.c ---
 * The text of `leonctl top` from the daemon's answers: head, rates, paths, events. The text fits
 * the height and width of the terminal. Pure except for the writing; top.c owns the terminal.
 */

enum top_rate { TOP_IN, TOP_OUT, TOP_NET_TX, TOP_NET_RX, TOP_RELAYED, TOP_DROPS, N_TOP_RATES };

/* Counters at one moment. A rate is computed from two samples. */
struct top_sample {
	int64_t at_ms;
	uint64_t value[N_TOP_RATES];
};
void top_sample_take(struct jsonr_node *statistics, int64_t now_ms, struct top_sample *out);

struct top_input {
	struct jsonr_node *nodes, *paths, *statistics, *events; /* roots of answers */
	struct top_sample before, now;
	bool has_before; /* false: no rate is known yet */
};
/* Lines are separated by "\n", without one after the last line and without other control
 * characters. */
void top_view(const struct top_input *in, unsigned rows, unsigned columns, FILE *out);
/* Copies one line of a text, cut to the width and without control characters. */
void top_line(const char *text, unsigned columns, FILE *out);
