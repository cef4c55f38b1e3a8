// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: checks link values and seals of data from the underlay, see receive.h. doc/protocol.md
 * sections 2.5 and 2.6. Workers.
 */
#include "fwd/in/receive.h"

#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "fwd/worker.h"
#include "wire/bytes.h"

/* One instruction compares 64 bits, so the time does not reveal the number of correct bits. */
static bool is_link_value(const struct snap_node *node, uint64_t v)
{
	return v && ((v == node->link_rx[0]) | (v == node->link_rx[1]));
}

bool incoming_link(struct worker *w, const struct leon_hdr *h, const uint8_t *data,
		   uint16_t previous)
{
	bool has = h->flags & LEON_F_LINK_VALUE, good = !has;

	if (has)
		good = is_link_value(&w->snap->node[previous], get_u64(data + leon_link_at(h)));
	else if (w->snap->secret)
		good = (h->flags & LEON_F_SEALED) && h->n_hops == 1;
	if (unlikely(!good))
		drop(w, DROP_bad_link_value);
	return good;
}

/* Selects the key by the epoch of the data. Two sessions may share an epoch by chance; *other is
 * then the second candidate. */
static struct seal *choose_key(const struct snap_node *node, const uint8_t *payload, size_t len,
			       struct seal **other)
{
	struct seal *found = NULL;

	*other = NULL;
	for (unsigned i = 0; i < 2 && len >= SEAL_NONCE_LEN; i++) {
		struct seal *s = node->seal_rx[i];

		if (!s || seal_epoch(s) != seal_data_epoch(payload) || seal_cipher(s) == SEAL_NONE)
			continue;
		if (found)
			*other = s;
		else
			found = s;
	}
	return found;
}

/* A failed open destroys its input, so the first attempt works on a copy. */
static int open_either(struct worker *w, struct seal *first, struct seal *second, const void *aad,
		       size_t aad_len, uint8_t *payload, size_t len)
{
	int n;

	if (len > NET_BUFFER)
		return -EBADMSG;
	memcpy(w->spare, payload, len);
	n = seal_open(first, w->index, aad, aad_len, payload, len);
	if (n != -EBADMSG)
		return n;
	memcpy(payload, w->spare, len);
	return seal_open(second, w->index, aad, aad_len, payload, len);
}

bool incoming_open(struct worker *w, const struct leon_hdr *h, uint16_t source, const uint8_t *data,
		   uint8_t **payload, size_t *len)
{
	const struct snap_node *node = &w->snap->node[source];
	uint8_t aad[LEON_HDR_LEN_MAX];
	struct seal *key, *other;
	size_t aad_len;
	int n;

	if (!(h->flags & LEON_F_SEALED)) {
		if (likely(!w->snap->secret || node->clear_rx))
			return true;
		return drop(w, DROP_not_sealed);
	}
	key = choose_key(node, *payload, *len, &other);
	if (unlikely(!key))
		return drop(w, DROP_seal_unknown_key);
	aad_len = leon_sealed_header(data, h->n_hops, aad);
	if (likely(!other))
		n = seal_open(key, w->index, aad, aad_len, *payload, *len);
	else
		n = open_either(w, key, other, aad, aad_len, *payload, *len);
	if (unlikely(n < 0))
		return drop(w, n == -EALREADY ? DROP_seal_replayed : DROP_seal_not_authentic);
	count(w, CNT_sealed_rx, 1);
	*payload += SEAL_NONCE_LEN;
	*len = (size_t)n;
	return true;
}
