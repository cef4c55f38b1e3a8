// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: blocks of critical frames. Workers. */
#include "fwd/send/send_steps.h"

#include <string.h>

#include "fwd/send/send_state.h"
#include "fwd/worker.h"
#include "wire/frame/ecn.h"

/* Returns the second path of the block; NULL if the policy, the node or the path is gone, or the
 * path has become too small. */
static const struct snap_node *path_of(const struct worker *w, const struct coding_block *b)
{
	const struct snap *s = w->snap;
	const struct snap_node *second;

	if (!s->pair || !s->policy->parity || b->slot >= s->n_slots || s->node[b->slot].id != b->id)
		return NULL;
	second = &s->pair[b->slot].second;
	if (!second->has_path || second->no_key || second->room < PARITY_HDR_LEN + b->longest)
		return NULL;
	return second;
}

/* Length of the IP packet of one parity. */
static size_t packet_len(const struct worker *w, const struct snap_node *second, size_t len)
{
	return tx_around(w->snap->node[second->first].ep.ip.family) + second->hdr_len +
	       (second->flags & LEON_F_SEALED ? SEAL_OVERHEAD : 0) + PARITY_HDR_LEN + len;
}

/* The row is copied, because the block may begin again before the flush. */
static void send_row(struct worker *w, const struct snap_node *second, const struct coding_block *b,
		     unsigned row)
{
	struct outgoing o = { .node = second,
			      .kind = LEON_COPY,
			      .head_len = PARITY_HDR_LEN + b->longest };
	struct parity_hdr h = { .worker = (uint8_t)w->index,
				.block = b->base,
				.index = (uint8_t)row,
				.symbols = b->symbols };
	uint8_t *out = outgoing_begin(w, &o);

	if (!out)
		return;
	parity_encode(&h, out);
	memcpy(out + PARITY_HDR_LEN, b->row[row], b->longest);
	if (outgoing_end(w, &o, out))
		count(w, CNT_parity_tx, 1);
}

static void send_rows(struct worker *w, const struct snap_node *second,
		      const struct coding_block *b)
{
	unsigned rows = parity_rows(b->symbols);
	size_t bytes = rows * packet_len(w, second, b->longest);
	uint16_t class = w->tx.class;

	if (!budget_take(&w->fwd->budget, w->snap->policy->budget_kbits, bytes, w->now)) {
		count(w, CNT_critical_over_budget, b->symbols);
		return;
	}
	/* A mark on a parity would concern no frame. */
	w->tx.class = b->class & (uint16_t)~ECN_MASK;
	for (unsigned i = 0; i < rows; i++)
		send_row(w, second, b, i);
	w->tx.class = class;
	count(w, CNT_critical_extra_bytes, bytes);
}

static void end_block(struct worker *w, struct coding_block *b)
{
	const struct snap_node *second = path_of(w, b);

	if (second && b->symbols)
		send_rows(w, second, b);
	count(w, CNT_critical_extra_bytes, b->symbols * (uint64_t)PARITY_FRAME_HDR_LEN);
	b->open = false;
	w->coding.n_open--;
}

struct coding_block *protect_block(struct worker *w, uint16_t slot)
{
	struct coding_block *b = &w->coding.block[slot % CODING_BLOCKS];
	node_id_t id = w->snap->node[slot].id;

	if (b->open && (b->slot != slot || b->id != id))
		end_block(w, b);
	b->slot = slot;
	b->id = id;
	return b;
}

/* The counters of a block are of the same series as those of duplicated frames. */
static uint64_t next_base(struct worker *w)
{
	const uint64_t numbers = 1ULL << PARITY_INDEX_BITS;
	uint64_t base = (w->copy_counter + numbers - 1) & ~(numbers - 1);

	w->copy_counter = base + numbers;
	return base;
}

void protect_begin_frame(struct worker *w, struct coding_block *b, unsigned symbols)
{
	if (b->open && b->symbols + symbols > PARITY_FRAMES)
		end_block(w, b);
	if (!b->open)
		coding_open(&w->coding, b, next_base(w), w->now);
	b->first = b->symbols;
	b->class = w->tx.class;
}

mono_t protect_due(const struct worker *w)
{
	mono_t due = MONO_NEVER;

	for (unsigned i = 0; w->coding.n_open && i < CODING_BLOCKS; i++) {
		const struct coding_block *b = &w->coding.block[i];

		if (b->open)
			due = mono_earlier(due, mono_add_ns(b->since, PROTECT_NS));
	}
	return due;
}

void protect_end_due(struct worker *w)
{
	for (unsigned i = 0; w->coding.n_open && i < CODING_BLOCKS; i++) {
		struct coding_block *b = &w->coding.block[i];

		if (b->open && mono_sub_ns(w->now, b->since) >= PROTECT_NS)
			end_block(w, b);
	}
}
