// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The complete step from the TAP, with a fixed snapshot. The input is one read: vnet header and
 * frame. The frame comes twice in one batch, so that small frames are bundled. UDP and other
 * critical traffic of the policy uses two paths to slot 2. No sent datagram exceeds the path MTU.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd/out/from_tap.h"
#include "fwd_null.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void set_policy(struct snap *s)
{
	static const uint16_t straight[] = { 2 }, relayed[] = { 1, 2 };
	struct policy p = { .duplicate = true,
			    .critical = { .dscp = 1ULL << 46,
					  .n_macs = 1,
					  .mac = { { { 2, 0, 0, 0, 0, 0x99 } } },
					  .n_ethertypes = 1,
					  .ethertype = { 0x88b8 },
					  .n_services = 2,
					  .service = { { 6, 5060 }, { 17, 0 } } } };

	vlan_set_add(&p.critical.vlans, 7);
	snap_set_policy(s, &p);
	snap_set_pair(s, 2, (struct snap_route){ straight, 1, NULL_MTU },
		      (struct snap_route){ relayed, 2, NULL_MTU - 100 });
}

static void check_sizes(const struct null_path *n)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct tx_family *fam = &n->w->tx.family[i];

		if (fam->open && fam->segment > NULL_MTU)
			abort();
		if (fam->bytes > fam->datagrams * NULL_MTU)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct null_path *n = null_path_with(set_policy);
	uint8_t *copy[2];
	struct frame f;

	if (len > TAP_RX_FRAME_MAX)
		return 0;
	worker_begin(n->w);
	for (unsigned i = 0; i < 2; i++) {
		/* The headroom for the LEON header, as in tap_rx. */
		copy[i] = malloc(SNAP_HDR_LEN_MAX + len + 1);
		memcpy(copy[i] + SNAP_HDR_LEN_MAX, data, len);
		if (tap_rx_decode(copy[i] + SNAP_HDR_LEN_MAX, len, &f)) {
			from_tap_frame(n->w, &f);
			check_sizes(n);
		}
	}
	worker_end(n->w);
	null_drain(n);
	free(copy[0]);
	free(copy[1]);
	return 0;
}
