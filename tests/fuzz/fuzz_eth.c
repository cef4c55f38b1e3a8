// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/frame/eth, arp, nd and mss: changes of a frame during forwarding. Built answers must parse.
 * Clamping must keep a TCP checksum correct, or wrong as before.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/frame/ecn.h"
#include "wire/frame/eth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct mac our_mac = { { 0x02, 0, 0, 0, 0, 1 } };

/* Ones' complement sum of the TCP header, because clamping changes only the header. */
static unsigned header_sum(const uint8_t *tcp)
{
	unsigned sum = 0;

	for (size_t i = 0; i < (tcp[12] >> 4) * 4u; i++)
		sum = (sum + (i & 1 ? tcp[i] : tcp[i] * 256u)) % 0xffff;
	return sum;
}

static void clamp(const uint8_t *data, size_t len, const struct eth_view *v, bool partial)
{
	uint8_t *copy = malloc(len);

	if (!copy)
		abort();
	memcpy(copy, data, len);
	if (tcp_clamp_mss(copy, len, v, 1220, partial)) {
		const uint8_t *tcp = copy + v->l4_offset;

		if (!partial && header_sum(tcp) != header_sum(data + v->l4_offset))
			abort();
		if (partial && memcmp(tcp + 16, data + v->l4_offset + 16, 2))
			abort();
	} else if (memcmp(copy, data, len)) {
		abort();
	}
	free(copy);
}

/* Marking stays inside the frame, and a second mark changes nothing. */
static void mark(const uint8_t *data, size_t len, const struct eth_view *v)
{
	uint8_t *copy = malloc(len);

	if (!copy)
		abort();
	memcpy(copy, data, len);
	if (ecn_takes_marks(copy, len, v)) {
		ecn_mark(copy, v);
		if (!ecn_takes_marks(copy, len, v))
			abort();
		ecn_mark(copy, v);
	}
	free(copy);
}

static void answer(const uint8_t *data, size_t len, const struct eth_view *v)
{
	uint8_t out[94];
	struct eth_view reply;
	struct arp_view a;
	struct nd_view n;
	size_t out_len;

	if (arp_parse(data, len, v, &a) == 0 &&
	    (out_len = arp_build_reply(data, v, &a, our_mac, out, sizeof(out))) > 0) {
		if (eth_parse(out, out_len, &reply) || reply.vlan != v->vlan ||
		    arp_parse(out, out_len, &reply, &a) || a.op != 2)
			abort();
	}
	if (nd_parse(data, len, v, &n) == 0 &&
	    (out_len = nd_build_advert(data, v, &n, our_mac, false, out, sizeof(out))) > 0) {
		if (eth_parse(out, out_len, &reply) || reply.vlan != v->vlan ||
		    nd_parse(out, out_len, &reply, &n) || n.type != 136)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct eth_view v;

	if (eth_parse(data, len, &v))
		return 0;
	if (v.l3_offset > len || (v.l4_offset && v.l4_offset >= len))
		abort();
	answer(data, len, &v);
	mark(data, len, &v);
	clamp(data, len, &v, false);
	clamp(data, len, &v, true);
	return 0;
}
