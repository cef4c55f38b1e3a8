// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: datagrams from the underlay, see receive.h. Workers. doc/protocol.md section 2.1 defines
 * the checks and their order.
 */
#include "fwd/in/receive.h"

#include "base/defs.h"
#include "fwd/accel/divert.h"
#include "fwd/capture.h"
#include "fwd/in/received_tables.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/worker.h"
#include "io/clock.h"
#include "wire/datagram/leon.h"

/* A datagram and the results of the checks. */
struct datagram {
	const struct udp_rx_msg *msg;
	const struct endpoint *from;
	uint8_t *data;
	size_t len, hdr_len;
	struct leon_hdr h;
	/* slot of the previous hop; this and the following fields of data only */
	uint16_t previous;
	uint16_t source;  /* slot of the source node */
	uint8_t line;	  /* pair of lines to the previous hop */
	uint8_t *payload; /* opened payload for this node */
	size_t payload_len;
};

/* Handling of a kind at its last hop. */
struct kind {
	/* Data has the checks of the previous hop and the seal, and traffic counters. NULL: the
	 * kind reaches the control thread unchecked, from any source. */
	void (*deliver)(struct worker *w, const struct arrived *a);
	/* The kind may use a path other than the path in use and is not counted for it. */
	bool any_path;
};

/* The kernel's timestamp is CLOCK_REALTIME, which may be stepped, so only a plausible age is
 * used. */
static mono_t arrival(struct worker *w, int64_t rx_real_ns)
{
	int64_t age;

	if (!rx_real_ns)
		return w->now;
	if (!w->real_ns)
		w->real_ns = wall_now_ns() - (mono_now().ns - w->now.ns);
	age = w->real_ns - rx_real_ns;
	return age >= 0 && age <= NS_PER_S ? mono_add_ns(w->now, -age) : w->now;
}

static bool parse(struct worker *w, struct datagram *d)
{
	static const enum drop_reason reason[] = { [LEON_TRUNCATED] = DROP_truncated,
						   [LEON_BAD_VERSION] = DROP_bad_version,
						   [LEON_BAD_HEADER] = DROP_bad_header,
						   [LEON_PATH_LOOP] = DROP_path_loop };
	enum leon_parse p = leon_decode(d->data, d->len, &d->h, &d->hdr_len);

	if (likely(p == LEON_OK))
		return true;
	drop(w, reason[p]);
	if (p == LEON_BAD_VERSION)
		report_foreign(w, d->from, true, leon_other_wire(d->data, d->len, w->snap->vni));
	return false;
}

/* Returns true if the datagram has the VNI, and this node as the next hop. */
static bool is_for_us(struct worker *w, const struct kind *k, const struct datagram *d)
{
	const struct leon_hdr *h = &d->h;

	if (unlikely(h->vni != w->snap->vni)) {
		drop(w, DROP_wrong_vni);
		report_foreign(w, d->from, false, 0);
		return false;
	}
	/* A HELLO with our own node-id may reveal a duplicate node-id, so the protocol receives
	 * it. */
	if (unlikely(h->source == w->snap->self && (k->deliver || !leon_is_last(h))))
		return drop(w, DROP_own_frame);
	if (unlikely(!leon_is_for(h, w->snap->self)))
		return drop(w, DROP_not_next_hop);
	return true;
}

/* Returns true if the node sends from there, and notes the pair of lines. The node may use another
 * transport or pair too. */
static bool is_from(const struct snap_node *n, struct datagram *d)
{
	d->line = n->line;
	if (likely(endpoint_equal(&n->ep, d->from)))
		return true;
	for (unsigned i = 0; i < LINE_PAIRS; i++) {
		if (!endpoint_equal(&n->other[i], d->from))
			continue;
		d->line = (uint8_t)i;
		return true;
	}
	return false;
}

/* Checks that the previous hop on the path sent the datagram. Sets both nodes. */
static bool check_sender(struct worker *w, struct datagram *d)
{
	const struct snap *s = w->snap;
	uint16_t source = snap_find(s, d->h.source);
	uint16_t previous = source;

	if (unlikely(source == SLOT_NONE))
		return drop(w, DROP_unknown_source);
	if (d->h.at)
		previous = snap_find(s, leon_previous(&d->h));
	if (unlikely(previous == SLOT_NONE || !is_from(&s->node[previous], d)))
		return drop(w, DROP_unknown_sender);
	if (unlikely(!incoming_link(w, &d->h, d->data, previous)))
		return false;
	d->previous = previous;
	d->source = source;
	return true;
}

