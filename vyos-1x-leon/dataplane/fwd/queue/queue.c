// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: the queue between TAP and overlay, see queue.h. Worker.
 */
#include "fwd/queue/queue.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "fwd/forwarding_lookup.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/send/send_steps.h"
#include "fwd/tap/tap_frames.h"
#include "fwd/worker.h"
#include "io/tap.h"
#include "wire/frame/ecn.h"
#include "wire/frame/ip.h"

#define LARGE_BYTES (TAP_RX_HEADROOM + TAP_RX_FRAME_MAX)
#define SMALL_BYTES 2048
#define SMALL_MAX   (SMALL_BYTES - TAP_RX_HEADROOM)

struct place {
	struct fq_item item; /* first member, so that the item converts to the buffer */
	struct frame frame;
	uint8_t *room;
	uint16_t hop; /* slot of a relevant next hop, or HOP_NONE */
	uint8_t tier;
};
_Static_assert(offsetof(struct place, item) == 0, "a place is found from its item");

static struct place *place_of(struct fq_item *item)
{
	return (struct place *)item;
}

typedef void figure_fn(struct queue_figures *f, const struct fq_item *item, int64_t us);

/* Results of an item count for the tier and the next hop. */
static void count_item(struct queue *q, struct fq_item *item, figure_fn *add, int64_t us)
{
	const struct place *p = place_of(item);

	add(&q->tier[p->tier], item, us);
	if (unlikely(p->hop != HOP_NONE))
		add(&q->hop[p->hop], item, us);
}

static void add_full(struct queue_figures *f, const struct fq_item *item attr_unused,
		     int64_t us attr_unused)
{
	stats_add(&f->full, 1);
}

static void add_late(struct queue_figures *f, const struct fq_item *item attr_unused,
		     int64_t us attr_unused)
{
	stats_add(&f->late, 1);
}

static void add_sent(struct queue_figures *f, const struct fq_item *item, int64_t us)
{
	stats_add(&f->sent, 1);
	stats_add(&f->waits[wait_class(us)], 1);
	stats_add(&f->waits_us, us > 0 ? (uint64_t)us : 0);
	stats_add(&f->marked, item->marked);
}

/* --- buffers --- */

static void give_back(struct queue *q, struct fq_item *item)
{
	fq_chain_put_first(item->small ? &q->small : &q->large, item);
}

static uint8_t *make_places(struct queue *q, unsigned first, unsigned n, bool large, uint8_t *room)
{
	for (unsigned i = first; i < first + n; i++) {
		struct place *p = &q->place[i];

		*p = (struct place){ .item.small = !large, .room = room };
		give_back(q, &p->item);
		room += large ? LARGE_BYTES : SMALL_BYTES;
	}
	return room;
}

void queue_init(struct queue *q, struct hop_account *account, uint16_t slots_maximum)
{
	uint8_t *room;

	hops_init(&q->hops, account);
	q->hop = x_calloc(slots_maximum, sizeof(q->hop[0]));
	q->arena = x_buffer(QUEUE_LARGE * (size_t)LARGE_BYTES + QUEUE_SMALL * SMALL_BYTES, 1);
	q->place = x_calloc(QUEUE_LARGE + QUEUE_SMALL, sizeof(q->place[0]));
	room = make_places(q, 0, QUEUE_LARGE, true, q->arena);
	make_places(q, QUEUE_LARGE, QUEUE_SMALL, false, room);
}

void queue_fini(struct queue *q)
{
	free(q->arena);
	free(q->place);
	free(q->hop);
	hops_fini(&q->hops);
}

void queue_reap(struct queue *q)
{
	struct fq_item *item;

	while ((item = fq_chain_take(&q->sent)))
		give_back(q, item);
}

static bool shed(struct worker *w, enum fq_lack lack)
{
	struct fq_item *item = hops_shed(&w->queue.hops, lack);

	if (!item)
		return false;
	count_item(&w->queue, item, add_full, 0);
	give_back(&w->queue, item);
	drop(w, DROP_queue_full);
	return true;
}

