// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/lan/snooping: the memory of replaced announcements of other nodes. The linker replaces the
 * workers (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/lan/snooping.h"
#include "daemon/leond.h"
#include "fwd/fwd.h"
#include "state/tables/listeners.h"

/* --- replaced functions --- */

static struct listener_set *retired;
static unsigned n_reclaimed;

extern void __wrap_fwd_retire(struct fwd *f, void *p, void (*fn)(void *));
void __wrap_fwd_retire(struct fwd *f, void *p, void (*fn)(void *))
{
	(void)f;
	(void)fn;
	assert_null(retired);
	retired = p;
}

extern void __wrap_fwd_reclaim(struct fwd *f);
void __wrap_fwd_reclaim(struct fwd *f)
{
	(void)f;
	listener_set_free(retired);
	retired = NULL;
	n_reclaimed++;
}

static void a_replaced_announcement_is_freed_at_once(void **state)
{
	uint64_t entry = listener_entry(10, 4, 1);
	struct leond d = { .listeners = listeners_new(2), .fwd = (struct fwd *)&entry };

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		snooping_announced(&d, 1, &entry, 1);
	assert_int_equal(n_reclaimed, 99);
	snooping_announced(&d, 1, NULL, 0);
	assert_int_equal(n_reclaimed, 100);
	listeners_free(d.listeners);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replaced_announcement_is_freed_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
