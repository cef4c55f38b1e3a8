// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The complete receive step on datagrams from the underlay, with a fixed snapshot. The input is
 * {control (8), segment size (16)} and the bytes of one message, cut into datagrams of that size as
 * UDP_GRO delivers them.
 *   control & 3   the node of the source address.
 *   4, 8, 16      no relaying; the loop guard blocks; data needs keys, and no keys exist.
 *   32            IPv6 source address.
 *   64            time stamp of the kernel.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd/in/receive.h"
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

/* Returns the path, with a new snapshot if the switches have changed. */
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
	/* Steps write into the input, so a byte beyond the end must be detected. */
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
