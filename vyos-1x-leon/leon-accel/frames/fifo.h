// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A growing queue of bytes. The user bounds the backlog. Single-threaded.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fifo {
	uint8_t *buf;
	size_t at, len, room; /* The backlog is `len` bytes at buf[at]. */
};

void fifo_free(struct fifo *f);
/* Returns space for n more bytes. fifo_added() reports the number of written bytes. */
uint8_t *fifo_reserve(struct fifo *f, size_t n);
static inline void fifo_added(struct fifo *f, size_t n)
{
	f->len += n;
}
void fifo_put(struct fifo *f, const void *data, size_t n);
/* NULL before the first byte: an offset to a null pointer is undefined, also an offset of 0. */
static inline const uint8_t *fifo_data(const struct fifo *f)
{
	return f->buf ? f->buf + f->at : NULL;
}
void fifo_drop(struct fifo *f, size_t n);
