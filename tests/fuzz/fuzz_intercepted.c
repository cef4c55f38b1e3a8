// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel/frames/intercepted: the file of intercepted connections of the previous process. The
 * input is {place (16)} and bytes that overwrite a file with a correct header at that place. Place
 * 0 is the header. The entries of the file are valid, and the file is empty after reading.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/intercepted.h"
#include "wire/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define HEAD 8u /* magic, size */

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

static void open_or_abort(struct intercepted_file **t)
{
	if (intercepted_open(t, path) < 0)
		abort();
}

/* A file of the correct size with a correct header. */
static void make_file(void)
{
	struct intercepted_file *t;

	if (!*path) {
		snprintf(path, sizeof(path), "/dev/shm/fuzz_intercepted.%ld", (long)getpid());
		atexit(remove_file);
	}
	open_or_abort(&t);
	intercepted_close(t);
}

static void lay(const uint8_t *data, size_t len, size_t at)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		abort();
	at = at ? HEAD + at % ((size_t)st.st_size - HEAD) : 0;
	if (len > (size_t)st.st_size - at)
		len = (size_t)st.st_size - at;
	if (pwrite(fd, data, len, (off_t)at) != (ssize_t)len)
		abort();
	close(fd);
}

static void check_one(const struct intercepted_one *one)
{
	uint8_t family = one->key.near.family;

	if ((family != 4 && family != 6) || one->key.far.family != family || !one->node)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct intercepted_one *one;
	struct intercepted_one copy;
	struct intercepted_file *t;
	unsigned n = 0;
	int at;

	if (len < 2)
		return 0;
	make_file();
	lay(data + 2, len - 2, get_u16(data));
	open_or_abort(&t);
	while ((one = intercepted_before(t, n)) != NULL) {
		check_one(one);
		copy = *one;
		if (++n > INTERCEPTED_PLACES)
			abort();
	}
	for (unsigned i = n; i > 0; i--)
		intercepted_drop(t, intercepted_own_before(t, i / 2));
	if (intercepted_before(t, 0))
		abort();
	at = n ? intercepted_put(t, &copy) : -1;
	if (n && at < 0)
		abort();
	intercepted_drop(t, at);
	intercepted_close(t);
	open_or_abort(&t);
	if (intercepted_before(t, 0))
		abort();
	intercepted_close(t);
	return 0;
}
