// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole receive step: what comes from the underlay, against a fixed snapshot. The input is
 * {control (8), segment size (16)} and the bytes of one message, cut into datagrams of that size
 * as UDP_GRO would hand them over:
 *   control & 3   the node whose address it comes from
 *   4, 8, 16      nothing is relayed; the loop guard blocks; data needs keys, and there are none
 *   32            it comes from an IPv6 address
 *   64            the kernel says when
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd/from_net.h"
#include "fwd_null.h"
#include "wire/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint8_t control;

static void set_switches(struct snap *s)
{
	s->transit_disable = control & 4;
	if (control & 8)
		snap_add_lan(s);
	s->secret = control & 16;
}

/* The path, with a new snapshot where the switches are others than before. */
static struct null_path *path_with(uint8_t wanted)
{
	struct null_path *n = null_path();

	if ((control ^ wanted) & 28) {
		control = wanted;
		null_snap(n, set_switches);
		fwd_reclaim(n->f);
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct null_path *n;
	struct sockaddr_storage ss = { 0 };
	struct udp_rx_msg m = { .from = &ss };
	struct endpoint from;
	uint8_t *copy;

	if (len < 3)
		return 0;
	n = path_with(data[0]);
	from = null_ep(data[0] % NULL_NODES);
	m.rx_real_ns = data[0] & 64;
	if (data[0] & 32)
		from.ip = (struct ip_addr){ 6, { 0x20, 1, 0xd, 0xb8, [15] = data[0] & 3 } };
	endpoint_to_sockaddr(&from, &ss);
	m.segment = get_u16(data + 1);
	m.len = len - 3;
	if (!m.segment || m.segment > m.len)
		m.segment = m.len ? m.len : 1;
	/* Steps write into what they got, and a byte behind the end is to be noticed. */
	copy = malloc(m.len ? m.len : 1);
	memcpy(copy, data + 3, m.len);
	m.data = copy;
	worker_begin(n->w);
	from_net_message(n->w, &m);
	worker_end(n->w);
	null_drain(n);
	free(copy);
	return 0;
}
