// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire/frame/mcast: groups of frames, and messages of IGMP, MLD and PIM. A second attempt repairs
 * the checksum, which random changes rarely keep. Reads stay inside the frame, groups are
 * multicast, and the list of a report ends.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/csum.h"
#include "wire/frame/mcast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void parse(const uint8_t *data, size_t len, const struct eth_view *v)
{
	struct mcast_message m;
	struct ip_addr group;
	unsigned n = 0;
	bool left;

	if (mcast_parse(data, len, v, &m) < 0)
		return;
	if (m.family != v->ip_version || (m.group.family && m.group.family != m.family))
		abort();
	while (mcast_next(&m, &group, &left)) {
		if (group.family != m.family || ++n > len)
			abort();
		if (group.family == 4 ? group.b[0] >> 4 != 0xe : group.b[0] != 0xff)
			abort();
	}
	if (n && m.kind != MCAST_REPORT)
		abort();
}

static void repair(uint8_t *data, size_t len, const struct eth_view *v)
{
	const uint8_t *ip = data + v->l3_offset;
	size_t end = v->l3_offset;
	uint32_t sum = 0;

	if (!v->l4_offset || v->l4_offset + 4u > len)
		return;
	end += v->ip_version == 4 ? get_u16(ip + 2) : 40u + get_u16(ip + 4);
	if (end > len || end < v->l4_offset + 4u)
		return;
	if (v->ip_version == 6)
		sum = csum_add((uint32_t)(end - v->l4_offset) + 58, ip + 8, 32);
	put_u16(data + v->l4_offset + 2, 0);
	put_u16(data + v->l4_offset + 2,
		(uint16_t)~csum_fold(csum_add(sum, data + v->l4_offset, end - v->l4_offset)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct eth_view v;
	uint32_t group;
	uint8_t *copy;

	if (eth_parse(data, len, &v))
		return 0;
	if (mcast_group_of(data, len, &v, &group) && !mac_is_multicast(v.dst))
		abort();
	parse(data, len, &v);
	copy = malloc(len);
	if (!copy)
		abort();
	memcpy(copy, data, len);
	repair(copy, len, &v);
	parse(copy, len, &v);
	free(copy);
	return 0;
}
