// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: transmission of datagrams. Worker. Send errors that describe a link (no route, unreachable)
 * are reported as suspects.
 */
#include "fwd/send/send_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fwd/lan/lan_steps.h"
#include "fwd/send/send_steps.h"
#include "fwd/worker.h"

/* Bit of a tag: the message uses the second pair of lines. The other bits are the slot. */
#define SECOND (1u << 16)

static int present(int fd)
{
	return fd > 0 ? fd : -1;
}

void tx_init(struct worker *w, uint16_t slots_maximum)
{
	struct tx *tx = &w->tx;

	const int fd[TX_FAMILIES] = { w->io.udp4, w->io.udp6, present(w->io.stream),
				      present(w->io.second4), present(w->io.second6) };

	tx->families = fd[3] >= 0 || fd[4] >= 0 ? TX_FAMILIES : 3;
	for (unsigned i = 0; i < tx->families; i++)
		tx->family[i] =
			(struct tx_family){ .tx = udp_tx_new(TX_MESSAGES, TX_PIECES), .fd = fd[i] };
	tx->scratch = x_buffer(TX_SCRATCH, 1);
	tx->no_gso_s = x_calloc(slots_maximum, sizeof(tx->no_gso_s[0]));
}

void tx_fini(struct worker *w)
{
	for (unsigned i = 0; i < w->tx.families; i++)
		udp_tx_free(w->tx.family[i].tx);
	free(w->tx.scratch);
	free(w->tx.no_gso_s);
}

/* Returns true if this datagram may become a further segment of the current message. */
static bool extends(const struct tx_family *fam, uint16_t slot, bool second, uint16_t class,
		    size_t len)
{
	return fam->open && fam->slot == slot && fam->second == second && fam->class == class &&
	       len <= fam->segment && fam->n < UDP_GSO_SEGMENTS && fam->len + len <= UDP_GSO_BYTES;
}

static bool gso_allowed(struct worker *w, uint16_t slot)
{
	uint32_t *until = &w->tx.no_gso_s[slot];

	if (likely(!*until))
		return w->udp_gso && !w->snap->no_offload.udp_gso &&
		       !load_relaxed(&w->fwd->no_gso[slot]);
	if ((int32_t)(w->now_s - *until) >= 0)
		*until = 0;
	return false;
}

static bool is_v6(const struct worker *w, const struct tx_family *fam)
{
	return fam == &w->tx.family[1] || fam == &w->tx.family[4];
}

/* Sets the class of the current message unless it equals that of the socket. */
static void set_class(struct worker *w, struct tx_family *fam)
{
	bool v6 = is_v6(w, fam);
	uint8_t bits;

	fam->class = w->tx.class;
	if (likely(fam->class == CLASS_OF_SOCKET))
		return;
	bits = marking_bits(w->snap, fam->class, v6);
	if (bits != marking_bits(w->snap, CLASS_OF_SOCKET, v6))
		udp_tx_set_class(fam->tx, v6, bits);
}

uint8_t *tx_prepare(struct worker *w, uint16_t slot, unsigned pieces, size_t scratch)
{
	const struct snap_node *node = &w->snap->node[slot];
	struct tx_family *fam;

	if (unlikely(!node->sa_len))
		return NULL;
	fam = &w->tx.family[tx_index(unlikely(w->tx.second) ? &node->second->ep : &node->ep)];
	if (unlikely(fam >= w->tx.family + w->tx.families || fam->fd < 0))
		return NULL;
	if (unlikely(!udp_tx_has_room(fam->tx, pieces) ||
		     TX_SCRATCH - w->tx.scratch_used < scratch))
		tx_flush(w);
	w->tx.current = fam;
	return w->tx.scratch + w->tx.scratch_used;
}

static void begin_message(struct worker *w, struct tx_family *fam, const struct snap_node *node,
			  uint16_t slot)
{
	fam->second = w->tx.second;
	if (unlikely(fam->second))
		udp_tx_begin(fam->tx, node->second->sa, node->second->sa_len, slot | SECOND);
	else
		udp_tx_begin(fam->tx, node->sa, node->sa_len, slot);
}

static uint8_t line_of(const struct snap_node *node, bool second)
{
	return second ? node->second->line : node->line;
}

static void count_line(struct worker *w, const struct snap_node *node, uint16_t slot, size_t len)
{
	bool second = w->tx.second;

	line_out(w, slot, line_of(node, second), len);
	if (node->second)
		spread_pay(&w->fwd->spread[slot].line[second], len + tx_around(node->ep.ip.family),
			   w->now);
}