/* NULL only if all buffers hold frames in transmission. */
static struct place *place_take(struct worker *w, struct fq_chain *from)
{
	enum fq_lack lack = from == &w->queue.small ? FQ_LACK_SMALL : FQ_LACK_LARGE;
	struct fq_item *item;

	while (!(item = fq_chain_take(from)))
		if (!shed(w, lack))
			return NULL;
	return place_of(item);
}

/* --- the rate --- */

static void see_rate(struct worker *w)
{
	struct queue *q = &w->queue;

	if (unlikely(q->kbits != w->kbits)) {
		q->kbits = w->kbits;
		hops_set_bottleneck(&q->hops, q->kbits);
	}
	hops_begin(&q->hops, w->now);
}

bool queue_in_use(const struct worker *w)
{
	return w->queue.in_use || w->kbits || w->shapes_hops;
}

/* Each hop by a hop account, all together by the account of the line. */
mono_t queue_due(const struct worker *w)
{
	const struct queue *q = &w->queue;
	mono_t hop, line;

	if (!q->in_use)
		return MONO_NEVER;
	if (!q->hops.n)
		return (mono_t){ 1 };
	hop = hops_due(&q->hops);
	if (!q->kbits)
		return hop;
	line = shaper_due(&w->fwd->shaper, hops_have_fresh(&q->hops));
	return mono_before(line, hop) ? hop : line;
}

static size_t turn_bytes(const struct worker *w)
{
	const struct queue *q = &w->queue;

	if (likely(!q->kbits))
		return QUEUE_TURN_BYTES;
	return shaper_room(&w->fwd->shaper, q->kbits, hops_have_fresh(&q->hops), w->now);
}

/* --- enqueue --- */

/* Fragments use the flow of addresses only, because only the first fragment has ports. */
static uint32_t flow_of(const struct worker *w, const struct frame *f)
{
	struct {
		uint8_t address[2 * V6_LEN];
		uint32_t ports;
		uint16_t vlan, protocol;
	} key = { .vlan = f->v.vlan };
	const uint8_t *l3 = f->data + f->v.l3_offset;

	if (f->v.ip_version == 4)
		memcpy(key.address, l3 + V4_SRC, 2 * V4_LEN);
	else if (f->v.ip_version == 6)
		memcpy(key.address, l3 + V6_SRC, sizeof(key.address));
	else
		memcpy(key.address, f->data, 2 * sizeof(struct mac));
	key.protocol = f->v.ip_version ? f->v.ip_proto : f->v.ethertype;
	if (f->v.l4_offset && !f->v.ip_fragment && f->v.l4_offset + sizeof(key.ports) <= f->len &&
	    (f->v.ip_proto == PROTO_TCP || f->v.ip_proto == PROTO_UDP))
		memcpy(&key.ports, f->data + f->v.l4_offset, sizeof(key.ports));
	return (uint32_t)siphash(&w->hash_key, &key, sizeof(key));
}

/* Next hop of the frame, if any hop has a rate or a backlog. */
static uint16_t hop_of(const struct worker *w, const struct frame *f)
{
	uint16_t slot;

	if (likely(!w->shapes_hops && !w->queue.hops.n_used))
		return HOP_NONE;
	slot = forwarding_lookup(w->snap, f);
	return slot == SLOT_NONE || slot == SLOT_SELF ? HOP_NONE : w->snap->node[slot].first;
}

static struct place *shrink(struct worker *w, struct place *large, size_t len)
{
	struct place *p = place_take(w, &w->queue.small);

	if (unlikely(!p))
		return large;
	memcpy(p->room + TAP_RX_HEADROOM, large->room + TAP_RX_HEADROOM, len);
	give_back(&w->queue, &large->item);
	return p;
}

