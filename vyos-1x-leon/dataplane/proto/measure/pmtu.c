// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Path MTU discovery of each direct link by probing (after RFC 8899): padded PINGs with DF set. The
 * search tests common sizes first, then bisects. A size fails if two PINGs stay unanswered while
 * small PINGs are answered. The upward search is repeated periodically; a keepalive of the current
 * size detects a decrease. Sizes are UDP payloads in bytes. Control thread. Protocol 4.7.
 */
#include "proto/measure/measure.h"

#include "proto/core.h"

#define TRIES		  2
#define BLACKHOLE_TRIES	  3	 /* lost keepalives before the size is given up */
#define SEARCH_MS	  600000 /* interval of the upward search */
#define KEEPALIVE_MS	  60000
#define KEEPALIVE_USED_MS 5000 /* while data flows */
#define RETRY_MS	  500
#define FORGOTTEN	  3  /* timeouts of a small PING; a large one has two */
#define FINE		  16 /* resolution of the bisection */

/* Payloads of links with an MTU of 1280, 1420 (WireGuard), 1460 (GCP), 1480, 1492 (PPPoE), 1500,
 * 1600, 8500, 9000 and 9001, for IPv6 (48 bytes of headers) and IPv4 (28). */
static const uint16_t common[] = { 1232, 1252, 1372, 1392, 1412, 1432, 1444, 1452,
				   1464, 1472, 1552, 1572, 8452, 8472, 8952, 8972 };
#define ORDINARY 1472 /* passes nearly all links */
#define BEYOND	 1552 /* passes hardly any link; such a link may pass far more */

/* Returns the next size to test, above lo and below hi (0: unbounded); 0: the search is
 * complete. */
static uint16_t next_size(uint16_t lo, uint16_t hi)
{
	unsigned first = 0, n = 0;

	if (lo < ORDINARY && (hi == 0 || hi > ORDINARY))
		return ORDINARY;
	if (lo >= ORDINARY && lo < BEYOND)
		return hi == 0 || hi > BEYOND ? BEYOND : 0;
	for (unsigned i = 0; i < array_size(common); i++) {
		if (common[i] <= lo || (hi && common[i] >= hi))
			continue;
		first = n ? first : i;
		n++;
	}
	if (n)
		return common[first + n / 2];
	/* Tunnels produce any size below Ethernet's. Above it a resolution of one eighth suffices:
	 * a failed size costs a second without black-hole detection. */
	if (hi == 0 || hi <= lo + (lo < ORDINARY ? FINE : lo / 8))
		return 0;
	return (uint16_t)(lo + (hi - lo) / 2);
}

static mono_t in_use_or_not(struct overlay *o, const struct peer *p)
{
	int64_t ms = link_is_used(o, p) ? KEEPALIVE_USED_MS : overlay_stretch(o, KEEPALIVE_MS);

	return overlay_in(o, ms * 3 / 4, ms);
}

/* Schedules the next test; a link that is down is not tested. */
static void wake(struct peer *p, mono_t at)
{
	p->due[DUE_PMTU] = p->probe.up ? at : MONO_NEVER;
}

void pmtu_reset(struct overlay *o, struct peer *p)
{
	struct pmtu *u = &p->pmtu;
	int64_t wait_ms;

	/* After an outage the previous size most likely passes again; the keepalive verifies
	 * this. */
	*u = (struct pmtu){ .mtu = u->mtu ? u->mtu : MTU_BASE };
	/* Jitter: large datagrams on all links of all nodes at once would be noticeable. After a
	 * partition of a large overlay, only links with data are tested soon. */
	wait_ms = u->mtu > MTU_BASE && lazy_permitted(o)
			  ? overlay_stretch(o, KEEPALIVE_USED_MS)
			  : overlay_stretch(o, overlay_stretch(o, 200));
	wake(p, overlay_in(o, wait_ms, 3 * wait_ms));
	u->search_at = overlay_in(o, SEARCH_MS * 3 / 4, SEARCH_MS);
}

uint16_t pmtu_transport_changed(struct overlay *o, struct peer *p, uint16_t mtu)
{
	uint16_t before = p->pmtu.mtu;

	p->pmtu.mtu = mtu;
	pmtu_reset(o, p);
	return before;
}

