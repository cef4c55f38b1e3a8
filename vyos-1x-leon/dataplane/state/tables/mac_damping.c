// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See mac_damping.h. Pure; control thread.
 */
#include "state/tables/mac_damping.h"

#include "base/defs.h"
#include "state/tables/nodedb.h"

#define FREEZES_LONGER 3   /* number of successive freezes that double in length */
#define STABLE_S       600 /* time after which the next freeze has the initial length again */

/* Clocks wrap, so the difference is signed. */
bool mac_damping_is_over(const struct mac_damping *d, uint32_t now_s)
{
	return (int32_t)(now_s - d->thaw_s) >= 0;
}

bool mac_damping_moved_of_late(const struct mac_damping *d, uint32_t now_s)
{
	return d->window_moves && now_s - d->window_s <= MAC_FLAP_WINDOW_S;
}

/* Records that the MAC leaves `slot`, which becomes its owner if it had the MAC for long enough. */
static void note_tenure(struct mac_damping *d, uint16_t slot, uint32_t now_s)
{
	uint32_t enough_s = d->owner == SLOT_NONE ? MAC_OWNER_S : MAC_HEIR_S;

	if (now_s - d->since_s >= enough_s)
		d->owner = slot;
}

/* Counts a move; returns true above MAC_FLAP_MOVES in the window. */
static bool move_flaps(struct mac_damping *d, uint16_t slot, uint32_t now_s)
{
	if (!mac_damping_moved_of_late(d, now_s)) {
		d->window_s = now_s;
		d->window_moves = 0;
		d->owner_claims = false;
	}
	d->owner_claims |= slot == d->owner;
	return ++d->window_moves > MAC_FLAP_MOVES;
}

bool mac_damping_move(struct mac_damping *d, uint16_t from, uint16_t to, uint32_t now_s)
{
	if (from == SLOT_NONE) {
		d->owner_claims |= to == d->owner;
	} else {
		note_tenure(d, from, now_s);
		if (move_flaps(d, to, now_s))
			return false;
		d->n_moves++;
	}
	d->since_s = now_s;
	return true;
}

uint16_t mac_damping_freeze(struct mac_damping *d, uint32_t now_s)
{
	if (mac_damping_is_over(d, now_s - STABLE_S))
		d->n_freezes = 0;
	d->thaw_s = now_s + ((uint32_t)MAC_FREEZE_S << d->n_freezes);
	d->n_freezes = (uint8_t)min_of(d->n_freezes + 1, FREEZES_LONGER);
	d->since_s = now_s;
	return d->owner_claims ? d->owner : SLOT_NONE;
}

void mac_damping_thaw(struct mac_damping *d, uint32_t now_s)
{
	d->window_s = now_s;
	d->window_moves = MAC_FLAP_MOVES - 1;
	d->owner_claims = false;
}

void mac_damping_shorten(struct mac_damping *d, uint32_t now_s)
{
	if (!mac_damping_is_over(d, now_s + MAC_FREEZE_S))
		d->thaw_s = now_s + MAC_FREEZE_S;
}

void mac_damping_disown(struct mac_damping *d, const struct slot_set *gone)
{
	if (!slot_set_has(gone, d->owner))
		return;
	d->owner = SLOT_NONE;
	d->owner_claims = false;
}
