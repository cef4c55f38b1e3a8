// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ranges of ids, and a set of VLAN ids, 0 for untagged frames. Values; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A range of ids: VLANs and segments of an overlay. */
struct id_range {
	uint32_t first, last;
};

/* Appends [first, last] to the n ordered ranges of `out` and merges it with ranges that it touches.
 * `out` has room for one more. Returns the new number of ranges. */
unsigned id_ranges_add(struct id_range *out, unsigned n, uint32_t first, uint32_t last);
/* Reduces n ordered, disjoint ranges to at most `max` by closing the smallest gaps; the ids in
 * these gaps become members. Returns the number of ranges. Allocates. */
unsigned id_ranges_close(struct id_range *r, unsigned n, unsigned max);

#define VLAN_IDS 4096

struct vlan_set {
	uint64_t word[VLAN_IDS / 64];
};

static inline bool vlan_set_has(const struct vlan_set *s, uint16_t vlan)
{
	return s->word[(vlan & (VLAN_IDS - 1)) / 64] >> (vlan % 64) & 1;
}

static inline void vlan_set_add(struct vlan_set *s, uint16_t vlan)
{
	s->word[(vlan & (VLAN_IDS - 1)) / 64] |= 1ULL << (vlan % 64);
}

static inline void vlan_set_remove(struct vlan_set *s, uint16_t vlan)
{
	s->word[(vlan & (VLAN_IDS - 1)) / 64] &= ~(1ULL << (vlan % 64));
}

static inline void vlan_set_add_range(struct vlan_set *s, uint16_t first, uint16_t last)
{
	for (unsigned vlan = first; vlan <= last && vlan < VLAN_IDS; vlan++)
		vlan_set_add(s, (uint16_t)vlan);
}

static inline void vlan_set_add_all(struct vlan_set *s, const struct vlan_set *others)
{
	for (unsigned i = 0; i < VLAN_IDS / 64; i++)
		s->word[i] |= others->word[i];
}

static inline bool vlan_set_equal(const struct vlan_set *a, const struct vlan_set *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static inline bool vlan_set_is_empty(const struct vlan_set *s)
{
	static const struct vlan_set none;

	return vlan_set_equal(s, &none);
}

/* Returns the next range of consecutive ids from *at, which starts at 0; false behind the last. */
static inline bool vlan_set_next(const struct vlan_set *s, unsigned *at, struct id_range *r)
{
	unsigned first = *at, last;

	while (first < VLAN_IDS && !vlan_set_has(s, (uint16_t)first))
		first++;
	if (first >= VLAN_IDS)
		return false;
	last = first;
	while (last + 1 < VLAN_IDS && vlan_set_has(s, (uint16_t)(last + 1)))
		last++;
	*r = (struct id_range){ first, last };
	*at = last + 1;
	return true;
}

/* Largest number of ranges of a set. */
#define VLAN_RANGES_MAX (VLAN_IDS / 2)
/* Writes all ranges, ordered and disjoint. Returns their number. */
unsigned vlan_set_ranges(const struct vlan_set *s, struct id_range out[VLAN_RANGES_MAX]);

/* Writes "VLAN 10, 20 to 29", or an empty text for an empty set; truncated at the end of the
 * buffer. */
void vlan_set_format(const struct vlan_set *s, char *buf, size_t len);
