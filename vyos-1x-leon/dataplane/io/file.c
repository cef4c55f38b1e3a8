// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small files, see file.h. Control thread.
 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ROOM 256

/* Returns the descriptor or -errno. */
static int open_regular(const char *path, bool follow_links, struct stat *st)
{
	/* Without O_NONBLOCK, open() of a FIFO blocks until a writer opens it. */
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow_links ? 0 : O_NOFOLLOW);
	int fd = open(path, flags), r = 0;

	if (fd < 0)
		return errno == ENXIO ? -EINVAL : -errno; /* ENXIO: the path is a socket */
	if (fstat(fd, st) < 0)
		r = -errno;
	else if (!S_ISREG(st->st_mode))
		r = -EINVAL;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

ssize_t file_read(int fd, void *buf, size_t room)
{
	size_t len = 0;

	while (len < room) {
		ssize_t n = read(fd, (char *)buf + len, room - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return (ssize_t)len;
		len += (size_t)n;
	}
	return -EFBIG;
}

ssize_t file_load(const char *path, bool follow_links, void *buf, size_t room, mode_t *mode)
{
	struct stat st;
	int fd = open_regular(path, follow_links, &st);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = file_read(fd, buf, room);
	close(fd);
	if (mode)
		*mode = st.st_mode;
	return len;
}

static int write_all(int fd, const void *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, (const char *)data + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* link() fails if the name exists; rename() would replace it. */
static int name_it(const char *tmp, const char *path, enum file_existing existing)
{
	int r = existing == FILE_REPLACE ? rename(tmp, path) : link(tmp, path);

	return r < 0 ? -errno : 0;
}

/* Makes the name survive a loss of power. Some filesystems cannot sync directories, and leond may
 * lack the right to read this one. */
static int sync_name(const char *path)
{
	char name[PATH_ROOM];
	int fd, r;

	snprintf(name, sizeof(name), "%s", path);
	fd = open(dirname(name), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (fd < 0)
		return 0;
	r = fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
	close(fd);
	return r;
}

int file_write(const char *path, const void *data, size_t len, enum file_existing existing)
{
	char tmp[PATH_ROOM];
	int fd, r;

	if (snprintf(tmp, sizeof(tmp), "%s.new", path) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	/* Removes a leftover temporary file unopened, because of FIFOs. */
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, data, len);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0)
		r = name_it(tmp, path, existing);
	if (r == 0)
		r = sync_name(path);
	unlink(tmp); /* a link keeps the file under its own name; a failure leaves nothing */
	return r;
}

void file_beside(const char *path, const char *suffix, const char *other, char out[FILE_BESIDE_LEN])
{
	size_t len = strlen(path), end = strlen(suffix);

	if (len > end && strcmp(path + len - end, suffix) == 0)
		len -= end;
	snprintf(out, FILE_BESIDE_LEN, "%.*s%s", (int)len, path, other);
}

const char *file_error(int err)
{
	switch (-err) {
	case EINVAL:
		return "it is not a regular file";
	case ELOOP:
		return "it is a symbolic link";
	case EFBIG:
		return "it is too large";
	default:
		return strerror(-err);
	}
}
