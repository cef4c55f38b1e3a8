// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measurement of direct links: when each peer is pinged, which answer belongs to which ping, what
 * counts as lost, when a link is down and up. Results go into the own row of the latency
 * database. Control thread. Protocol 4.7, 6.
 *
 * A link is silent after dead-multiplier probes in a row went unanswered, and not before as many
 * fast intervals have passed since the first of them. A failure and a round-trip time that jumps look
 * the same then, so the link becomes dear at once, as dear as the age of what is unanswered makes
 * likely (and is called silent where such an age is unusual for it), and traffic goes where it is cheaper. Down it is only after a longer silence. A late answer
 * is an answer; its time is a valid sample. doc/decisions/022.
 */
#include <string.h>

#include "proto/core.h"

#define RTO_MIN_US   40000
#define RTO_MAX_US   15000000
#define RTO_FIRST_US 1000000 /* while no round-trip time is known */
#define RTO_SLACK_US 10000
#define BURST	     4
/* What an answer is late beyond what is usual for its link counts so often more. */
#define LATE_FACTOR	3
#define LATE_SELDOM_PPM 5000
#define SILENCE_MAX_MS	30000 /* whatever the link showed before */
/* As many probes are under way at most: PROBES_OUT must remember them until they are answered. */
#define PROBES_PER_RTT 8

void probe_init(struct overlay *o, struct peer *p)
{
	p->probe = (struct probing){ 0 };
	link_filter_reset(&p->probe.filter, o->conf->lasting_s);
	pmtu_reset(o, p);
}

/* What is unanswered now is so old; 0 where nothing is amiss. */
static int64_t missing_us(const struct probing *pr, mono_t now)
{
	return pr->misses ? mono_sub_us(now, pr->missing) : 0;
}

/* Probes do not follow each other faster than this, however slow the link is. */
static int64_t least_gap_ms(const struct probing *pr, mono_t now)
{
	int64_t us = max_of(pr->filter.srtt_us, missing_us(pr, now));

	return us / PROBES_PER_RTT / 1000;
}

uint32_t probe_interval_ms(const struct overlay *o, const struct peer *p, mono_t now)
{
	const struct probing *pr = &p->probe;
	int64_t fast_ms = o->conf->fast_interval_ms, ms;

	if (!pr->up)
		return pr->wait_ms ? pr->wait_ms : (uint32_t)(2 * fast_ms);
	ms = overlay_stretch(o, o->conf->interval_ms);
	if (pr->burst)
		ms = min_of(ms, overlay_stretch(o, fast_ms));
	if (mono_before(now, pr->used_until))
		ms = min_of(ms, fast_ms);
	if (pr->misses)
		ms = min_of(ms, fast_ms / 2);
	ms = max_of(ms, least_gap_ms(pr, now));
	return (uint32_t)max_of(ms, (int64_t)1);
}

static int64_t timeout_us(const struct link_filter *f)
{
	int64_t us = f->srtt_us + 4 * f->var_us + RTO_SLACK_US;

	if (f->n_samples == 0)
		return RTO_FIRST_US;
	return min_of(max_of(us, (int64_t)RTO_MIN_US), (int64_t)RTO_MAX_US);
}

/* --- sending --- */

void probe_send(struct overlay *o, struct peer *p, const struct via *v, uint32_t id, uint16_t size)
{
	struct msg m = { .type = MSG_PING };
	size_t bare = LEON_HDR_LEN(v->n_hops) + ENVELOPE_LEN + 19 +
		      (keyring_sealed(o->keys) ? AEAD_TAG_LEN : 0);

	m.ping.id = id;
	m.ping.digest = nodedb_digest(o->nodes);
	m.ping.row_seq = latdb_row_seq(o->lat, SLOT_SELF);
	m.ping.size = (uint16_t)max_of((size_t)size, bare);
	peer_send_via(o, p, v, &m, size);
}

void probe_remember(struct overlay *o, struct peer *p, uint32_t id, uint16_t size)
{
	struct probe *pr = &p->probe.out[p->probe.next_out++ % PROBES_OUT];
	int64_t wait_us = timeout_us(&p->probe.filter);

	/* Large datagrams take longer to serialise, and their loss need not be known quickly. */
	*pr = (struct probe){ .id = id, .size = size, .sent = overlay_clock(o) };
	pr->data_tx = loss_link_mark(o, p);
	pr->deadline = mono_add_us(overlay_now(o), size ? 2 * wait_us : wait_us);
}