static void test(struct overlay *o, struct peer *p, uint16_t size, bool keepalive)
{
	uint32_t id = rtt_new_id();
	struct via v;

	p->pmtu.size = size;
	p->pmtu.keepalive = keepalive;
	p->pmtu.in_flight = true;
	/* The answer or its timeout selects the next step before that time, unless later PINGs or a
	 * new session replaced the entry of this PING. */
	p->due[DUE_PMTU] =
		mono_add_us(overlay_now(o), FORGOTTEN * link_timeout_us(&p->probe.filter));
	if (!via_direct(p, &v))
		return;
	link_remember(o, p, id, size);
	link_ping(o, p, &v, id, size);
}

void pmtu_tick(struct overlay *o, struct peer *p, mono_t now)
{
	struct pmtu *u = &p->pmtu;
	uint16_t size;

	if (!schedule_take(p, DUE_PMTU, now))
		return;
	if (u->in_flight) {
		pmtu_miss(o, p, u->size);
		return;
	}
	if (u->size && u->tries) { /* retry */
		test(o, p, u->size, u->keepalive);
		return;
	}
	if (!mono_before(now, u->search_at)) {
		u->fails = 0;
		u->search_at = overlay_in(o, SEARCH_MS * 3 / 4, SEARCH_MS);
	}
	size = next_size(u->mtu, u->fails);
	test(o, p, size ? size : u->mtu, !size);
}

/* Adopts a size; the search continues from there. */
static void settle(struct overlay *o, struct peer *p, uint16_t mtu)
{
	struct pmtu *u = &p->pmtu;

	if (mtu == u->mtu)
		return;
	u->mtu = mtu;
	overlay_emit(o, EV_LINK_MTU, p->id, NODE_ID_NONE, mtu, NULL);
	link_store(o, p);
	schedule_snapshot(o);
}

static void schedule(struct overlay *o, struct peer *p)
{
	struct pmtu *u = &p->pmtu;

	u->size = 0;
	u->tries = 0;
	u->in_flight = false;
	if (next_size(u->mtu, u->fails))
		wake(p, overlay_in(o, overlay_stretch(o, 20), overlay_stretch(o, 100)));
	else
		wake(p, in_use_or_not(o, p));
}

void pmtu_used(struct overlay *o, struct peer *p)
{
	/* Advances only a distant test: this is called as long as data flows. */
	if (mono_is_never(p->due[DUE_PMTU]) || p->pmtu.in_flight ||
	    mono_sub_ms(p->due[DUE_PMTU], overlay_now(o)) <= KEEPALIVE_USED_MS)
		return;
	wake(p, overlay_in(o, 100, KEEPALIVE_USED_MS));
	schedule_arm(p);
}

void pmtu_answer(struct overlay *o, struct peer *p, uint16_t size)
{
	struct pmtu *u = &p->pmtu;

	if (size != u->size)
		return;
	if (size > u->mtu)
		settle(o, p, size);
	schedule(o, p);
}

/* The previous size fails now: returns to the base size and searches upward. */
static void fall_back(struct overlay *o, struct peer *p)
{
	struct pmtu *u = &p->pmtu;

	u->fails = u->mtu;
	if (u->mtu > MTU_BASE)
		settle(o, p, MTU_BASE);
	else if (u->mtu > LEON_MTU_MIN)
		settle(o, p, LEON_MTU_MIN);
	u->search_at = overlay_in(o, SEARCH_MS * 3 / 4, SEARCH_MS);
}

void pmtu_miss(struct overlay *o, struct peer *p, uint16_t size)
{
	struct pmtu *u = &p->pmtu;

	if (size != u->size)
		return;
	u->in_flight = false;
	/* While small PINGs stay unanswered too, the loss of a large one proves nothing. */
	if (p->probe.up && p->probe.misses == 0)
		u->tries++;
	else
		u->tries = 1;
	if (u->tries < (u->keepalive ? BLACKHOLE_TRIES : TRIES)) {
		wake(p, overlay_in(o, RETRY_MS / 2, RETRY_MS));
		return;
	}
	if (u->keepalive)
		fall_back(o, p);
	else
		u->fails = size;
	schedule(o, p);
}