/* Frames before an impossible length are delivered, the remainder is lost. */
static void take_bundle(struct worker *w, const struct arrived *a)
{
	struct arrived one = *a;
	struct bundle_frame f;
	size_t at = 0;
	int rc;

	count(w, CNT_bundles_rx, 1);
	while ((rc = bundle_next(a->data, a->len, &at, &f)) > 0) {
		one.flags = f.flags;
		one.data = a->data + f.at;
		one.len = f.len;
		local_frame(w, &one);
	}
	if (unlikely(rc < 0))
		drop(w, DROP_bundle_bad);
}

static const struct kind kinds[LEON_KINDS] = {
	[LEON_FRAME] = { .deliver = local_frame },
	[LEON_FRAGMENT] = { .deliver = assemble_fragment },
	[LEON_BUNDLE] = { .deliver = take_bundle },
	[LEON_COPY] = { .deliver = assemble_copy, .any_path = true },
	[LEON_ACCEL] = { .deliver = accel_from_peer },
	/* Control datagrams may come from strangers: the seal decides, not the address. */
	[LEON_CONTROL] = { .deliver = NULL },
	[LEON_INVITATION] = { .deliver = NULL },
};

static void deliver(struct worker *w, const struct leon_hdr *h, uint16_t source, uint8_t class,
		    uint8_t *payload, size_t len)
{
	const struct arrived a = { .slot = source,
				   .node = h->source,
				   .flags = h->flags & LEON_FLAGS_FRAME,
				   .ecn = (enum ecn)(class & ECN_MASK),
				   .data = payload,
				   .len = len };

	kinds[h->kind].deliver(w, &a);
}

/* --- order of distributed datagrams --- */

static void deliver_held(struct worker *w)
{
	const struct hold_datagram *held;

	while ((held = hold_next(w->fwd->hold, w->index, w->now))) {
		/* The node may have left while the datagram waited. */
		if (unlikely(snap_find(w->snap, held->h.source) != held->source))
			drop(w, DROP_unknown_sender);
		else
			deliver(w, &held->h, held->source, held->class, (uint8_t *)held->payload,
				held->len);
	}
}

void from_net_end(struct worker *w)
{
	do {
		deliver_held(w);
		deliver_flush(w);
	} while (!hold_end(w->fwd->hold, w->index, w->now));
	w->holds = false;
}

static bool is_distributed(const struct datagram *d)
{
	return d->h.flags & LEON_F_SPREAD && d->h.n_hops == 1;
}

/* All sealed datagrams of a source have a place in the order, also relayed ones. */
static bool is_ordered(const struct worker *w, const struct datagram *d)
{
	return unlikely(w->snap->node[d->source].has_lines) && (d->h.flags & LEON_F_SEALED) &&
	       (is_distributed(d) || hold_in_use(w->fwd->hold));
}

/* Returns true if the datagram waits for earlier ones of its source. */
static bool waits(struct worker *w, const struct datagram *d, uint64_t counter)
{
	const struct hold_datagram one = { .h = d->h,
					   .counter = counter,
					   .source = d->source,
					   .line = d->h.n_hops == 1 ? d->line : HOLD_RELAYED,
					   .class = d->msg->class,
					   .marked = is_distributed(d),
					   .payload = d->payload,
					   .len = d->payload_len };
	enum hold_verdict v =
		hold_take(w->fwd->hold, w->index, &one, w->snap->node[d->source].hold_us, w->now);

	w->holds = true;
	count(w, CNT_held_rx, v == HOLD_KEPT);
	count(w, CNT_late_rx, v == HOLD_LATE && one.marked);
	count(w, CNT_unordered_rx, v == HOLD_FULL);
	return v == HOLD_KEPT;
}

/* `source`: as in traffic_in(). */
static void count_in(struct worker *w, const struct datagram *d, uint16_t source)
{
	traffic_in(w, d->previous, source, d->len);
	if (unlikely(w->snap->node[d->previous].has_lines))
		line_in(w, d->previous, d->line, d->len);
}

