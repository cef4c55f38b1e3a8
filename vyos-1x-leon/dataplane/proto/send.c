// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transmission to a peer: directly, along hops if the direct link is down, or back along the path
 * of a received datagram. Sealing and padding of messages. Called by all floors above, on the
 * control thread. Protocol 3.1, 3.2.
 */
#include "proto/core.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"

static_assert(40 + 8 + LEON_HDR_LEN_MAX + LEON_LINK_LEN + ENVELOPE_LEN + MSG_LEN_MAX +
			      AEAD_TAG_LEN ==
		      1280,
	      "the longest message through relays fits IPv6's smallest link");

/* --- routes to a peer --- */

bool via_direct(const struct peer *p, struct via *v)
{
	if (!p->ep.ip.family)
		return false;
	*v = (struct via){ .to = p->ep, .n_hops = 1, .hop = { p->id } };
	return true;
}

bool via_path(struct overlay *o, const struct path *path, struct via *v)
{
	const struct peer *first = path->n_hops ? peer_at(o, path->hop[0]) : NULL;

	if (!first || !first->ep.ip.family)
		return false;
	*v = (struct via){ .to = first->ep, .n_hops = path->n_hops };
	for (unsigned i = 0; i < path->n_hops; i++) {
		const struct node *n = nodedb_at(o->nodes, path->hop[i]);

		if (!n)
			return false;
		v->hop[i] = n->id;
	}
	return true;
}

bool via_claimed(struct overlay *o, const struct peer *p, struct via *v)
{
	struct path path;

	return topology_claimed(o, p, &path) && via_path(o, &path, v);
}

bool via_best(struct overlay *o, const struct peer *p, struct via *v)
{
	if (p->probe.up && !p->probe.silent && via_direct(p, v))
		return true;
	if (p->choice.path.n_hops > 1 && via_path(o, &p->choice.path, v))
		return true;
	if (p->choice.path.n_hops == 0 && via_claimed(o, p, v))
		return true;
	return via_direct(p, v);
}

bool via_back(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h,
	      struct via *v)
{
	const struct peer *last;
	unsigned n = h->n_hops;

	*v = (struct via){ .to = *from, .n_hops = h->n_hops };
	v->hop[n - 1] = h->source;
	for (unsigned i = 0; i + 1 < n; i++)
		v->hop[i] = h->hop[n - 2 - i];
	if (n == 1)
		return true;
	/* Uses the known address of the relay, not the source of this datagram. */
	last = peer_find(o, v->hop[0]);
	if (!last || !last->ep.ip.family)
		return false;
	v->to = last->ep;
	return true;
}

size_t via_header(struct overlay *o, const struct via *v, uint8_t *out)
{
	struct leon_hdr h = {
		.kind = LEON_CONTROL,
		.flags = keyring_sealed(o->keys) ? LEON_F_SEALED : 0,
		.n_hops = v->n_hops,
		.vni = o->vni,
		.source = o->self,
	};

	memcpy(h.hop, v->hop, sizeof(h.hop));
	return leon_encode(&h, out);
}

/* --- sending --- */

/* A relay forwards only datagrams with the link value of its own link (protocol 2.6). */
static size_t link_len(struct overlay *o, const struct via *v)
{
	const struct peer *first = v->n_hops > 1 ? peer_find(o, v->hop[0]) : NULL;

	return first && first->data.tx ? LEON_LINK_LEN : 0;
}

void via_transmit(struct overlay *o, const struct via *v, size_t len, uint8_t type)
{
	if (link_len(o, v) && len + LEON_LINK_LEN <= sizeof(o->buf))
		len = leon_insert_link(o->buf, len, v->n_hops,
				       seal_tx_link(peer_find(o, v->hop[0])->data.tx));
	o->count.tx_msgs++;
	o->count.tx_bytes += len;
	o->count.tx_by_type[type % array_size(o->count.tx_by_type)]++;
	o->count.tx_bytes_by_type[type % array_size(o->count.tx_by_type)] += len;
	o->ops.send(o->arg, &v->to, o->buf, len);
}

int peer_send_via(struct overlay *o, struct peer *p, const struct via *v, const struct msg *m,
		  uint16_t size)
{
	size_t hdr_len, around;
	int len, total;

	if (!p->cur)
		return -ENOKEY;
	hdr_len = via_header(o, v, o->buf);
	len = msg_encode(m, o->buf + hdr_len + ENVELOPE_LEN, MSG_LEN_MAX);
	if (len < 0) {
		log_limited(&o->log, overlay_now(o), LOG_LVL_ERROR, LOG_TOKEN,
			    "cannot encode a message type=%s error=%d", msg_type_name(m->type),
			    -len);
		return len;
	}
	around = hdr_len + ENVELOPE_LEN + (keyring_sealed(o->keys) ? AEAD_TAG_LEN : 0) +
		 link_len(o, v);
	if (size > around + (size_t)len && size <= sizeof(o->buf)) {
		memset(o->buf + hdr_len + ENVELOPE_LEN + len, 0, size - around - (size_t)len);
		len = (int)(size - around);
	}
	total = session_seal(p->prev_sends ? p->prev : p->cur, o->buf, hdr_len, (size_t)len,
			     sizeof(o->buf));
	if (total < 0)
		return total;
	via_transmit(o, v, (size_t)total, m->type);
	return 0;
}

int peer_send(struct overlay *o, struct peer *p, const struct msg *m)
{
	struct via v;

	if (!p->cur)
		return -ENOKEY;
	if (!via_best(o, p, &v))
		return -EHOSTUNREACH;
	return peer_send_via(o, p, &v, m, 0);
}
