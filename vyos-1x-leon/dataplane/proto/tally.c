// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares what one end counted as sent with what the other counted as received, of datagrams that
 * carry data: on a link between its two nodes, on a path between its source and its destination.
 * Pure: counters and times come as arguments. Called by loss.c on the control thread.
 * doc/decisions/021 says why real data is counted and how counting errs.
 *
 * A PONG brings the far end's counter. It is compared with the own counter as it was when the PING
 * before was sent: what was sent before that must have arrived when this PING did, if it ever does.
 * What the far end has besides was sent later; it is carried over to the next window. So losses are
 * found late rather than wrongly: of all that was called lost, no datagram arrived.
 */
#include "proto/tally.h"

#include "base/defs.h"

#define MARK_MS	    40	 /* marks of the own counter are so far apart at least */
#define DEAD_MS	    200	 /* a window in which nothing arrived is judged so early, */
#define DEAD_SENT   5	 /* of so many */
#define WINDOW_MS   500	 /* any other after so long, */
#define WINDOW_SENT 20	 /* with so many; that is 5 % for each lost */
#define STALE_MS    5000 /* fewer in so long a time, of which some arrived, say nothing */
#define LOSS_BAD_PM 100
#define BAD_ENOUGH  2
#define GOOD_ENOUGH 6 /* windows in a row without loss, although in doubt */
#define HOLD_MIN_MS (60 * 1000)
#define HOLD_MAX_MS (3600 * 1000)

uint32_t tally_mark(struct tally *t, uint32_t sent, mono_t now)
{
	if (mono_is_never(t->marked) || mono_sub_ms(now, t->marked) >= MARK_MS) {
		t->mark_before = mono_is_never(t->marked) ? sent : t->mark;
		t->mark = sent;
		t->marked = now;
	}
	return t->mark_before;
}

void tally_restart(struct tally *t)
{
	t->based = false;
	t->marked = MONO_NEVER;
	t->bad = t->good = 0;
}

/* early: what the far end may have counted of what is not in a->sent. */
static void begin_window(struct tally *t, const struct tally_answer *a, int32_t early, mono_t now)
{
	t->early = min_of(max_of(early, 0), (int32_t)(a->sent_now - a->sent));
	t->epoch = a->epoch;
	t->tx = a->sent;
	t->tx_now = a->sent_now;
	t->rx = a->received;
	t->since = now;
	t->based = true;
}

/* What a window says: how much worse it makes things, 0 where it is good. */
static unsigned judge(struct tally *t, uint32_t sent, uint32_t lost, bool dead)
{
	t->sent += sent;
	t->lost += lost;
	t->loss_pm = (uint16_t)((uint64_t)lost * 1000 / sent);
	if (dead)
		return 2;
	return t->loss_pm >= LOSS_BAD_PM;
}

/* The longer it goes on, the longer until it is tried again. */
static void hold(struct tally_hold *h, mono_t now)
{
	bool again = !mono_is_never(h->until) && mono_sub_ms(now, h->until) < 2 * h->ms;

	h->ms = again ? min_of(h->ms * 2, (int64_t)HOLD_MAX_MS) : (int64_t)HOLD_MIN_MS;
	h->until = mono_add_ms(now, h->ms);
}

void tally_hold(struct tally_hold *h, mono_t now)
{
	if (tally_holds(h, now))
		h->until = mono_add_ms(now, h->ms);
	else
		hold(h, now);
}

bool tally_holds(const struct tally_hold *h, mono_t now)
{
	return !mono_is_never(h->until) && mono_before(now, h->until);
}

static void conclude(struct tally *t, unsigned worse, mono_t now)
{
	if (worse && !t->bad)
		t->bad_since = now;
	t->bad = worse ? t->bad + worse : 0;
	t->good = worse ? 0 : t->good + 1;
}

enum tally_verdict tally_verdict(const struct tally *t)
{
	if (t->bad >= BAD_ENOUGH)
		return TALLY_LOSES;
	return t->good >= GOOD_ENOUGH ? TALLY_WELL : TALLY_OPEN;
}

bool tally_take(struct tally *t, const struct tally_answer *a, mono_t now)
{
	int32_t sent = (int32_t)(a->sent - t->tx), got = (int32_t)(a->received - t->rx), missing;
	int64_t age_ms = mono_sub_ms(now, t->since);
	unsigned was_bad = t->bad;
	bool dead;

	/* Another run of the far end, or of its memory of us, counts from somewhere else. */
	if (!t->based || a->epoch != t->epoch || sent < 0 || got < 0) {
		begin_window(t, a, INT32_MAX, now);
		return false;
	}
	missing = sent - got - t->early;
	/* Sent since the window began, all of them. */
	dead = got == 0 && (int32_t)(a->sent - t->tx_now) >= DEAD_SENT && age_ms >= DEAD_MS;
	if (!dead && (age_ms < WINDOW_MS || sent < WINDOW_SENT)) {
		if (age_ms >= STALE_MS && (got || !sent))
			begin_window(t, a, -missing, now);
		return false;
	}
	begin_window(t, a, -missing, now);
	conclude(t, judge(t, (uint32_t)sent, (uint32_t)max_of(missing, 0), dead), now);
	/* The next window begins afresh: datagrams that were lost in the bad windows must not
	 * be counted again when the rest of what was under way has arrived. */
	if (was_bad && !t->bad)
		begin_window(t, a, INT32_MAX, now);
	return true;
}
