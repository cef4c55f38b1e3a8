// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The whole receive step: what comes from the underlay, against a fixed snapshot. The input is
 * {sender (8), segment size (16)} and the bytes of one message, cut into datagrams of that size
 * as UDP_GRO would hand them over.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd_null.h"
#include "wire/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct null_path *n = null_path();
	struct sockaddr_storage ss = { 0 };
	struct udp_rx_msg m = { .from = &ss };
	struct endpoint from;
	uint8_t *copy;

	if (len < 3)
		return 0;
	from = null_ep(data[0] % NULL_NODES);
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
