// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loop-guard state machine. Pure; control thread. The state is a function of who was heard within
 * the last GUARD_SILENT_INTERVALS intervals: a lower node-id blocks, a higher one is only noted.
 */
#include "daemon/host/loop_guard.h"

const char *guard_state_name(enum guard_state s)
{
	switch (s) {
	case GUARD_OFF:
		return "off";
	case GUARD_CLEAR:
		return "clear";
	case GUARD_SHARED:
		return "shared";
	case GUARD_BLOCKED:
		return "blocked";
	}
	return "unknown";
}

void guard_init(struct guard *g, node_id_t self, bool enabled, uint32_t interval_ms, mono_t now)
{
	*g = (struct guard){
		.state = enabled ? GUARD_CLEAR : GUARD_OFF,
		.interval_ms = interval_ms,
		.self = self,
		.since = now,
	};
}

static bool is_recent(const struct guard *g, mono_t heard, mono_t now)
{
	int64_t silence_ms = (int64_t)GUARD_SILENT_INTERVALS * g->interval_ms;

	return !mono_is_never(heard) && mono_sub_ns(now, heard) <= silence_ms * NS_PER_MS;
}

/* Derives the state from what was heard. */
static unsigned settle(struct guard *g, mono_t now)
{
	enum guard_state state = GUARD_CLEAR;

	if (is_recent(g, g->lower_heard, now))
		state = GUARD_BLOCKED;
	else if (is_recent(g, g->higher_heard, now))
		state = GUARD_SHARED;
	if (state == g->state)
		return GUARD_NO_NEWS;
	g->state = state;
	g->since = now;
	if (state == GUARD_BLOCKED)
		g->n_blocked++;
	return GUARD_STATE_CHANGED;
}

unsigned guard_configure(struct guard *g, bool enabled, uint32_t interval_ms, mono_t now)
{
	unsigned news = GUARD_NO_NEWS;

	g->interval_ms = interval_ms;
	if (enabled)
		return guard_tick(g, now) | (g->state == GUARD_OFF ? settle(g, now) : 0);
	g->lower_heard = g->higher_heard = g->own_heard = MONO_NEVER;
	if (g->local_loop)
		news |= GUARD_LOOP_ENDS;
	g->local_loop = false;
	if (g->state != GUARD_OFF) {
		g->state = GUARD_OFF;
		g->since = now;
		news |= GUARD_STATE_CHANGED;
	}
	return news;
}

static unsigned own_frame(struct guard *g, mono_t now)
{
	g->own_heard = now;
	if (g->local_loop)
		return GUARD_NO_NEWS;
	g->local_loop = true;
	return GUARD_LOOP_BEGINS;
}

/* Several nodes on one LAN take turns in being new; greeting each would be a storm of its own. */
static bool may_greet(struct guard *g, mono_t now)
{
	if (!mono_is_never(g->newcomer_at) && mono_sub_ms(now, g->newcomer_at) < g->interval_ms)
		return false;
	g->newcomer_at = now;
	return true;
}

unsigned guard_heard(struct guard *g, node_id_t node, mono_t now)
{
	mono_t *heard = node < g->self ? &g->lower_heard : &g->higher_heard;
	node_id_t *who = node < g->self ? &g->lower : &g->higher;
	unsigned news = GUARD_NO_NEWS;

	if (g->state == GUARD_OFF)
		return GUARD_NO_NEWS;
	g->n_heard++;
	if (node == g->self)
		return own_frame(g, now);
	if ((*who != node || !is_recent(g, *heard, now)) && may_greet(g, now))
		news |= GUARD_NEWCOMER;
	*who = node;
	*heard = now;
	return news | settle(g, now);
}

unsigned guard_tick(struct guard *g, mono_t now)
{
	unsigned news = GUARD_NO_NEWS;

	if (g->state == GUARD_OFF)
		return GUARD_NO_NEWS;
	if (g->local_loop && !is_recent(g, g->own_heard, now)) {
		g->local_loop = false;
		news |= GUARD_LOOP_ENDS;
	}
	return news | settle(g, now);
}

node_id_t guard_other(const struct guard *g)
{
	if (g->state == GUARD_BLOCKED)
		return g->lower;
	if (g->state == GUARD_SHARED)
		return g->higher;
	return NODE_ID_NONE;
}
