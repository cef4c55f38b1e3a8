// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Segments made in the name of a host, see conn_state.h. A segment ends a connection, or makes a
 * host state its sequence numbers.
 */
#include "conn/conn.h"
#include "conn/conn_state.h"
#include "engine.h"
#include "peer/peer.h"
#include "flow/proxy_sock.h"

#define ASKS 5 /* for each host, because each may be lost */

static void send_made(struct conn *c, enum accel_where where, const struct tcp_segment *s)
{
	uint8_t frame[TCP_FRAME_MAX];

	place_send(c, where, no_offload, frame, tcp_make(s, frame));
}

/* Writes a segment without payload in the name of one host, for the far or the near host. */
static struct tcp_segment made_for(const struct flow *f, enum accel_where where, uint8_t flags)
{
	bool to_near = where == ACCEL_LAN;
	const struct accel_key *k = &f->key;

	return (struct tcp_segment){
		.dst_mac = to_near ? f->near.mac : f->far.mac,
		.src_mac = to_near ? f->far.mac : f->near.mac,
		.vlan = k->vlan,
		.src = to_near ? k->far : k->near,
		.dst = to_near ? k->near : k->far,
		.src_port = to_near ? k->far_port : k->near_port,
		.dst_port = to_near ? k->near_port : k->far_port,
		.flags = flags,
	};
}

/* Without a proxy socket, the host must not keep a connection that no process serves. */
static void reset_by_hand(struct conn *c)
{
	const struct flow *f = &c->flow;
	struct tcp_segment s = made_for(f, ACCEL_LAN, TCP_RST | TCP_ACK);

	s.seq = f->near.acked;
	s.ack = f->near.next;
	send_made(c, ACCEL_LAN, &s);
}

void conn_refuse(struct conn *c, enum accel_where where, const struct flow_frame *frame)
{
	struct tcp_segment s;

	if (tcp_refusal(frame->v, frame->t, &s))
		send_made(c, where, &s);
}

/*
 * No process knows the acknowledgement of the host. The host answers an old segment with an ACK,
 * which states the number. The ACK is answered with RST.
 */
void conn_request_host(struct conn *c, enum accel_where where)
{
	const struct flow *f = &c->flow;
	bool near = where == ACCEL_LAN;
	struct tcp_segment s = made_for(f, where, TCP_ACK);

	s.seq = (near ? f->far_start : f->near_start) - 1;
	s.ack = near ? f->near_start : f->far_start;
	send_made(c, where, &s);
}

bool conn_probes_reset(const struct conn *c)
{
	return c->flow.state == FLOW_CLOSED && (c->ask.near || c->ask.far);
}

void conn_probe_reset(struct conn *c)
{
	/* One of two hosts at a time, because both may be on the same LAN (local_pair.c). */
	bool far = c->ask.far > c->ask.near;

	(*(far ? &c->ask.far : &c->ask.near))--;
	conn_request_host(c, far ? ACCEL_NODE : ACCEL_LAN);
}

static void count_reset(struct conn *c)
{
	c->e->counters.reset++;
	c->peer->counted.reset++;
}

void conn_quench(struct conn *c, const struct intercepted_one *one, mono_t now)
{
	struct flow *f = &c->flow;

	f->near.mac = one->near_mac;
	f->far.mac = one->far_mac;
	hosts_note(c);
	f->near_start = one->near_start;
	f->far_start = one->far_start;
	flow_quench(f, now);
	count_reset(c);
	c->ask.near = ASKS;
	/* A frame from here would claim the address of a host that has moved away. */
	c->ask.far = moved_has(&c->e->moved, f->key.vlan, f->near.mac) ? 0 : ASKS;
}

void conn_end_by_reset(struct conn *c, int fd)
{
	count_reset(c);
	/* The host has acknowledged more than the proxy socket knows, so both segments are sent. */
	reset_by_hand(c);
	/* The other accelerator cannot reset the far host any more. */
	if (c->peer->state != PEER_UP || c->away.far_at)
		conn_request_host(c, ACCEL_NODE);
	/* The segments may be lost, and a host that only waits would not notice. Hosts that also
	 * exchange frames directly may be past the number, and answer with the present number. */
	c->ask.near = ASKS;
	c->ask.far = place_near_is_migrated(c) ? 0 : ASKS;
	if (fd >= 0)
		proxy_sock_reset(fd);
}

/* --- places of the hosts --- */

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
