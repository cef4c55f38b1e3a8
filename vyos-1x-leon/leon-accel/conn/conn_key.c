// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys of the table of connections, see conn_key.h.
 */
#include "conn/conn_key.h"

#include <string.h>

/* Keys are compared as bytes, so the padding between their fields is zero. */
static struct accel_key between(uint16_t vlan, const struct endpoint *near,
				const struct endpoint *far)
{
	struct accel_key k;

	memset(&k, 0, sizeof(k));
	k.vlan = vlan;
	k.near = near->ip;
	k.far = far->ip;
	k.near_port = near->port;
	k.far_port = far->port;
	return k;
}

/* The key in the view of this node. */
struct accel_key conn_key_of(const struct tcp_view *t, uint16_t vlan, bool from_near)
{
	const struct endpoint src = { .ip = t->src, .port = t->src_port };
	const struct endpoint dst = { .ip = t->dst, .port = t->dst_port };

	return between(vlan, from_near ? &src : &dst, from_near ? &dst : &src);
}

/* The key of a decoded frame. `mirrored`: in the view of the other node. */
struct accel_key conn_key_from(const struct accel_key *of, bool mirrored)
{
	const struct endpoint near = { .ip = of->near, .port = of->near_port };
	const struct endpoint far = { .ip = of->far, .port = of->far_port };

	return between(of->vlan, mirrored ? &far : &near, mirrored ? &near : &far);
}