static void put_one(struct worker *w, struct place *p, uint16_t hop)
{
	struct queue *q = &w->queue;
	const struct frame *f = &p->frame;
	uint8_t class = 0;

	while (q->hops.bytes + f->len > QUEUE_BYTES && shed(w, FQ_LACK_BYTES))
		;
	ip_class(f->data, f->len, &f->v, &class);
	p->tier = (uint8_t)tier_of_dscp(class >> DSCP_SHIFT);
	p->hop = hop;
	p->item.len = (uint32_t)f->len;
	p->item.takes_marks = (class & ECN_MASK) != ECN_NOT_ECT || tso_frames(f) > 1;
	hops_put(&q->hops, p->hop, (enum fwd_tier)p->tier, &p->item, flow_of(w, f), w->now);
}

/* A super-frame would block a slow line or hop for milliseconds. */
static bool is_slow(const struct worker *w, uint16_t hop)
{
	uint32_t kbits = w->kbits;

	if (unlikely(kbits && kbits < FWD_SUPER_KBITS))
		return true;
	if (likely(hop == HOP_NONE))
		return false;
	kbits = load_relaxed(&w->queue.hops.account[hop].kbits);
	return kbits && kbits < FWD_SUPER_KBITS;
}

/* Enqueues the segments of at most `room` bytes as single frames. Returns false if the super-frame
 * cannot be segmented and stays whole. */
static bool put_cut(struct worker *w, const struct frame *f, uint16_t hop, size_t room)
{
	struct tso t;

	if (f->gso == FRAME_UNKNOWN_GSO ||
	    tso_open(&t, f, min_of(room, (size_t)SMALL_MAX - TAP_VNET_LEN)) < 0 ||
	    t.hdr_len + t.size > SMALL_MAX - TAP_VNET_LEN)
		return false;
	for (unsigned i = 0; i < t.n; i++) {
		struct place *p = place_take(w, &w->queue.small);
		struct pieces of;

		if (unlikely(!p)) {
			drop(w, DROP_queue_full);
			continue;
		}
		p->frame = *f;
		p->frame.data = p->room + TAP_RX_HEADROOM + TAP_VNET_LEN;
		of = tso_segment(&t, i, p->frame.data);
		memcpy(p->frame.data + of.head_len, of.body, of.body_len);
		p->frame.len = of.head_len + of.body_len;
		p->frame.gso = FRAME_PLAIN;
		p->frame.partial = true;
		put_one(w, p, hop);
	}
	return true;
}

static void put(struct worker *w, struct place *p, size_t len)
{
	struct frame *f = &p->frame;
	uint16_t hop;

	if (unlikely(!tap_rx_decode(p->room + TAP_RX_HEADROOM, len, f))) {
		drop(w, DROP_bad_frame);
		give_back(&w->queue, &p->item);
		return;
	}
	/* The rate of the line must not delay a guard, because the delay counts as silence. */
	if (unlikely(f->v.ethertype < ETH_TYPE_MIN) && guard_taken(w, f)) {
		give_back(&w->queue, &p->item);
		return;
	}
	count(w, CNT_tap_rx_super, f->gso != FRAME_PLAIN);
	hop = hop_of(w, f);
	if (f->gso != FRAME_PLAIN && unlikely(is_slow(w, hop)) && put_cut(w, f, hop, SIZE_MAX))
		give_back(&w->queue, &p->item);
	else
		put_one(w, p, hop);
}

bool queue_intake(struct worker *w, int fd)
{
	struct queue *q = &w->queue;

	q->bytes = q->frames = 0;
	q->copied = 0;
	see_rate(w);
	for (unsigned i = 0; i < QUEUE_INTAKE_FRAMES; i++) {
		struct place *p = place_take(w, &q->large);
		ssize_t len;

		if (unlikely(!p))
			return true;
		len = read(fd, p->room + TAP_RX_HEADROOM, TAP_RX_FRAME_MAX);
		if (len <= 0) {
			give_back(q, &p->item);
			return false;
		}
		count(w, CNT_tap_rx_frames, 1);
		w->inputs++;
		count(w, CNT_tap_rx_bytes,
		      max_of((size_t)len, (size_t)TAP_VNET_LEN) - TAP_VNET_LEN);
		if ((size_t)len <= SMALL_MAX)
			p = shrink(w, p, (size_t)len);
		put(w, p, (size_t)len);
	}
	return true;
}

