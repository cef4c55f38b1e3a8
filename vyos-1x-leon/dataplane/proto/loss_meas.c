// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the data datagrams that one end sent with the datagrams that the other end received, on
 * a link or on a path. Pure: counters and times are arguments. Called by loss.c on the control
 * thread. doc/decisions/021 has the reasons for counting real data and the errors of the method.
 *
 * A PONG carries the far end's counter. The counter is compared with the own counter at the
 * previous PING. Datagrams sent before the previous PING arrive before the present PING, or are
 * lost. Additional datagrams at the far end were sent later and count for the next window. Losses
 * are therefore detected late rather than wrongly: no datagram counted as lost arrives later.
 */
#include "proto/loss_meas.h"

#include "base/defs.h"

#define MARK_MS	    40	 /* minimum distance of marks of the own counter */
#define DEAD_MS	    200	 /* a window without any arrival is evaluated after this time */
#define DEAD_SENT   5	 /* and at least this number of sent datagrams */
#define WINDOW_MS   500	 /* any other window is evaluated after this time */
#define WINDOW_SENT 20	 /* and at least this number of datagrams; 5 % per lost datagram */
#define STALE_MS    5000 /* a window with fewer datagrams and some arrivals expires */
#define LOSS_BAD_PM 100
#define BAD_ENOUGH  2
#define GOOD_ENOUGH 6 /* good windows in a row to end a doubt */
#define HOLD_MIN_MS (60 * 1000)
#define HOLD_MAX_MS (3600 * 1000)

uint32_t loss_meas_mark(struct loss_meas *t, uint32_t sent, mono_t now)
{
	if (!mono_is_recent(t->marked, MARK_MS, now)) {
		t->mark_before = mono_is_never(t->marked) ? sent : t->mark;
		t->mark = sent;
		t->marked = now;
	}
	return t->mark_before;
}

void loss_meas_restart(struct loss_meas *t)
{
	t->based = false;
	t->marked = MONO_NEVER;
	t->bad = t->good = 0;
}

/* early: upper bound of datagrams in the far end's counter that are not in a->sent. */
static void begin_window(struct loss_meas *t, const struct loss_meas_answer *a, int32_t early,
			 mono_t now)
{
	/* Negative if the kernel refused datagrams that were counted before. */
	int32_t ahead = (int32_t)(a->sent_now - a->sent);

	t->early = min_of(max_of(early, 0), ahead);
	t->epoch = a->epoch;
	t->tx = a->sent;
	t->tx_now = a->sent + (uint32_t)max_of(ahead, 0);
	t->rx = a->received;
	t->since = now;
	t->based = true;
}

/* Weight of a window: 0 if good, else the degree of loss. */
static unsigned judge(struct loss_meas *t, uint32_t sent, uint32_t lost, bool dead)
{
	t->sent += sent;
	t->lost += lost;
	t->loss_pm = (uint16_t)((uint64_t)lost * 1000 / sent);
	if (dead)
		return 2;
	return t->loss_pm >= LOSS_BAD_PM;
}

/* Exponential back-off of the next attempt. */
static void hold(struct loss_meas_hold *h, mono_t now)
{
	bool again = mono_is_recent(h->until, 2 * h->ms, now);

	h->ms = again ? min_of(h->ms * 2, (int64_t)HOLD_MAX_MS) : (int64_t)HOLD_MIN_MS;
	h->until = mono_add_ms(now, h->ms);
}

void loss_meas_hold(struct loss_meas_hold *h, mono_t now)
{
	if (loss_meas_holds(h, now))
		h->until = mono_add_ms(now, h->ms);
	else
		hold(h, now);
}

bool loss_meas_holds(const struct loss_meas_hold *h, mono_t now)
{
	return !mono_is_never(h->until) && mono_before(now, h->until);
}

static void conclude(struct loss_meas *t, unsigned worse, mono_t now)
{
	if (worse && !t->bad)
		t->bad_since = now;
	t->bad = worse ? t->bad + worse : 0;
	t->good = worse ? 0 : t->good + 1;
}

enum loss_meas_verdict loss_meas_verdict(const struct loss_meas *t)
{
	if (t->bad >= BAD_ENOUGH)
		return LOSS_MEAS_BAD;
	return t->good >= GOOD_ENOUGH ? LOSS_MEAS_GOOD : LOSS_MEAS_OPEN;
}

bool loss_meas_add(struct loss_meas *t, const struct loss_meas_answer *a, mono_t now)
{
	int32_t sent = (int32_t)(a->sent - t->tx), got = (int32_t)(a->received - t->rx), missing;
	int64_t age_ms = mono_sub_ms(now, t->since);
	unsigned was_bad = t->bad;
	bool dead;

	/* A restart of the far end, or a new counter for this node, begins at another value. */
	if (!t->based || a->epoch != t->epoch || sent < 0 || got < 0) {
		begin_window(t, a, INT32_MAX, now);
		return false;
	}
	missing = sent - got - t->early;
	/* Number of datagrams sent in the window. */
	dead = got == 0 && (int32_t)(a->sent - t->tx_now) >= DEAD_SENT && age_ms >= DEAD_MS;
	if (!dead && (age_ms < WINDOW_MS || sent < WINDOW_SENT)) {
		if (age_ms >= STALE_MS && (got || !sent))
			begin_window(t, a, -missing, now);
		return false;
	}
	begin_window(t, a, -missing, now);
	conclude(t, judge(t, (uint32_t)sent, (uint32_t)max_of(missing, 0), dead), now);
	/* The next window starts with a clean state: datagrams lost in bad windows must not be
	 * counted again when the remaining ones arrive. */
	if (was_bad && !t->bad)
		begin_window(t, a, INT32_MAX, now);
	return true;
}
