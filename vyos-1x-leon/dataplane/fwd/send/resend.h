// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: recent sealed datagrams to nodes with a second pair of lines. After a pair failed, the
 * worker sends the datagrams again that the failed pair may have lost, so that hosts need no
 * retransmission timer. The receiver drops datagrams that did arrive as replays. Memory is fixed;
 * the pages of a node without pairs are never touched. doc/decisions/080. Worker-owned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"

struct worker;

#define RESEND_BYTES   (1u << 20)
#define RESEND_ENTRIES 2048
#define RESEND_MS      1000 /* maximum age */
/* Interval in which a worker without other work looks for a failed pair. */
#define RESEND_POLL_MS 10

struct resend_entry {
	mono_t sent;
	node_id_t id; /* of the first hop */
	uint32_t at;  /* position in the ring */
	uint32_t failures;
	uint16_t slot, len, class;
};

struct resend {
	uint8_t *ring;
	struct resend_entry *entry;
	uint32_t first, next; /* entries in use, modulo RESEND_ENTRIES */
	uint32_t at;	      /* next free byte of the ring */
	uint32_t failures;    /* of the snapshot at the last look */
};

void resend_init(struct resend *r);
void resend_fini(struct resend *r);
static inline bool resend_waits(const struct resend *r)
{
	return r->first != r->next;
}
/* Keeps a datagram that was sent to this first hop. */
void resend_keep(struct worker *w, uint16_t slot, const uint8_t *data, size_t len);
/* Between batches: sends datagrams of failed pairs again, and forgets old ones. */
void resend_look(struct worker *w);
