// SPDX-License-Identifier: GPL-2.0-or-later
/* Step: datagrams that a failed pair of lines may have lost. Workers. */
#include "fwd/send/send_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fwd/worker.h"

void resend_init(struct resend *r)
{
	*r = (struct resend){ .ring = x_calloc(RESEND_BYTES, 1),
			      .entry = x_calloc(RESEND_ENTRIES, sizeof(r->entry[0])) };
}

void resend_fini(struct resend *r)
{
	free(r->ring);
	free(r->entry);
}

static struct resend_entry *entry_at(struct resend *r, uint32_t i)
{
	return &r->entry[i % RESEND_ENTRIES];
}

/* Entries of the previous turn of the ring lie behind `at`, and are the oldest. */
static void make_room(struct resend *r, uint32_t len)
{
	if (r->next - r->first == RESEND_ENTRIES)
		r->first++;
	if (RESEND_BYTES - r->at < len) {
		while (resend_waits(r) && entry_at(r, r->first)->at >= r->at)
			r->first++;
		r->at = 0;
	}
	while (resend_waits(r) && entry_at(r, r->first)->at >= r->at &&
	       entry_at(r, r->first)->at < r->at + len)
		r->first++;
}

void resend_keep(struct worker *w, uint16_t slot, const uint8_t *data, size_t len)
{
	struct resend *r = &w->resend;

	make_room(r, (uint32_t)len);
	if (!resend_waits(r))
		r->failures = w->snap->failures;
	*entry_at(r, r->next++) = (struct resend_entry){ .sent = w->now,
							 .id = w->snap->node[slot].id,
							 .at = r->at,
							 .failures = w->snap->node[slot].failures,
							 .slot = slot,
							 .len = (uint16_t)len,
							 .class = w->tx.class };
	memcpy(r->ring + r->at, data, len);
	r->at += (uint32_t)len;
}

/* Not counted as traffic of the link: the first transmission was, and the peer counts one. */
static void send_again(struct worker *w, struct resend_entry *e)
{
	const struct snap_node *node = &w->snap->node[e->slot];

	e->failures = node->failures;
	if (mono_before(e->sent, node->failed) || e->len > node->link_mtu)
		return;
	w->tx.class = e->class;
	if (!tx_begin(w, e->slot, e->len, 1, 0))
		return;
	tx_piece(w, w->resend.ring + e->at, e->len);
	count(w, CNT_resent_tx, 1);
}

static void send_lost(struct worker *w)
{
	struct resend *r = &w->resend;
	uint16_t class = w->tx.class;

	for (uint32_t i = r->first; i != r->next; i++) {
		struct resend_entry *e = entry_at(r, i);

		if (e->slot < w->snap->n_slots && w->snap->node[e->slot].id == e->id &&
		    w->snap->node[e->slot].failures > e->failures)
			send_again(w, e);
	}
	tx_flush(w); /* before the ring changes */
	w->tx.class = class;
}

void resend_look(struct worker *w)
{
	struct resend *r = &w->resend;

	if (unlikely(r->failures != w->snap->failures)) {
		r->failures = w->snap->failures;
		send_lost(w);
	}
	while (resend_waits(r) && mono_sub_ms(w->now, entry_at(r, r->first)->sent) > RESEND_MS)
		r->first++;
}
