// SPDX-License-Identifier: GPL-2.0-or-later
/* A block is built in memory, because its length is its second and its last word. */
#include "live/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

#define SECTION_HEADER	  0x0a0d0d0au
#define INTERFACE	  1u
#define STATISTICS	  5u
#define ENHANCED_PACKET	  6u
#define BYTE_ORDER_MAGIC  0x1a2b3c4du
#define LINKTYPE_ETHERNET 1u

/* Options. */
#define END_OF_OPTIONS 0
#define COMMENT	       1
#define SHB_USERAPPL   4
#define IF_NAME	       2
#define IF_DESCRIPTION 3
#define IF_TSRESOL     9
#define MICROSECONDS   6 /* 10^-6 s */
#define EPB_FLAGS      2
#define ISB_IFRECV     4
#define ISB_IFDROP     5

struct block {
	uint8_t *data;
	size_t len, room;
};

static void put(struct block *b, const void *data, size_t n)
{
	static const uint8_t zero[4];
	size_t padding = (4 - n % 4) % 4;

	if (b->len + n + padding > b->room) {
		b->room = 2 * b->room + n + padding;
		b->data = x_realloc(b->data, b->room, 1);
	}
	if (n)
		memcpy(b->data + b->len, data, n);
	memcpy(b->data + b->len + n, zero, padding);
	b->len += n + padding;
}

static void put_u32(struct block *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put_two(struct block *b, uint16_t first, uint16_t second)
{
	uint16_t v[2] = { first, second };

	put(b, v, sizeof(v));
}

static void option(struct block *b, uint16_t code, const void *data, size_t n)
{
	put_two(b, code, (uint16_t)n);
	put(b, data, n);
}

static void text(struct block *b, uint16_t code, const char *s)
{
	if (s && *s)
		option(b, code, s, min_of(strlen(s), (size_t)PCAPNG_TEXT_MAX));
}

static struct block begin(uint32_t type)
{
	struct block b = { 0 };

	put_u32(&b, type);
	put_u32(&b, 0); /* the length */
	return b;
}

static void end(struct block *b, FILE *f)
{
	uint32_t len;

	put_two(b, END_OF_OPTIONS, 0);
	len = (uint32_t)b->len + 4;
	memcpy(b->data + 4, &len, sizeof(len));
	put_u32(b, len);
	fwrite(b->data, 1, b->len, f);
	free(b->data);
}

static void put_time(struct block *b, int64_t us)
{
	put_u32(b, (uint32_t)((uint64_t)us >> 32));
	put_u32(b, (uint32_t)us);
}

void pcapng_begin(FILE *f, const char *program)
{
	struct block b = begin(SECTION_HEADER);
	uint64_t unknown = UINT64_MAX;

	put_u32(&b, BYTE_ORDER_MAGIC);
	put_two(&b, 1, 0); /* version 1.0 */
	put(&b, &unknown, sizeof(unknown));
	text(&b, SHB_USERAPPL, program);
	end(&b, f);
}

void pcapng_interface(FILE *f, const char *name, const char *description, uint32_t snap)
{
	struct block b = begin(INTERFACE);
	uint8_t resolution = MICROSECONDS;

	put_two(&b, LINKTYPE_ETHERNET, 0);
	put_u32(&b, snap);
	text(&b, IF_NAME, name);
	text(&b, IF_DESCRIPTION, description);
	option(&b, IF_TSRESOL, &resolution, 1);
	end(&b, f);
}

void pcapng_packet(FILE *f, const struct pcapng_packet *p)
{
	struct block b = begin(ENHANCED_PACKET);
	uint32_t flags = p->direction;

	put_u32(&b, p->interface);
	put_time(&b, p->at_us);
	put_u32(&b, p->n);
	put_u32(&b, p->len);
	put(&b, p->data, p->n);
	text(&b, COMMENT, p->comment);
	option(&b, EPB_FLAGS, &flags, sizeof(flags));
	end(&b, f);
}

void pcapng_statistics(FILE *f, uint32_t interface, int64_t at_us, uint64_t received,
		       uint64_t dropped, const char *comment)
{
	struct block b = begin(STATISTICS);

	put_u32(&b, interface);
	put_time(&b, at_us);
	text(&b, COMMENT, comment);
	option(&b, ISB_IFRECV, &received, sizeof(received));
	option(&b, ISB_IFDROP, &dropped, sizeof(dropped));
	end(&b, f);
}
