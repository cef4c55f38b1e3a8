// SPDX-License-Identifier: GPL-2.0-or-later
/* A written file: its content and its name are on the disk when file_write() returns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"

static char dir[] = "/tmp/leon-file-XXXXXX", path[PATH_MAX];
static unsigned n_synced;
static bool name_is_synced;
static int dir_error;

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	n_synced++;
	if (!S_ISDIR(st.st_mode))
		return 0;
	name_is_synced = access(path, F_OK) == 0;
	errno = dir_error;
	return dir_error ? -1 : 0;
}

static int write_with(enum file_existing existing, int error)
{
	n_synced = 0;
	name_is_synced = false;
	dir_error = error;
	return file_write(path, "text", 4, existing);
}

static void name_is_on_the_disk(void **state)
{
	(void)state;
	assert_int_equal(write_with(FILE_KEEP, 0), 0);
	assert_int_equal(n_synced, 2);
	assert_true(name_is_synced);
	assert_int_equal(write_with(FILE_KEEP, 0), -EEXIST);
	assert_false(name_is_synced);
	assert_int_equal(write_with(FILE_REPLACE, 0), 0);
	assert_true(name_is_synced);
}

static void errors_of_the_directory(void **state)
{
	(void)state;
	assert_int_equal(write_with(FILE_REPLACE, EIO), -EIO);
	/* The filesystem cannot sync directories. */
	assert_int_equal(write_with(FILE_REPLACE, EINVAL), 0);
	/* The directory permits new files, but is not readable. */
	assert_int_equal(chmod(dir, S_IWUSR | S_IXUSR), 0);
	assert_int_equal(write_with(FILE_REPLACE, 0), 0);
	assert_int_equal(chmod(dir, S_IRWXU), 0);
}

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/name", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_is_on_the_disk),
		cmocka_unit_test(errors_of_the_directory),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
