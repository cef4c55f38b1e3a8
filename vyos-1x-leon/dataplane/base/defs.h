// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small compile-time helpers. Owns nothing, includes nothing of ours; used everywhere, on any
 * thread.
 */
#pragma once

#include <stddef.h>

#define attr_printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define attr_unused	       __attribute__((unused))
#define attr_must_check	       __attribute__((warn_unused_result))
#define attr_noreturn	       __attribute__((noreturn))
#define attr_cacheline	       __attribute__((aligned(64)))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Number of elements of a true array; refuses pointers at compile time. */
#define array_size(a)                                                                              \
	(sizeof(a) / sizeof((a)[0]) +                                                              \
	 0 * sizeof(char[1 -                                                                       \
			 2 * __builtin_types_compatible_p(__typeof__(a), __typeof__(&(a)[0]))]))

/* Atomic accesses: without an order to others, for counters and settings, and the pair that
 * publishes. */
#define load_relaxed(p)	    atomic_load_explicit((p), memory_order_relaxed)
#define store_relaxed(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define load_acquire(p)	    atomic_load_explicit((p), memory_order_acquire)
#define store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define min_of(a, b)                                                                               \
	({                                                                                         \
		__typeof__(a) min_a_ = (a);                                                        \
		__typeof__(b) min_b_ = (b);                                                        \
		min_a_ < min_b_ ? min_a_ : min_b_;                                                 \
	})
#define max_of(a, b)                                                                               \
	({                                                                                         \
		__typeof__(a) max_a_ = (a);                                                        \
		__typeof__(b) max_b_ = (b);                                                        \
		max_a_ > max_b_ ? max_a_ : max_b_;                                                 \
	})
