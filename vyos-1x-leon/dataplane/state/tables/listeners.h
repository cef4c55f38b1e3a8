// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Groups with listeners at other nodes, as these nodes announced them. The VLANs of this node in
 * which hosts must not see reports of other sites. A node that announces nothing for a segment
 * receives all its groups.
 *
 * The control thread replaces the immutable set of a node with one atomic store, and base/rcu frees
 * the old set. So an announcement costs no snapshot. Workers read.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vlan_set.h"

/* Entries of one node, lists and groups together. */
#define LISTENERS_MAX 1024

struct listener_set;
struct listeners {
	uint16_t n_slots;
	/* VLANs that receive no suppressing reports of other sites, by family (IPv4 first). */
	_Atomic uint64_t withholds[2][VLAN_IDS / 64];
	_Atomic(struct listener_set *) set[]; /* by slot; NULL: the node receives all groups */
};

/* An entry: segment (24), family (8: 4 or 6), low 32 bits of a group. Group 0 is the list itself:
 * the node receives only listed groups of this segment and family. */
static inline uint64_t listener_entry(uint32_t segment, uint8_t family, uint32_t group)
{
	return (uint64_t)segment << 40 | (uint64_t)family << 32 | group;
}
static inline uint32_t listener_segment(uint64_t entry)
{
	return (uint32_t)(entry >> 40);
}
static inline uint8_t listener_family(uint64_t entry)
{
	return (uint8_t)(entry >> 32);
}
static inline uint32_t listener_group(uint64_t entry)
{
	return (uint32_t)entry;
}

struct listeners *listeners_new(uint16_t n_slots);
void listeners_free(void *l); /* struct listeners *, with its sets; NULL ok */
struct listener_set *listener_set_new(const uint64_t *entry, unsigned n);
void listener_set_free(void *s); /* struct listener_set *; NULL ok */

/* --- control thread --- */
/* Replaces the set of a node (NULL: the node receives all groups). Returns the old set, which the
 * caller retires. */
struct listener_set *listeners_replace(struct listeners *l, uint16_t slot, struct listener_set *s);
void listeners_set_withholds(struct listeners *l, uint16_t vlan, uint8_t family, bool withholds);
const struct listener_set *listeners_of(const struct listeners *l, uint16_t slot);
/* The entries as announced. */
const uint64_t *listener_set_entries(const struct listener_set *s, unsigned *n);

/* --- workers and control thread --- */
/* Returns true if the node receives this group. wanted: an entry with a group. IPv4 groups are
 * compared by the bits of their MAC address. */
bool listeners_want(const struct listeners *l, uint16_t slot, uint64_t wanted);
bool listeners_withholds(const struct listeners *l, uint16_t vlan, uint8_t family);
