// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Common parts of the measurements of a direct link: a PING and its timeout, and the link in the
 * own row of the latency database. Called by the other files of measure/ and by senders of PINGs;
 * control thread. Protocol 4.7.
 */
#include "proto/measure/measure.h"

#include "proto/core.h"
#include "proto/share/share.h"

#define RTO_MIN_US   40000
#define RTO_MAX_US   15000000
#define RTO_FIRST_US 1000000 /* timeout without a known round-trip time */
#define RTO_SLACK_US 10000

int64_t link_timeout_us(const struct link_filter *f)
{
	int64_t us = f->srtt_us + 4 * f->var_us + RTO_SLACK_US;

	if (f->n_samples == 0)
		return RTO_FIRST_US;
	return min_of(max_of(us, (int64_t)RTO_MIN_US), (int64_t)RTO_MAX_US);
}

void link_set_misses(struct overlay *o, struct peer *p, uint32_t n)
{
	o->n_missing -= p->probe.misses > 0;
	o->n_missing += n > 0;
	p->probe.misses = n;
}

bool link_misses_many(const struct overlay *o, const struct peer *p)
{
	return p->probe.misses >= o->conf->dead_multiplier + link_filter_chance(&p->probe.filter);
}

bool link_is_used(const struct overlay *o, const struct peer *p)
{
	return mono_before(overlay_now(o), p->probe.used_until);
}

void link_ping(struct overlay *o, struct peer *p, const struct via *v, uint32_t id, uint16_t size)
{
	struct msg m = { .type = MSG_PING };
	size_t bare = LEON_HDR_LEN(v->n_hops) + ENVELOPE_LEN + MSG_PING_LEN +
		      (keyring_sealed(o->keys) ? AEAD_TAG_LEN : 0);

	m.ping.id = id;
	m.ping.digest = nodedb_digest(o->nodes);
	m.ping.row_seq = rows_seq_for(o, p);
	m.ping.guard = o->guard_number;
	if (unlikely(o->n_lines > 1) && v->n_hops == 1 &&
	    peer_announces(o, p, RECORD_TAKES_LINES)) {
		m.ping.line = (uint8_t)(v->to.line + 1);
		bare += MSG_PING_LINE_LEN;
	}
	m.ping.size = (uint16_t)max_of((size_t)size, bare);
	peer_send_via(o, p, v, &m, size);
}

/* Returns the timeout of the oldest unanswered PING. */
void link_expect(struct peer *p)
{
	mono_t at = MONO_NEVER;

	for (unsigned i = 0; i < PROBES_OUT; i++) {
		const struct probe *pr = &p->probe.out[i];

		if (pr->id && !pr->missed)
			at = mono_earlier(at, pr->deadline);
	}
	p->due[DUE_ANSWER] = at;
}

void link_remember(struct overlay *o, struct peer *p, uint32_t id, uint16_t size)
{
	struct probe *pr = &p->probe.out[p->probe.next_out++ % PROBES_OUT];
	int64_t wait_us = link_timeout_us(&p->probe.filter);

	/* Large datagrams take longer to serialise, and their loss is not urgent. */
	*pr = (struct probe){ .id = id, .size = size, .sent = overlay_clock(o) };
	pr->data_tx = loss_link_mark(o, p);
	pr->backlog_us = line_rates_mark(o, p, p->lines.in_use);
	segmentation_ping(o, p, pr);
	pr->deadline = mono_add_us(overlay_now(o), size ? 2 * wait_us : wait_us);
	link_expect(p);
}

/* In a large overlay, each node would report the loss of one PING several times a minute. On a link
 * without data, such a loss becomes known by the second unanswered PING, or by the first data. */
static uint16_t known_loss_pm(const struct overlay *o, const struct peer *p)
{
	uint16_t known_pm = latdb_get(o->lat, SLOT_SELF, p->slot).loss_pm;
	uint16_t pm = (uint16_t)max_of(p->probe.filter.loss_pm, (uint32_t)p->loss.link_pm);

	if (lazy_permitted(o) && !link_is_used(o, p) && latdb_loss_is_of_one(known_pm, pm))
		return known_pm < pm ? known_pm : pm;
	return pm;
}

void link_store(struct overlay *o, struct peer *p)
{
	const struct link_filter *f = &p->probe.filter;
	int64_t rtt_us = max_of(f->now_us, p->probe.late_us);
	struct lat_entry e = {
		.rtt_us = (uint32_t)min_of(rtt_us, (int64_t)UINT32_MAX),
		.long_term_us = (uint32_t)min_of(f->long_term_us, (int64_t)UINT32_MAX),
		.var_us = (uint32_t)min_of(f->variation_us, (int64_t)UINT32_MAX),
		.loss_pm = known_loss_pm(o, p),
		.mtu = p->pmtu.mtu,
		.up = p->probe.up,
		.silent = p->probe.silent || p->loss.link_pm,
	};

	if (!latdb_set(o->lat, p->slot, &e))
		return;
	schedule_row(o, ROW_LATER);
	schedule_paths_later(o);
}
