// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Aborting allocators. The caller owns the memory. Used at start-up and on the control thread;
 * workers receive their memory from there.
 */
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

#define CACHE_LINE 64u

static size_t checked_size(size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total) || total > PTRDIFF_MAX)
		bug("allocation of %zu times %zu bytes", n, size);
	/* malloc(0) may return NULL, which is no failure. */
	return total ? total : 1;
}

void *x_calloc(size_t n, size_t size)
{
	void *p = calloc(1, checked_size(n, size));

	if (!p)
		bug("out of memory for %zu times %zu bytes", n, size);
	return p;
}

void *x_realloc(void *p, size_t n, size_t size)
{
	void *q = realloc(p, checked_size(n, size));

	if (!q)
		bug("out of memory for %zu times %zu bytes", n, size);
	return q;
}

void *x_grow(void *array, uint32_t *n, size_t want, size_t size)
{
	size_t room = (want + GROW_STEP - 1) / GROW_STEP * GROW_STEP;

	if (want <= *n)
		return array;
	array = x_realloc(array, room, size);
	memset((char *)array + *n * size, 0, (room - *n) * size);
	*n = (uint32_t)room;
	return array;
}

char *x_strdup(const char *s)
{
	size_t len = strlen(s) + 1;
	char *copy = x_calloc(len, 1);

	memcpy(copy, s, len);
	return copy;
}

void *x_buffer(size_t n, size_t size)
{
	size_t total = checked_size(n, size);
	void *p;

	/* aligned_alloc() requires a multiple of the alignment. */
	total = (total + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
	p = aligned_alloc(CACHE_LINE, total);
	if (!p)
		bug("out of memory for %zu aligned bytes", total);
	return p;
}

void *x_calloc_aligned(size_t n, size_t size)
{
	void *p = x_buffer(n, size);

	memset(p, 0, checked_size(n, size));
	return p;
}

void x_wipe(void *p, size_t len)
{
	if (len)
		explicit_bzero(p, len);
}

size_t lower_bound(const void *key, const void *array, size_t n, size_t size,
		   int (*compare)(const void *key, const void *element))
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(key, (const char *)array + middle * size) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
