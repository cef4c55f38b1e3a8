// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Part of a link's round-trip time caused by own traffic: supplies the inputs of
 * state/rates/link_load.h. Links of one node often share an access link, so an own queue on one
 * link explains equal delay on the others. Called by probe.c and loss.c, control thread.
 */
#include "proto/measure/measure.h"

#include "proto/core.h"

/* Time for which an own queue of one link explains delay and loss of the others. */
#define FRESH_MS 1500
/* Bytes that count as a datagram, if the counters of a pair of lines are used. */
#define UNIT 64

static bool is_fresh(const struct link_load *l, mono_t now)
{
	return l->known && mono_sub_ms(now, l->at) < FRESH_MS;
}

/* Longest own queues on other links. */
static void load_of_site(const struct overlay *o, const struct peer *self, struct load_sample *s)
{
	mono_t now = overlay_now(o);

	/* Mostly there is none, and each answer would walk all peers. */
	if (!mono_before(now, o->queued_until))
		return;
	for (const struct peer *p = NULL; (p = peer_next(o, p));) {
		const struct link_load *l = &p->probe.load;

		if (p == self || !p->probe.up || !is_fresh(l, now))
			continue;
		if (l->forward.ours)
			s->site_forward_us =
				max_of(s->site_forward_us, min_of(l->queue_us, l->load_us));
		if (l->reverse.ours)
			s->site_return_us =
				max_of(s->site_return_us, min_of(l->reverse_us, l->load_us));
	}
}

/* With two lines at this node, data on the other line is not in the queue of the line in use. */
static void use_pair(const struct overlay *o, const struct peer *p, const struct msg_pong *m,
		     struct load_sample *s)
{
	if (o->n_lines == 1 || !p->lines.pair || !m->has_received)
		return;
	o->ops.line_traffic(o->arg, p->slot, p->lines.in_use, &s->tx_bytes, &s->rx_bytes);
	s->tx_datagrams = s->tx_bytes / UNIT;
	s->delivered = (uint32_t)(m->received / UNIT);
	s->epoch++; /* other counters */
}

void load_note(struct overlay *o, struct peer *p, const struct msg_pong *m, mono_t sent, mono_t rx,
	       uint32_t rtt_us)
{
	uint32_t held_us = (uint32_t)(m->held_ns / NS_PER_US);
	struct link_load *l = &p->probe.load;
	struct overlay_traffic t;
	struct load_sample s = { .rtt_us = rtt_us,
				 .forward_us = m->arrived_us - (uint32_t)(sent.ns / NS_PER_US),
				 .reverse_us =
					 (uint32_t)(rx.ns / NS_PER_US) - m->arrived_us - held_us,
				 .counted_us = m->arrived_us + held_us,
				 .delivered = m->link_rx,
				 .epoch = m->epoch };

	if (!o->ops.traffic || !rtt_us)
		return;
	t = overlay_traffic_of(o, p->slot);
	s.tx_datagrams = t.link_tx;
	s.tx_bytes = t.link_tx_bytes;
	s.rx_bytes = t.link_rx_bytes;
	use_pair(o, p, m, &s);
	load_of_site(o, p, &s);
	p->probe.filter.load_us = link_load_note(l, &s, overlay_now(o));
	if (l->forward.ours || l->reverse.ours)
		o->queued_until = mono_add_ms(overlay_now(o), FRESH_MS);
}

bool load_is_ours(const struct overlay *o, const struct peer *p)
{
	const struct link_load *l = &p->probe.load;
	mono_t now = overlay_now(o);

	/* The first delay of a new pair of lines may be that of a full line. */
	if (p->lines.pair &&
	    line_rate_was_full(&p->lines.pair[p->lines.in_use].rate, FRESH_MS, now))
		return true;
	return l->load_us && (l->forward.ours || l->reverse.ours) && is_fresh(l, now);
}