bool tx_begin(struct worker *w, uint16_t slot, size_t len, unsigned pieces, size_t scratch)
{
	const struct snap_node *node = &w->snap->node[slot];
	struct tx_family *fam;

	if (!tx_prepare(w, slot, pieces, scratch))
		return false;
	fam = w->tx.current;
	if (extends(fam, slot, w->tx.second, w->tx.class, len)) {
		if (fam->n == 1) {
			udp_tx_set_segment(fam->tx, (uint16_t)fam->segment);
			stats_add(&w->traffic[slot].trains, 1);
		}
		fam->len += len;
		fam->n++;
		/* A shorter segment must be the last. */
		fam->open = len == fam->segment;
	} else {
		begin_message(w, fam, node, slot);
		set_class(w, fam);
		fam->slot = slot;
		fam->segment = fam->len = len;
		fam->n = 1;
		fam->open = gso_allowed(w, slot);
	}
	fam->datagrams++;
	fam->bytes += len;
	if (unlikely(node->has_lines))
		count_line(w, node, slot, len);
	/* Charges datagrams of every source: queued frames, flooded copies, relayed datagrams. */
	if (unlikely(w->shapes_hops))
		hops_pay(&w->fwd->hop[slot], len + tx_around(node->ep.ip.family), w->now);
	return true;
}

uint8_t *tx_scratch(struct worker *w, size_t n)
{
	uint8_t *p = w->tx.scratch + w->tx.scratch_used;

	w->tx.scratch_used += n;
	udp_tx_add(w->tx.current->tx, p, n);
	return p;
}

void tx_piece(struct worker *w, const void *data, size_t len)
{
	udp_tx_add(w->tx.current->tx, data, len);
}

struct tx_flush {
	struct worker *w;
	struct tx_family *fam;
};

static void on_failed(void *arg, uint32_t tag, int error, unsigned n, size_t len)
{
	struct tx_flush *f = arg;
	uint16_t slot = (uint16_t)tag;
	const struct snap_node *node = &f->w->snap->node[slot];

	stats_add(&f->w->traffic[slot].refused, n);
	if (node->has_lines)
		f->w->line[slot].refused[line_of(node, tag & SECOND)] +=
			len + n * tx_around(node->ep.ip.family);
	f->fam->datagrams -= n;
	f->fam->bytes -= len;
	if (error == EAGAIN || error == ENOBUFS) {
		drop_many(f->w, DROP_tx_no_buffer, n);
		return;
	}
	drop_many(f->w, DROP_tx_failed, n);
	/* EMSGSIZE concerns path MTU discovery; the link itself works. */
	if (error != EMSGSIZE)
		report_send_error(f->w, tag & SECOND ? &node->second->ep : &node->ep, error, true);
}

static void on_gso_refused(void *arg, uint32_t tag)
{
	struct tx_flush *f = arg;

	count(f->w, CNT_gso_refused, 1);
	f->w->tx.no_gso_s[(uint16_t)tag] = f->w->now_s + TX_NO_GSO_S;
}

static const struct udp_tx_ops tx_ops = { .failed = on_failed, .gso_refused = on_gso_refused };

/* Bytes of the IP packets. */
static size_t wire_bytes(const struct worker *w, const struct tx_family *fam)
{
	return fam->bytes + fam->datagrams * tx_around(is_v6(w, fam) ? 6 : 4);
}

static void flush_family(struct worker *w, struct tx_family *fam)
{
	struct tx_flush f = { w, fam };
	struct udp_tx_result r;

	if (!udp_tx_messages(fam->tx))
		return;
	r = udp_tx_flush(fam->tx, fam->fd, &tx_ops, &f);
	if (unlikely(w->kbits))
		shaper_pay(&w->fwd->shaper, w->kbits, wire_bytes(w, fam), w->now);
	count(w, CNT_net_tx_batches, r.calls);
	count(w, CNT_net_tx_datagrams, fam->datagrams);
	count(w, CNT_net_tx_bytes, fam->bytes);
	fam->open = false;
	fam->datagrams = fam->bytes = 0;
}

void tx_flush(struct worker *w)
{
	for (unsigned i = 0; i < w->tx.families; i++)
		flush_family(w, &w->tx.family[i]);
	w->tx.scratch_used = 0;
}