/* While the link is down or silent the peer may be at any of its addresses; one id, so one sample. */
static void send_to_locators(struct overlay *o, struct peer *p, uint32_t id)
{
	const struct node *n = peer_node(o, p);

	for (unsigned i = 0; n && n->has_record && i < n->rec.n_locators; i++) {
		struct via v = { .to = n->rec.locator[i], .n_hops = 1, .hop = { p->id } };

		if (!endpoint_equal(&v.to, &p->ep) && endpoint_may_ask(o, n, &v.to))
			probe_send(o, p, &v, id, 0);
	}
}

static void send_probe(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	uint32_t id = rtt_new_id();
	struct via v;

	pr->sent_at = overlay_now(o);
	pr->tx++;
	probe_remember(o, p, id, 0);
	if (via_direct(p, &v))
		probe_send(o, p, &v, id, 0);
	if (!pr->up || pr->silent)
		send_to_locators(o, p, id);
}

static void schedule(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	uint32_t ms = probe_interval_ms(o, p, overlay_now(o));

	pr->next_at = overlay_in(o, ms * 9 / 10, ms * 11 / 10);
	if (pr->up)
		pr->burst -= pr->burst > 0;
	else
		pr->wait_ms = (uint32_t)min_of((int64_t)ms * 2, overlay_stretch(o, BACKOFF_MAX_MS));
}

void probe_soon(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	mono_t now = overlay_now(o);
	mono_t gap = mono_add_ms(pr->sent_at, o->conf->fast_interval_ms / 2);

	if (!p->cur)
		return;
	if (!pr->up)
		pr->wait_ms = 0;
	pr->next_at = earlier(pr->next_at, mono_before(now, gap) ? gap : now);
	peer_arm(p);
}

void probe_session_up(struct overlay *o, struct peer *p)
{
	memset(p->probe.out, 0, sizeof(p->probe.out));
	probe_soon(o, p);
}

/* --- up and down --- */

void probe_store(struct overlay *o, struct peer *p)
{
	const struct link_filter *f = &p->probe.filter;
	int64_t rtt_us = max_of(f->now_us, p->probe.late_us);
	struct lat_entry e = {
		.rtt_us = (uint32_t)min_of(rtt_us, (int64_t)UINT32_MAX),
		.lasting_us = (uint32_t)min_of(f->lasting_us, (int64_t)UINT32_MAX),
		.var_us = (uint32_t)min_of(f->dev_us, (int64_t)UINT32_MAX),
		.loss_pm = (uint16_t)max_of(f->loss_pm, (uint32_t)p->loss.link_pm),
		.mtu = p->pmtu.mtu,
		.up = p->probe.up,
		.silent = p->probe.silent || p->loss.link_pm,
	};

	if (!latdb_set(o->lat, p->slot, &e))
		return;
	share_dirty(o, SHARE_LATER);
	route_later(o);
}

static void link_up(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;

	pr->up = true;
	pr->was_up = true;
	loss_link_up(p);
	pr->up_since = overlay_now(o);
	pr->misses = 0;
	pr->burst = BURST;
	pr->wait_ms = 0;
	pmtu_reset(o, p);
	probe_store(o, p);
	overlay_emit(o, EV_LINK_UP, p->id, NODE_ID_NONE, 0, NULL);
	share_dirty(o, SHARE_SOON);
	route_changed(o);
	route_later(o);
}

static void link_down(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;

	/* An outage is not loss: `up` says it, and the path comes back without a minute of
	 * paying for the probes that found it. */
	pr->filter.loss_pm = pr->loss_before;
	pr->up = false;
	pr->late_us = 0;
	pr->silent = false;
	pr->answers = 0;
	pr->misses = 0;
	pr->wait_ms = 0;
	pr->next_at = overlay_in(o, o->conf->fast_interval_ms / 2, o->conf->fast_interval_ms);
	probe_store(o, p);
	overlay_emit(o, EV_LINK_DOWN, p->id, NODE_ID_NONE, 0, NULL);
	share_dirty(o, SHARE_NOW);
	route_changed_now(o);
	route_now(o);
}

void probe_link_lost(struct overlay *o, struct peer *p)
{
	if (!p->probe.up)
		return;
	p->probe.up = false;
	p->probe.late_us = 0;
	p->probe.silent = false;
	probe_store(o, p);
	overlay_emit(o, EV_LINK_DOWN, p->id, NODE_ID_NONE, 0, NULL);
}

/* --- silence --- */

/* A link that is slow at times is given more time before it counts as down. */
static int64_t down_after_us(const struct overlay *o, const struct probing *pr)
{
	int64_t ms = (int64_t)o->conf->dead_multiplier * o->conf->interval_ms;

	ms = max_of(ms, (int64_t)pr->filter.peak.value * 2 / 1000);
	return min_of(ms, (int64_t)SILENCE_MAX_MS) * 1000;
}

