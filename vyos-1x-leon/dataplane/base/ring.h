// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single-producer single-consumer ring of variable-sized records in fixed memory. A worker produces
 * (learned MACs, control datagrams, path errors), the control thread consumes. Lock-free, C11
 * atomics only. A full ring refuses a record, and the producer counts the drop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

struct ring *ring_new(size_t bytes); /* a power of two, 4 KiB to 16 MiB */
void ring_free(struct ring *r);	     /* NULL ok */

/*
 * Producer: reserves one record of `len` bytes, aligned to 8 bytes. Returns NULL if the ring is
 * full. The consumer sees the record after ring_commit().
 */
void *ring_reserve(struct ring *r, uint16_t type, size_t len);
void ring_commit(struct ring *r);
/* Producer: returns true if `bytes` are free, headers and padding of records included. */
bool ring_has_room(struct ring *r, size_t bytes);

/* Consumer: returns the oldest record or NULL; valid until ring_release(). */
const void *ring_peek(struct ring *r, uint16_t *type, size_t *len);
void ring_release(struct ring *r);
