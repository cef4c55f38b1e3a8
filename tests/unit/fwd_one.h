// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test programs of one packet path: the fixture `fx`, which setup and teardown create for each
 * test, and its queries. Included after cmocka.
 */
#pragma once

#include "fwd_fixture.h"

#define ETHERTYPE_TEST 0x88b6 /* IEEE 802, local experimental */
#define N(slot)	       (FX_SELF + (slot))

static struct fixture fx;

static inline int fx_setup(void **state)
{
	(void)state;
	return fx_open(&fx, true) ? 0 : -1;
}

static inline int fx_teardown(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

/* Reads all reports to the control thread. Returns the number of messages of the type, and the last
 * message in `last` unless NULL. */
static inline unsigned fx_reports(enum fwd_report_type type, struct fwd_report *last)
{
	struct fwd_report ev;
	unsigned n = 0;

	if (last)
		*last = (struct fwd_report){ 0 };
	while (fwd_next_report(fx.f, &ev))
		if (ev.type == type) {
			if (last)
				*last = ev;
			n++;
		}
	return n;
}
