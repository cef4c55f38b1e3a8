// SPDX-License-Identifier: GPL-2.0-or-later
/* The file of intercepted connections: the next process reads the entries of previous ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/intercepted.h"

static char directory[] = "/tmp/leon-taken-XXXXXX", path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/leon0.intercepted", directory);
	return 0;
}

static int remove_all(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static struct intercepted_one one_of(uint16_t port)
{
	struct intercepted_one one = { .key.near_port = port,
				       .node = 7,
				       .near_start = 1000u + port };

	one.key.near.family = one.key.far.family = 4;
	return one;
}

static struct intercepted_file *opened(const char *name)
{
	struct intercepted_file *t;

	assert_int_equal(intercepted_open(&t, name), 0);
	return t;
}

static int put(struct intercepted_file *t, uint16_t port)
{
	struct intercepted_one one = one_of(port);

	return intercepted_put(t, &one);
}

static void what_is_left_is_found_until_it_is_reset(void **state)
{
	struct intercepted_file *t = opened(path);
	int second;

	(void)state;
	assert_null(intercepted_before(t, 0));
	assert_true(put(t, 1) >= 0);
	second = put(t, 2);
	assert_true(put(t, 3) >= 0);
	intercepted_drop(t, second);
	intercepted_close(t); /* as after a killed process */

	t = opened(path);
	assert_int_equal(intercepted_before(t, 0)->key.near_port, 1);
	assert_int_equal(intercepted_before(t, 1)->key.near_port, 3);
	assert_int_equal(intercepted_before(t, 1)->near_start, 1003);
	assert_null(intercepted_before(t, 2));
	intercepted_drop(t, intercepted_own_before(t, 0));
	assert_int_equal(intercepted_before(t, 0)->key.near_port, 3);
	intercepted_close(t); /* killed before it has reset the second one */

	t = opened(path);
	assert_int_equal(intercepted_before(t, 0)->key.near_port, 3);
	second = intercepted_own_before(t, 0);
	assert_null(intercepted_before(t, 0));
	assert_true(put(t, 4) != second);
	intercepted_close(t); /* killed before the host has answered */

	t = opened(path);
	for (unsigned i = 0; i < 2; i++)
		intercepted_drop(t, intercepted_own_before(t, 0));
	assert_null(intercepted_before(t, 0));
	intercepted_close(t);

	t = opened(path);
	assert_null(intercepted_before(t, 0));
	intercepted_close(t);
}

static void a_full_table_says_so_and_room_comes_back(void **state)
{
	struct intercepted_file *t = opened(NULL);

	(void)state;
	for (unsigned i = 0; i < INTERCEPTED_PLACES; i++)
		assert_int_equal(put(t, (uint16_t)i), i);
	assert_int_equal(put(t, 1), -1);
	intercepted_drop(t, -1);
	intercepted_drop(t, 77);
	assert_int_equal(put(t, 1), 77);
	intercepted_close(t);
}

static void fill_file(uint8_t with, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < len; i++)
		fputc(with, f);
	assert_int_equal(fclose(f), 0);
}

static void what_is_not_of_it_is_not_read(void **state)
{
	static const size_t lengths[] = { 0, 3, 5000, 2000000 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct intercepted_file *t;

		fill_file(0xff, lengths[i]);
		t = opened(path);
		assert_null(intercepted_before(t, 0));
		assert_int_equal(put(t, 9), 0);
		intercepted_close(t);
		t = opened(path);
		assert_int_equal(intercepted_before(t, 0)->key.near_port, 9);
		intercepted_drop(t, intercepted_own_before(t, 0));
		intercepted_close(t);
	}
}

static void what_makes_no_sense_is_left_out(void **state)
{
	struct intercepted_file *t = opened(path);
	struct intercepted_one no_family = one_of(1), two_families = one_of(2), no_node = one_of(3);

	(void)state;
	no_family.key.near.family = no_family.key.far.family = 0;
	two_families.key.far.family = 6;
	no_node.node = 0;
	intercepted_put(t, &no_family);
	intercepted_put(t, &two_families);
	intercepted_put(t, &no_node);
	intercepted_close(t);
	t = opened(path);
	assert_null(intercepted_before(t, 0));
	intercepted_close(t);
}

static void a_path_that_is_no_file_is_refused(void **state)
{
	struct intercepted_file *t;

	(void)state;
	assert_int_equal(intercepted_open(&t, "/nonexistent/leon0.intercepted"), -ENOENT);
	assert_int_equal(intercepted_open(&t, directory), -EISDIR);
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(intercepted_open(&t, path), -ELOOP);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(intercepted_open(&t, path) < 0);
	assert_null(t);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_is_found_until_it_is_reset),
		cmocka_unit_test(a_full_table_says_so_and_room_comes_back),
		cmocka_unit_test(what_is_not_of_it_is_not_read),
		cmocka_unit_test(what_makes_no_sense_is_left_out),
		cmocka_unit_test(a_path_that_is_no_file_is_refused),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_all);
}
