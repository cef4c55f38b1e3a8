// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters of workers by node: for the counter comparison (fwd_traffic) and the look at all nodes
 * (fwd_uses).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "from_tap_lab.h"

/* A link counts all data. A path counts data that ends here. Control and refused datagrams do not
 * count. */
static void data_is_counted(void **state)
{
	static const node_id_t relayed[] = { N(0), N(2) }, ours[] = { N(0) }, theirs[] = { N(2) };
	const struct {
		uint8_t kind, n_hops;
		const node_id_t *hop;
	} sent[] = { { LEON_FRAME, 1, ours },	 { LEON_FRAME, 1, ours },
		     { LEON_FRAME, 2, relayed }, { LEON_CONTROL, 2, relayed },
		     { LEON_CONTROL, 1, ours },	 { LEON_FRAME, 1, theirs } };
	struct fwd_traffic t;
	uint8_t buf[256];

	(void)state;
	for (size_t i = 0; i < array_size(sent); i++) {
		size_t n = fx_header(buf, sent[i].kind, 0, N(1), 0, sent[i].n_hops, sent[i].hop);

		memset(buf + n, 0, 64);
		fx_eth(buf + n, 1, 9, ETHERTYPE_TEST);
		fx_receive(&fx, &fx.ep[1], buf, n + 64, 0);
	}
	fwd_traffic(fx.f, 1, &t);
	assert_int_equal(t.link_rx, 3);
	assert_int_equal(t.path_rx, 2);
	assert_int_equal(t.link_tx + t.path_tx, 0);
	fwd_traffic(fx.f, 2, &t);
	assert_int_equal(t.link_tx, 1);
	assert_int_equal(t.directed, 1);
	assert_int_equal(t.path_tx + t.link_rx + t.path_rx + t.refused, 0);
}

/* Frames for a host and frames to all nodes, alone and in one bundle. */
static void floods_are_counted_apart(void **state)
{
	struct fwd_use use[3];
	struct fwd_traffic t;

	(void)state;
	memset(frame, 0xff, 6);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + 100));
	fwd_traffic(fx.f, 1, &t);
	assert_int_equal(t.link_tx, 2); /* one of them for node 2 */
	assert_int_equal(t.directed, 0);
	fx_eth(frame, REMOTE, HOST, ETHERTYPE_TEST);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + 100));
	fx_eth(frame, FAR, HOST, ETHERTYPE_TEST);
	assert_true(fx_host_sends(&fx, out, TAP_VNET_LEN + 100));
	fwd_traffic(fx.f, 1, &t);
	assert_int_equal(t.link_tx, 4);
	assert_int_equal(t.directed, 2);
	fwd_uses(fx.f, array_size(use), use);
	assert_int_equal(use[0].link_tx, 0);
	assert_int_equal(use[1].link_tx, 4);
	assert_int_equal(use[1].directed, 2);
	fwd_traffic(fx.f, 2, &t);
	assert_int_equal(use[2].link_tx, t.link_tx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(data_is_counted, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(floods_are_counted_apart, from_tap_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
