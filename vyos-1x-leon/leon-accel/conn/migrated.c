// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moved hosts of intercepted connections, see conn_state.h. If a host moves, the node of the other
 * host knows the new node (far_at). The former node only knows that the host is away
 * (near_seen).
 */
#include "conn/conn_state.h"

#include <string.h>

#include "peer/peer.h"
#include "frames/tun.h"

/* Limit until both hosts have all data of the proxy sockets, on one LAN or if the other node has no
 * accelerator. Some segments may have bypassed this process. */
#define MEET_MAX_MS 15000
#define FINDS	    3
/* A restarted leond reports moved hosts before it knows of intercepted connections, and so before
 * it diverts frames for them. */
#define UNKNOWN_MS 5000
/* Silence of the peer about a connection with its near host elsewhere. The peer forwards the frames
 * of the host, and repeats a release after 20 s. A longer silence means that the peer has ended the
 * connection, and frames of the host do not arrive any more. */
#define NEAR_SILENT_MS 30000

static bool is_far_lost(const struct conn *c, mono_t now)
{
	const struct accel_peer *at;
	int64_t ms = mono_sub_ms(now, c->away.met);

	if (!c->away.far_at)
		return false;
	at = peer_find(c->e, c->away.far_at);
	if (!place_is_here(c) && (!at || !peer_is_known(at, now)))
		return ms > UNKNOWN_MS;
	if (!place_is_here(c) && at->room)
		return false;
	return ms > MEET_MAX_MS;
}

bool migrated_is_lost(const struct conn *c, mono_t now)
{
	return is_far_lost(c, now) ||
	       (place_near_is_migrated(c) && mono_sub_ms(now, c->away.near_seen) > NEAR_SILENT_MS);
}

static void far_is_at(struct conn *c, node_id_t node, mono_t now)
{
	if (node == c->peer->id)
		node = NODE_ID_NONE;
	if (c->away.far_at == node)
		return;
	c->away.far_at = node;
	c->away.met = now;
	c->away.host_probes = 0;
	local_pair_free(c);
	if (place_is_here(c)) {
		c->away.host_probes = FINDS;
		local_pair_begin(c, now);
	}
	if (node)
		conn_release(c, now);
}

static void near_is_migrated(struct conn *c, bool away, mono_t now)
{
	if (place_near_is_migrated(c) == away)
		return;
	c->away.near_seen = away ? now : (mono_t){ 0 };
	if (away)
		conn_release(c, now);
}

bool migrated_frame(struct conn *c, const struct conn_frame *cf, mono_t now)
{
	const struct flow_frame *f = &cf->frame;

	if (cf->from_lan)
		near_is_migrated(c, false, now);
	/* A frame that was queued before the host moved proves nothing. leond reports the return of
	 * a host. */
	if (cf->peer == c->peer)
		return false;
	far_is_at(c, cf->peer->id, now);
	if (cf->from_lan)
		return false;
	peer_forward(c->peer, ACCEL_FOUND, c->flow.stream, f->message + ACCEL_QUEUE_HDR, f->data,
		     f->len);
	return true;
}

/*
 * The proxy sockets send from this node with the addresses of both hosts, so switches forward the
 * frames of both hosts to this node. leond sees only those frames. The frames suffice to learn the
 * acknowledgements of both hosts, and the proxy sockets send all missing data. The only difference
 * to a host at another node: the host may have received more than its proxy socket sent.
 */
void migrated_both_local(struct conn *c, bool from_near, const struct flow_frame *f, mono_t now)
{
	flow_cancel(&c->flow, now);
	if (c->flow.state == FLOW_PLAIN)
		return;
	far_is_at(c, c->e->self, now);
	if (from_near) {
		near_is_migrated(c, false, now);
		place_from_near(c, f, now);
	} else if (c->flow.state == FLOW_CLOSED) {
		flow_from_far(&c->flow, f, now);
	} else {
		peer_forward(c->peer, ACCEL_FOUND, c->flow.stream, f->message + ACCEL_QUEUE_HDR,
			     f->data, f->len);
	}
}

void migrated_update(struct conn *c, struct mac mac, node_id_t node, mono_t now)
{
	const struct flow *f = &c->flow;

	if (mac_to_u64(f->far.mac) == mac_to_u64(mac))
		far_is_at(c, node, now);
	if (mac_to_u64(f->near.mac) == mac_to_u64(mac))
		near_is_migrated(c, node != c->e->self, now);
}

/* Reports whether the frame in the message belongs to this connection and comes from its near
 * host. */
static bool is_of(const struct conn *c, const struct eth_view *v, const struct tcp_view *t)
{
	const struct accel_key *k = &c->flow.key;

	return v->vlan == k->vlan && t->src_port == k->near_port && t->dst_port == k->far_port &&
	       ip_equal(&t->src, &k->near) && ip_equal(&t->dst, &k->far);
}

static void found(struct conn *c, const struct flow_frame *f, mono_t now)
{
	near_is_migrated(c, true, now);
	place_received(c, now);
	place_from_near(c, f, now);
}

/* Copies the message into one of the queue and parses it. Returns false if it is invalid. */
static bool take_forwarded(struct conn *c, const struct accel_frame *m, struct flow_frame *f,
			   struct eth_view *v, struct tcp_view *t)
{
	uint8_t *message = c->e->message, *vnet = message + ACCEL_QUEUE_HDR;
	uint8_t *data = vnet + ACCEL_VNET_LEN;
	size_t len = m->data.len;

	if (len <= ACCEL_VNET_LEN || len > ACCEL_QUEUE_MAX - ACCEL_QUEUE_HDR)
		return false;
	memcpy(vnet, m->data.data, len);
	len -= ACCEL_VNET_LEN;
	if (eth_parse(data, len, v) < 0 || tcp_parse(data, len, v, t) < 0 || !is_of(c, v, t) ||
	    !vnet_renew(vnet, v, t))
		return false;
	*f = (struct flow_frame){ .message = message,
				  .message_len = ACCEL_QUEUE_HDR + m->data.len,
				  .data = data,
				  .len = len,
				  .gso_size = engine_gso_size(vnet),
				  .v = v,
				  .t = t };
	return true;
}

void migrated_forwarded(struct conn *c, const struct accel_frame *m, mono_t now)
{
	struct eth_view v;
	struct tcp_view t;
	struct flow_frame f;

	if (!take_forwarded(c, m, &f, &v, &t))
		peer_misuse(c->peer, ACCEL_BAD_FRAME);
	else if (m->type == ACCEL_FOUND)
		found(c, &f, now);
	else if (c->away.far_at)
		place_send(c, ACCEL_NODE, f.message + ACCEL_QUEUE_HDR, f.data, f.len);
}