bool queue_returned(struct worker *w, const struct frame *f, uint16_t slot)
{
	struct queue *q = &w->queue;
	struct place *p;
	uint16_t hop;

	if (likely(!w->kbits && !w->shapes_hops) || w->io.tap < 0 ||
	    TAP_VNET_LEN + f->len > TAP_RX_FRAME_MAX)
		return false;
	/* The TAP source has the turns of the queue, see queue_due(). */
	q->in_use = true;
	hop = w->snap->node[slot].first;
	/* Frames between accelerators are not fragmented later. */
	if (f->gso != FRAME_PLAIN && is_slow(w, hop) &&
	    put_cut(w, f, hop, w->snap->node[slot].room))
		return true;
	p = place_take(w, TAP_VNET_LEN + f->len <= SMALL_MAX ? &q->small : &q->large);
	if (unlikely(!p)) {
		drop(w, DROP_queue_full);
		return true;
	}
	p->frame = *f;
	p->frame.data = p->room + TAP_RX_HEADROOM + TAP_VNET_LEN;
	memcpy(p->frame.data, f->data, f->len);
	put_one(w, p, hop);
	return true;
}

/* --- dequeue --- */

static void drop_late(struct worker *w)
{
	struct fq_item *item;

	while ((item = fq_chain_take(&w->queue.hops.dropped))) {
		count_item(&w->queue, item, add_late, 0);
		give_back(&w->queue, item);
		drop(w, DROP_queue_late);
	}
}

/* By ECN, or by the loss of the first segment of a super-frame. */
static void signal_congestion(struct worker *w, struct fq_item *item)
{
	struct frame *f = &place_of(item)->frame;

	if (ecn_takes_marks(f->data, f->len, &f->v)) {
		ecn_mark(f->data, &f->v);
		count(w, CNT_queue_marked, 1);
		return;
	}
	item->marked = false;
	f->first_lost = true;
	count_item(&w->queue, item, add_late, 0);
	drop(w, DROP_queue_late);
}

struct frame *queue_next(struct worker *w)
{
	struct queue *q = &w->queue;
	struct fq_item *item;
	struct frame *f;

	if (!q->frames)
		q->turn_bytes = turn_bytes(w);
	if (q->bytes >= q->turn_bytes || q->frames == QUEUE_TURN_FRAMES)
		return NULL;
	item = hops_next(&q->hops, w->now);
	drop_late(w);
	if (!item)
		return NULL;
	f = &place_of(item)->frame;
	if (item->marked)
		signal_congestion(w, item);
	count(w, CNT_queue_frames, 1);
	count_item(q, item, add_sent, mono_sub_us(w->now, item->since));
	q->bytes += item->len;
	q->frames++;
	fq_chain_add(&q->sent, item);
	return f;
}

static void notify_backlog(struct queue_figures *f, uint64_t bytes, uint64_t frames)
{
	store_relaxed(&f->backlog_bytes, bytes);
	store_relaxed(&f->backlog_frames, frames);
}

static void notify_backlogs(struct queue *q)
{
	for (unsigned i = 0; i < FWD_TIERS; i++) {
		struct hops_backlog b = hops_backlog(&q->hops, (enum fwd_tier)i);

		notify_backlog(&q->tier[i], b.bytes, b.n);
	}
	for (unsigned i = 0; i < q->hops.n_used; i++) {
		const struct hop *hop = hops_used(&q->hops, i);

		notify_backlog(&q->hop[hop->slot], hop->tiers.bytes, hop->tiers.n);
	}
	store_relaxed(&q->held_frames, hops_held(&q->hops));
}

bool queue_goes_on(struct worker *w, bool more)
{
	struct queue *q = &w->queue;

	q->in_use = more || q->hops.n;
	if (q->kbits)
		shaper_served(&w->fwd->shaper, q->kbits, q->bytes + q->copied, w->now);
	notify_backlogs(q);
	/* The queue waits for a rate, see queue_due(). */
	return q->kbits || q->hops.n_used ? more : q->in_use;
}