/* Round-trip times up to this are nothing unusual for the link, by what it showed for long. */
static int64_t usual_us(const struct link_filter *f)
{
	return f->lasting_us + 2 * f->dev_us;
}

/*
 * What the round trip is likely to be, where an answer is missing for so long: that long and what
 * the link varies; and what is beyond the usual counts several times, since it may be a failure. So
 * a quiet link costs four times the age within the time of three probes, and one that is as slow as that
 * now and then costs the age. The row is renewed when the age has caught up with it.
 */
static int64_t late_cost_us(const struct link_filter *f, int64_t age_us)
{
	int64_t beyond = max_of(age_us - usual_us(f), (int64_t)0);

	return max_of(age_us + f->dev_us + LATE_FACTOR * beyond, f->now_us);
}

/* Probes in a row are unanswered, the first of them is `age_us` old. */
static void silent(struct overlay *o, struct peer *p, int64_t age_us)
{
	struct probing *pr = &p->probe;

	if (age_us >= down_after_us(o, pr)) {
		link_down(o, p);
		return;
	}
	if (pr->late_us && age_us < pr->late_us)
		return;
	pr->late_us = late_cost_us(&pr->filter, age_us);
	if (age_us > usual_us(&pr->filter)) {
		pr->silences += !pr->silent;
		pr->silent = true;
		share_dirty(o, SHARE_NOW);
	}
	probe_store(o, p);
	route_now(o);
}

/* An answer at last. */
static void speaks_again(struct overlay *o, struct peer *p)
{
	struct probing *pr = &p->probe;
	bool was_silent = pr->silent;

	/* An outage is not loss, and a jump even less. */
	pr->filter.loss_pm = min_of(pr->filter.loss_pm, pr->loss_before);
	pr->late_us = 0;
	pr->silent = false;
	pr->burst = BURST; /* the filter settles soon */
	probe_store(o, p);
	if (was_silent)
		share_dirty(o, SHARE_SOON);
	route_later(o);
}

/* --- what became of a probe --- */

static void missed(struct overlay *o, struct peer *p, mono_t sent, mono_t now)
{
	struct probing *pr = &p->probe;
	int64_t dead_ms = (int64_t)o->conf->dead_multiplier * o->conf->fast_interval_ms;
	mono_t again;

	pr->lost++;
	pr->answers = 0;
	if (!pr->up)
		return;
	if (pr->misses++ == 0) {
		pr->missing = sent;
		pr->loss_before = pr->filter.loss_pm;
	}
	link_filter_loss(&pr->filter);
	if (pr->misses >= o->conf->dead_multiplier + link_filter_chance(&pr->filter) &&
	    missing_us(pr, now) >= 1000 * dead_ms)
		silent(o, p, missing_us(pr, now));
	if (!pr->up)
		return;
	probe_store(o, p);
	again = mono_add_ms(pr->sent_at,
			    max_of((int64_t)o->conf->fast_interval_ms / 2, least_gap_ms(pr, now)));
	pr->next_at = earlier(pr->next_at, mono_before(again, now) ? now : again);
}

/* Takes the time of an answer as a sample; `rtt_us` 0: it was no fair one. */
static void sample(struct probing *pr, const struct probe *q, uint32_t rtt_us, uint32_t lasting_s,
		   mono_t now)
{
	bool overtaken = mono_before(q->sent, pr->answered_sent);
	/* On a link where answers are late now and then, more of them must be so in a row. */
	uint32_t in_a_row =
		pr->filter.late_ppm < LATE_SELDOM_PPM ? 2 : 4 + link_filter_chance(&pr->filter);

	pr->filter.lasting_s = lasting_s;
	if (!overtaken)
		pr->answered_sent = q->sent;
	/* It was not lost after all. */
	if (q->missed && pr->misses)
		pr->filter.loss_pm = min_of(pr->filter.loss_pm, pr->loss_before);
	if (!rtt_us)
		return;
	link_filter_late(&pr->filter, q->missed);
	/* Answers that were held up together: the first to come says what is, the rest what was. */
	if (q->missed && overtaken)
		return;
	/* Two late answers in a row, later than is usual for the link: its time jumped. */
	if (q->missed &&
	    (pr->late_us || (pr->misses >= in_a_row && rtt_us > usual_us(&pr->filter))))
		link_filter_jump(&pr->filter, rtt_us, now);
	else
		link_filter_answer(&pr->filter, rtt_us, now);
}