static void take_data(struct worker *w, const struct kind *k, struct datagram *d)
{
	bool ordered = is_ordered(w, d);
	uint64_t counter = 0;

	d->payload = d->data + d->hdr_len;
	d->payload_len = d->len - d->hdr_len;
	if (unlikely(ordered) && d->payload_len >= SEAL_NONCE_LEN)
		counter = seal_data_counter(d->payload);
	if (unlikely(!incoming_open(w, &d->h, d->source, d->data, &d->payload, &d->payload_len)))
		return;
	count_in(w, d, k->any_path ? SLOT_NONE : d->source);
	if (likely(!ordered) || !waits(w, d, counter))
		deliver(w, &d->h, d->source, d->msg->class, d->payload, d->payload_len);
	if (unlikely(ordered))
		deliver_held(w);
}

static void pass_on(struct worker *w, const struct kind *k, const struct datagram *d)
{
	uint16_t next = relay(w, &d->h, d->source, d->data, d->len, d->msg->class);

	if (!k->deliver)
		return;
	if (unlikely(w->snap->capture.on) && next != SLOT_NONE)
		capture_relayed(w, &d->h, d->data + d->hdr_len, d->len - d->hdr_len);
	count_in(w, d, SLOT_NONE);
	if (next != SLOT_NONE)
		traffic_out(w, next, SLOT_NONE, d->len);
}

static void take(struct worker *w, struct datagram *d)
{
	const struct kind *k;

	if (!parse(w, d))
		return;
	k = &kinds[d->h.kind];
	if (!is_for_us(w, k, d))
		return;
	if (!k->deliver && leon_is_last(&d->h))
		report_control(w, d->from, arrival(w, d->msg->rx_real_ns), d->data, d->len);
	else if (!check_sender(w, d))
		return;
	else if (leon_is_last(&d->h))
		take_data(w, k, d);
	else
		pass_on(w, k, d);
}

void from_net_message(struct worker *w, const struct udp_rx_msg *m)
{
	struct endpoint from;
	struct datagram d = { .msg = m, .from = &from };

	if (unlikely(endpoint_from_sockaddr(m->from, &from) < 0))
		return;
	from.line = w->rx_line;
	count(w, CNT_net_rx_bytes, m->len);
	if (unlikely(m->truncated || !m->len)) {
		count(w, CNT_net_rx_datagrams, 1);
		drop(w, DROP_truncated);
		return;
	}
	for (size_t at = 0; at < m->len; at += m->segment) {
		d.data = m->data + at;
		d.len = min_of(m->segment, m->len - at);
		count(w, CNT_net_rx_datagrams, 1);
		take(w, &d);
	}
}

static void count_wait(struct worker *w, const struct udp_rx_msg *oldest)
{
	int64_t us;

	if (!oldest->rx_real_ns)
		return;
	us = mono_sub_us(w->now, arrival(w, oldest->rx_real_ns));
	stats_add(&w->socket_waits.waits[wait_class(us)], 1);
	stats_add(&w->socket_waits.waits_us, (uint64_t)us);
}

/* At most doubles: after a batch of small messages, a batch of large ones must not exceed the
 * turn. */
unsigned from_net_messages(unsigned before, unsigned n, size_t bytes)
{
	size_t fit = NET_TURN_BYTES * (size_t)n / max_of(bytes, (size_t)1);
	size_t twice = min_of(2 * (size_t)before, (size_t)NET_BATCH);

	return (unsigned)min_of(max_of(fit, (size_t)1), twice);
}

bool from_net(struct worker *w, int fd)
{
	unsigned most = w->rx_messages;
	int n = udp_rx_read(w->rx, fd, most);
	size_t bytes = 0;

	if (n <= 0)
		return false;
	/* The datagrams may depend on a snapshot published since the batch began: new keys, a new
	 * member. */
	worker_see_snapshot(w);
	count(w, CNT_net_rx_batches, 1);
	w->inputs += (unsigned)n;
	count_wait(w, udp_rx_get(w->rx, 0));
	for (int i = 0; i < n; i++) {
		const struct udp_rx_msg *m = udp_rx_get(w->rx, (unsigned)i);

		bytes += m->len;
		from_net_message(w, m);
	}
	w->rx_messages = from_net_messages(most, (unsigned)n, bytes);
	return (unsigned)n == most;
}
