// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/frame/tcp: a parsed segment lies inside its frame. A half of its payload is a valid segment.
 */
#include <stdint.h>
#include <stdlib.h>

#include "wire/frame/ip.h"
#include "wire/frame/tcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t out[65536];
	struct tcp_view t, u;
	struct eth_view v;
	size_t n;

	if (eth_parse(data, len, &v) || tcp_parse(data, len, &v, &t))
		return 0;
	if (v.l4_offset + t.hdr_len + t.payload_len > len)
		abort();
	n = tcp_cut(data, &v, &t, 7, t.payload_len / 2, out, sizeof(out));
	if (!n)
		return 0;
	if (eth_parse(out, n, &v) || tcp_parse(out, n, &v, &u))
		abort();
	if (u.payload_len != t.payload_len / 2 || u.seq != 7 || u.ack != t.ack ||
	    u.flags & TCP_FIN || u.has_ts != t.has_ts)
		abort();
	tcp_raise_ts(out, &v, &u, u.ts_val + 1, false);
	if (tcp_parse(out, n, &v, &t) || t.ts_val != u.ts_val + u.has_ts || t.ts_ecr != u.ts_ecr)
		abort();
	return 0;
}
