// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small files of the daemon. Opening never blocks on a FIFO, device or directory at the path, and a
 * write is complete or has no effect. Stateless; control thread. Never logs: the caller knows the
 * purpose of the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads the whole file into `room` bytes. `mode`: st_mode, or NULL. Returns the length or -errno;
 * -EINVAL: not a regular file; -EFBIG: too long. */
ssize_t file_load(const char *path, bool follow_links, void *buf, size_t room, mode_t *mode);
/* Reads the whole file into `room` bytes. Returns the length or -errno; -EFBIG: too long. */
ssize_t file_read(int fd, void *buf, size_t room);

enum file_existing { FILE_REPLACE, FILE_KEEP };
/* Writes a file with mode 0600. The content is on the disk before the name exists, and the name is
 * on the disk at the return. Returns 0 or -errno; -EEXIST: the file exists and must be kept. */
int file_write(const char *path, const void *data, size_t len, enum file_existing existing);

/* Writes the path of a file beside another one. With ".sock" and ".members", "/d/a.sock" gives
 * "/d/a.members", and "/d/a" gives "/d/a.members". */
#define FILE_BESIDE_LEN 160
void file_beside(const char *path, const char *suffix, const char *other,
		 char out[FILE_BESIDE_LEN]);

/* Error text for the codes of this module; other codes go to strerror(). `err` is negative. */
const char *file_error(int err);
