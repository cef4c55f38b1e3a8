// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queue of bytes, see fifo.h.
 */
#include "frames/fifo.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

/* Largest buffer of an empty queue. */
#define KEPT (256u << 10)

void fifo_free(struct fifo *f)
{
	free(f->buf);
	*f = (struct fifo){ 0 };
}

uint8_t *fifo_reserve(struct fifo *f, size_t n)
{
	if (f->at + f->len + n > f->room && f->at) {
		memmove(f->buf, f->buf + f->at, f->len);
		f->at = 0;
	}
	if (f->len + n > f->room) {
		/* Grows by a quarter only, because unused space counts against the memory
		 * budget. */
		f->room = max_of(f->room + f->room / 4, f->len + n);
		f->buf = x_realloc(f->buf, f->room, 1);
	}
	return f->buf + f->at + f->len;
}

void fifo_put(struct fifo *f, const void *data, size_t n)
{
	memcpy(fifo_reserve(f, n), data, n);
	fifo_added(f, n);
}

void fifo_drop(struct fifo *f, size_t n)
{
	f->at += n;
	f->len -= n;
	if (f->len)
		return;
	f->at = 0;
	if (f->room > KEPT)
		fifo_free(f);
}
