// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocators that abort instead of returning NULL. Control thread and start-up only; the packet
 * path never allocates. Everything is freed at exit, so sanitizers stay quiet.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "defs.h"

void *x_calloc(size_t n, size_t size) attr_must_check;
void *x_realloc(void *p, size_t n, size_t size) attr_must_check; /* overflow-checked n * size */
/* Grows an array of *n elements to at least `want`, in whole steps. New elements are zero. For
 * tables with an element for each slot: a table of pairs of nodes must not double. */
#define GROW_STEP 16
void *x_grow(void *array, uint32_t *n, size_t want, size_t size) attr_must_check;
char *x_strdup(const char *s) attr_must_check;
/* Allocates zeroed memory aligned to a cache line; release with free(). */
void *x_calloc_aligned(size_t n, size_t size) attr_must_check;
/* Allocates memory aligned to a cache line without clearing it. For large buffers that are written
 * before they are read: the kernel provides their pages on first use. */
void *x_buffer(size_t n, size_t size) attr_must_check;
/* Clears memory; the compiler cannot remove the call. For secrets. */
void x_wipe(void *p, size_t len);

/* Doubles the array with place for `room` elements if n elements fill it. For lists that get one
 * element at a time. */
#define x_double(array, n, room)                                                                   \
	do {                                                                                       \
		if ((n) < (room))                                                                  \
			break;                                                                     \
		(room) = (room) ? 2 * (room) : 64;                                                 \
		(array) = x_realloc((array), (room), sizeof(*(array)));                            \
	} while (0)

/* Returns the index of the first element of a sorted array that is not less than the key, or n. */
size_t lower_bound(const void *key, const void *array, size_t n, size_t size,
		   int (*compare)(const void *key, const void *element));

/* Frees what the pointer has, and clears it. */
#define x_free(pointer) (free(pointer), (pointer) = NULL)
#define x_new(type)	((type *)x_calloc(1, sizeof(type)))
