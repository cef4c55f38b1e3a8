// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data from the underlay with a secret. The input is {control (8)} and a datagram.
 *   control & 3   the node of the source address.
 *   4, 8          the payload is sealed first, with the key of the present session (4) or of
 *                 the previous one (8), so that the opened text is parsed.
 *   16            the correct link value is inserted.
 *   32            both sessions have one epoch.
 * For any input, only the owner of the key gets datagrams opened, and no datagram is accepted
 * twice.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/in/receive.h"
#include "fwd_null.h"
#include "wire/bytes.h"

#define HELD_NOW    4
#define HELD_BEFORE 8
#define HELD_LINK   16
#define ONE_EPOCH   32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Both ends of the sessions with each node: the present and the previous one. */
static struct seal *ours[NULL_NODES][2], *theirs[NULL_NODES][2];

static void make_sessions(bool one_epoch)
{
	for (unsigned i = 1; i < NULL_NODES; i++)
		for (unsigned k = 0; k < 2; k++) {
			struct seal_secrets a = { .tx_link = 100 + 2 * i + k,
						  .rx_link = 200 + 2 * i + k };
			struct seal_secrets b = { .tx_link = a.rx_link, .rx_link = a.tx_link };
			uint8_t epoch = one_epoch ? 1 : (uint8_t)(1 + k);

			memset(a.tx_key, (int)(8 * i + k), sizeof(a.tx_key));
			memset(a.rx_key, (int)(8 * i + k + 2), sizeof(a.rx_key));
			memcpy(b.tx_key, a.rx_key, sizeof(b.tx_key));
			memcpy(b.rx_key, a.tx_key, sizeof(b.rx_key));
			ours[i][k] = seal_new(&a, SEAL_AES_256_GCM, epoch, 1);
			theirs[i][k] = seal_new(&b, SEAL_AES_256_GCM, epoch, 1);
		}
}

static void free_sessions(void)
{
	for (unsigned i = 1; i < NULL_NODES; i++)
		for (unsigned k = 0; k < 2; k++) {
			seal_unref(ours[i][k]);
			seal_unref(theirs[i][k]);
		}
}

static void set_keys(struct snap *s)
{
	s->secret = true;
	for (uint16_t i = 1; i < NULL_NODES; i++)
		snap_set_keys(s, i, ours[i][0], ours[i][0], ours[i][1]);
}

/* Returns the slot of the node with this id, or 0 if unknown. */
static unsigned slot_of(node_id_t id)
{
	return id > NULL_SELF && id < NULL_SELF + NULL_NODES ? id - NULL_SELF : 0;
}

/* Applies `control` to the datagram. Returns its new length. */
static size_t hold_hand(uint8_t control, uint8_t *data, size_t len, bool *good)
{
	uint8_t aad[LEON_HDR_LEN_MAX], *text;
	unsigned from = control & 3, source;
	struct aead_piece piece;
	struct leon_hdr h;
	size_t hdr_len;

	*good = false;
	if (leon_decode(data, len, &h, &hdr_len) != LEON_OK)
		return len;
	if ((control & HELD_LINK) && (h.flags & LEON_F_LINK_VALUE) && from)
		put_u64(data + leon_link_at(&h), seal_tx_link(theirs[from][0]));
	source = slot_of(h.source);
	if (!(control & (HELD_NOW | HELD_BEFORE)) || !(h.flags & LEON_F_SEALED) || !source)
		return len;
	text = malloc(len - hdr_len + 1);
	if (!text)
		abort();
	memcpy(text, data + hdr_len, len - hdr_len);
	piece = (struct aead_piece){ text, len - hdr_len };
	if (seal_data(theirs[source][control & HELD_NOW ? 0 : 1], 0, aad,
		      leon_sealed_header(data, h.n_hops, aad), &piece, 1, data + hdr_len) < 0)
		abort();
	free(text);
	*good = true;
	return len + SEAL_OVERHEAD;
}

/* Returns true if the datagram was opened. */
static bool receive(struct null_path *n, const struct endpoint *from, const uint8_t *data,
		    size_t len)
{
	uint64_t opened = atomic_load(&n->w->stats.counter[CNT_sealed_rx]);
	struct sockaddr_storage ss = { 0 };
	struct udp_rx_msg m = { .len = len, .segment = len ? len : 1, .from = &ss };

	endpoint_to_sockaddr(from, &ss);
	m.data = malloc(len ? len : 1);
	if (!m.data)
		abort();
	memcpy(m.data, data, len);
	worker_begin(n->w);
	from_net_message(n->w, &m);
	worker_end(n->w);
	null_drain(n);
	free(m.data);
	return atomic_load(&n->w->stats.counter[CNT_sealed_rx]) != opened;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct null_path *n = null_path();
	struct endpoint from;
	uint8_t *copy;
	bool good;

	if (len < 1)
		return 0;
	make_sessions(data[0] & ONE_EPOCH);
	null_snap(n, set_keys);
	fwd_reclaim(n->f);
	from = null_ep(data[0] & 3);
	copy = malloc(len + SEAL_OVERHEAD);
	if (!copy)
		abort();
	memcpy(copy, data + 1, len - 1);
	len = hold_hand(data[0], copy, len - 1, &good);
	if (receive(n, &from, copy, len) && !good)
		abort(); /* forged */
	if (receive(n, &from, copy, len))
		abort(); /* replayed */
	free(copy);
	null_snap(n, NULL);
	fwd_reclaim(n->f);
	free_sessions();
	return 0;
}
