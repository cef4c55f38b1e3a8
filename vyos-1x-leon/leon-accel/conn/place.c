// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Places of the hosts of a connection, see place.h.
 */
#include "conn/place.h"

#include "conn/conn_state.h"
#include "engine.h"
#include "peer/peer.h"

bool place_is_here(const struct conn *c)
{
	return c->away.far_at && c->away.far_at == c->e->self;
}

bool place_near_is_migrated(const struct conn *c)
{
	return c->away.near_seen.ns;
}

bool place_is_migrated(const struct conn *c)
{
	return c->away.far_at || place_near_is_migrated(c);
}

void place_received(struct conn *c, mono_t now)
{
	if (place_near_is_migrated(c))
		c->away.near_seen = now;
}

void place_from_near(struct conn *c, const struct flow_frame *f, mono_t now)
{
	flow_from_near(&c->flow, f, now);
	hosts_note(c);
}

void place_send(struct conn *c, enum accel_where where, const uint8_t *vnet, const uint8_t *frame,
		size_t len)
{
	node_id_t node = c->peer->id;

	if (where == ACCEL_LAN && place_near_is_migrated(c)) {
		peer_forward(c->peer, ACCEL_FORWARD, c->flow.stream, vnet, frame, len);
		return;
	}
	/* Without a proxy socket, the connection is being reset, and no turn follows. */
	if (place_is_here(c) && c->flow.state == FLOW_RELEASING && c->socket.fd >= 0) {
		local_pair_send(c, where == ACCEL_NODE, vnet, frame, len);
		return;
	}
	if (where == ACCEL_NODE && place_is_here(c))
		where = ACCEL_LAN;
	else if (where == ACCEL_NODE && c->away.far_at)
		node = c->away.far_at;
	engine_send(c->e, (uint32_t)c->serial, where, node, vnet, frame, len);
}
