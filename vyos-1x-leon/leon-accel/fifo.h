// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bytes that wait, in the order in which they came. Grows as it must: its user bounds what he puts
 * in. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fifo {
	uint8_t *buf;
	size_t at, len, room; /* what waits: buf[at], len bytes */
};

void fifo_free(struct fifo *f);
/* Where n more bytes go; fifo_added() says how many were written. */
uint8_t *fifo_reserve(struct fifo *f, size_t n);
static inline void fifo_added(struct fifo *f, size_t n)
{
	f->len += n;
}
void fifo_put(struct fifo *f, const void *data, size_t n);
static inline const uint8_t *fifo_data(const struct fifo *f)
{
	return f->buf + f->at;
}
void fifo_drop(struct fifo *f, size_t n);
