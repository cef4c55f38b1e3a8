// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writer of pcapng files (draft-ietf-opsawg-pcapng): one section, an interface for each node, times
 * in microseconds, in the byte order of this host. libpcap writes the older format only, which has
 * neither interfaces nor comments.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

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