static void answered(struct overlay *o, struct peer *p, const struct probe *q, uint32_t rtt_us,
		     mono_t now)
{
	struct probing *pr = &p->probe;

	sample(pr, q, rtt_us, o->conf->lasting_s, now);
	pr->misses = 0;
	if (pr->up && pr->late_us) {
		speaks_again(o, p);
		schedule(o, p);
		return;
	}
	if (pr->up) {
		probe_store(o, p);
		return;
	}
	/* A link that failed has to answer twice in a row before it carries traffic again. */
	if (++pr->answers >= (pr->was_up ? 2u : 1u) && pr->filter.n_samples) {
		link_up(o, p);
		schedule(o, p);
		return;
	}
	pr->next_at = overlay_in(o, 1, o->conf->fast_interval_ms / 2);
}

static mono_t next_deadline(const struct peer *p)
{
	mono_t at = MONO_NEVER;

	for (unsigned i = 0; i < PROBES_OUT; i++) {
		const struct probe *pr = &p->probe.out[i];

		if (pr->id && !pr->missed)
			at = earlier(at, pr->deadline);
	}
	return at;
}

mono_t probe_due(const struct peer *p)
{
	mono_t at = earlier(p->probe.next_at, next_deadline(p));

	return p->probe.up ? earlier(at, p->pmtu.next_at) : at;
}

void probe_tick(struct overlay *o, struct peer *p, mono_t now)
{
	for (unsigned i = 0; i < PROBES_OUT; i++) {
		struct probe *pr = &p->probe.out[i];

		if (!pr->id || pr->missed || mono_before(now, pr->deadline))
			continue;
		pr->missed = true;
		if (pr->size)
			pmtu_miss(o, p, pr->size);
		else
			missed(o, p, pr->sent, now);
	}
	if (!mono_is_never(p->probe.next_at) && !mono_before(now, p->probe.next_at)) {
		/* Where nobody listens, HELLO is what finds the peer again. */
		if (!p->probe.up && !peer_is_alive(o, p)) {
			p->probe.next_at = MONO_NEVER;
		} else {
			send_probe(o, p);
			schedule(o, p);
		}
	}
	if (p->probe.up)
		pmtu_tick(o, p, now);
}

/* The link loses data, or does not any longer. */
static void data_news(struct overlay *o, struct peer *p)
{
	probe_store(o, p);
	share_dirty(o, p->loss.link_pm ? SHARE_NOW : SHARE_SOON);
	if (p->loss.link_pm)
		route_now(o);
	else
		route_later(o);
}

void probe_upkeep(struct overlay *o)
{
	for (uint32_t i = 0; i < o->cap_slots; i++)
		if (o->by_slot[i] && loss_link_expire(o, o->by_slot[i]))
			data_news(o, o->by_slot[i]);
}

void probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, bool direct, mono_t rx)
{
	struct probe *pr = NULL, was;

	sync_digest(o, p, m->digest);
	share_row_seq(o, p, m->row_seq);
	for (unsigned i = 0; i < PROBES_OUT && !pr && m->id; i++)
		if (p->probe.out[i].id == m->id)
			pr = &p->probe.out[i];
	if (!pr || !direct) {
		if (!along_pong(o, p, m))
			ping_pong(o, p, m, rx);
		return;
	}
	was = *pr;
	pr->id = 0;
	if (loss_link_answer(o, p, &was, m))
		data_news(o, p);
	if (was.size && m->size == was.size)
		pmtu_answer(o, p, was.size);
	/* A large datagram is no fair sample, but it is a sign of life. */
	if (!was.size || p->probe.up)
		answered(o, p, &was, was.size ? 0 : rtt_sample_us(o, p, was.sent, rx, m->held_ns),
			 overlay_now(o));
}

void probe_ping(struct overlay *o, struct peer *p, const struct msg_ping *m, const struct via *back,
		size_t len, mono_t rx)
{
	struct msg answer = { .type = MSG_PONG };
	int64_t held_ns = mono_sub_ns(overlay_clock(o), rx);

	answer.pong.id = m->id;
	answer.pong.digest = nodedb_digest(o->nodes);
	answer.pong.row_seq = latdb_row_seq(o->lat, SLOT_SELF);
	answer.pong.size = (uint16_t)min_of(len, (size_t)UINT16_MAX);
	loss_fill(o, p, &answer.pong);
	answer.pong.held_ns = (uint32_t)min_of(max_of(held_ns, (int64_t)0), (int64_t)UINT32_MAX);
	peer_send_via(o, p, back, &answer, 0);
	sync_digest(o, p, m->digest);
	share_row_seq(o, p, m->row_seq);
}
