// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single-producer single-consumer ring of variable-sized records, fixed memory. A worker
 * produces (learned MACs, control datagrams, notices), the control thread consumes.
 * Lock-free, C11 atomics only. A full ring refuses: the producer counts the drop.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ring;

struct ring *ring_new(size_t bytes); /* a power of two, 4 KiB to 16 MiB */
void ring_free(struct ring *r);	     /* NULL ok */

/*
 * Producer: room for one record of `len` bytes (8-byte aligned), NULL where the ring is full.
 * Visible to the consumer after ring_commit().
 */
void *ring_reserve(struct ring *r, uint16_t type, size_t len);
void ring_commit(struct ring *r);

/* Consumer: oldest record or NULL; valid until ring_release(). */
const void *ring_peek(struct ring *r, uint16_t *type, size_t *len);
void ring_release(struct ring *r);
