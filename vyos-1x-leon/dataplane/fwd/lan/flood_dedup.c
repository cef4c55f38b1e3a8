// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recently flooded frames, see lan_state.h. An entry is a word, replaced atomically: part of the
 * hash, the slot, the state, and the time. Workers.
 */
#include "fwd/lan/lan_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "crypto/aead.h"
#include "state/tables/nodedb.h"
#include "wire/frame/csum.h"

/* Places of 8 bytes: the floods of a second at the storm-control limit. */
#define SETS  2048
#define WAYS  4
#define TRIES 4 /* retries against other workers; then the entry is unknown */

/* Fields of an entry, from the lowest bit: */
#define COURSE_BITS 3
#define SLOT_BITS   16
#define TIME_BITS   20 /* milliseconds, wraps after 17 minutes */
#define TAG_SHIFT   (COURSE_BITS + SLOT_BITS + TIME_BITS)
#define TIME_MASK   ((1u << TIME_BITS) - 1)

enum course {
	EMPTY,
	ONCE,
	TWICE,	 /* repeated from the same origin; held since then */
	ITS_OWN, /* the guard probed and the repetition continues: the host repeats the frame */
	TWO_WAY,
};

struct memory {
	uint64_t tag;
	uint16_t slot;
	enum course course;
	uint32_t ms;
};

struct flood_dedup {
	struct hash_key key;
	_Atomic uint64_t set[SETS][WAYS];
};

struct flood_dedup *flood_dedup_new(void)
{
	struct flood_dedup *r = x_new(struct flood_dedup);

	r->key = (struct hash_key){ random_u64_nonzero(), random_u64_nonzero() };
	return r;
}

void flood_dedup_free(struct flood_dedup *r)
{
	free(r);
}

/* --- identification of a frame --- */

/* Trailing zeros may be padding, which not every LAN adds. */
static size_t unpadded(const uint8_t *data, size_t len, size_t at_least)
{
	while (len > at_least && !data[len - 1])
		len--;
	return len;
}

uint64_t flood_dedup_hash(const struct flood_dedup *r, const uint8_t *data, size_t len,
			  const struct eth_view *v)
{
	uint16_t outer = (uint16_t)(data[12] << 8 | data[13]);
	size_t from = eth_is_tag(outer) ? 16 : 12;
	size_t end = unpadded(data, len, v->l3_offset), sum_at = checksum_place(v, len);
	uint64_t word[4] = { mac_to_u64(v->dst), mac_to_u64(v->src) << 16 | v->vlan };

	if (!sum_at || sum_at + 2 > end) {
		word[2] = siphash(&r->key, data + from, end - from);
	} else {
		word[2] = siphash(&r->key, data + from, sum_at - from);
		word[3] = siphash(&r->key, data + sum_at + 2, end - sum_at - 2);
	}
	return siphash(&r->key, word, sizeof(word));
}

/* --- the table --- */

static struct memory unpack(uint64_t word)
{
	return (struct memory){
		.tag = word >> TAG_SHIFT,
		.ms = (uint32_t)(word >> (COURSE_BITS + SLOT_BITS)) & TIME_MASK,
		.slot = (uint16_t)(word >> COURSE_BITS),
		.course = (enum course)(word & ((1u << COURSE_BITS) - 1)),
	};
}

static uint64_t pack(const struct memory *p)
{
	return p->tag << TAG_SHIFT | (uint64_t)p->ms << (COURSE_BITS + SLOT_BITS) |
	       (uint64_t)p->slot << COURSE_BITS | (uint64_t)p->course;
}

/* Another worker's batch may have started slightly later; the elapsed time is then 0. Half of the
 * wrap would be too much: entries of minutes ago would count as new. */
static uint32_t passed_ms(const struct memory *p, uint32_t ms)
{
	uint32_t ahead = (p->ms - ms) & TIME_MASK;

	return ahead < FLOOD_DEDUP_LIFE_MS ? 0 : (ms - p->ms) & TIME_MASK;
}

/* A host of the LAN may repeat a frame to cover loss; the destination LAN need not receive it
 * twice. */
static enum flood_dedup_verdict same_way(struct memory *p, uint32_t ms)
{
	bool soon = passed_ms(p, ms) < FLOOD_DEDUP_HOLD_MS;

	if (p->course == TWICE && soon)
		return FLOOD_DEDUP_HELD;
	p->ms = ms;
	if (p->course != ONCE) {
		p->course = ITS_OWN;
		return FLOOD_DEDUP_FIRST;
	}
	if (!soon)
		return FLOOD_DEDUP_AGAIN;
	p->course = TWICE;
	return p->slot == SLOT_SELF ? FLOOD_DEDUP_AGAIN : FLOOD_DEDUP_HELD;
}

static bool is_live(const struct memory *p, uint32_t ms)
{
	return p->course != EMPTY && passed_ms(p, ms) < FLOOD_DEDUP_LIFE_MS;
}

static bool is_known(const struct memory *p, uint64_t tag, uint32_t ms)
{
	return p->tag == tag && is_live(p, ms);
}

static enum flood_dedup_verdict next(struct memory *p, uint64_t tag, uint16_t slot, uint32_t ms)
{
	if (!is_known(p, tag, ms)) {
		*p = (struct memory){ .tag = tag, .slot = slot, .course = ONCE, .ms = ms };
		return FLOOD_DEDUP_FIRST;
	}
	if (p->slot == slot && p->course != TWO_WAY)
		return same_way(p, ms);
	/* From now on neither origin counts. */
	p->course = TWO_WAY;
	return FLOOD_DEDUP_TWO_WAY;
}

/* Rank for replacement, the highest first: unused entries, the oldest, then ITS_OWN. The loss of an
 * ITS_OWN entry would hold the frames of its host again. */
static uint32_t replaceable(const struct memory *p, uint32_t ms)
{
	if (!is_live(p, ms))
		return UINT32_MAX;
	return passed_ms(p, ms) + (p->course == ITS_OWN ? 0 : FLOOD_DEDUP_LIFE_MS);
}

/* Returns the place of the frame, or of the entry to replace. *word is its content. */
static _Atomic uint64_t *place_of(_Atomic uint64_t *set, uint64_t tag, uint32_t ms, uint64_t *word)
{
	_Atomic uint64_t *best = NULL;
	uint32_t most = 0;

	for (unsigned i = 0; i < WAYS; i++) {
		uint64_t is = load_relaxed(&set[i]);
		struct memory p = unpack(is);
		bool known = is_known(&p, tag, ms);

		if (best && !known && replaceable(&p, ms) <= most)
			continue;
		best = &set[i];
		most = replaceable(&p, ms);
		*word = is;
		if (known)
			break;
	}
	return best;
}

enum flood_dedup_verdict flood_dedup_check(struct flood_dedup *r, uint64_t sum, uint16_t slot,
					   mono_t now)
{
	uint32_t ms = (uint32_t)(now.ns / NS_PER_MS) & TIME_MASK;
	uint64_t tag = sum >> TAG_SHIFT;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t was = 0;
		_Atomic uint64_t *place = place_of(r->set[sum % SETS], tag, ms, &was);
		struct memory p = unpack(was);
		enum flood_dedup_verdict verdict = next(&p, tag, slot, ms);

		if (atomic_compare_exchange_strong_explicit(
			    place, &was, pack(&p), memory_order_relaxed, memory_order_relaxed))
			return verdict;
	}
	return FLOOD_DEDUP_FIRST;
}
