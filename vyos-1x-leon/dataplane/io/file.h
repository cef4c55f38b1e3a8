// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small files of the daemon: opened so that nothing that lies where a file should be can hold the
 * daemon up (a FIFO that nobody writes to, a device, a directory), and written whole or not at all.
 * Stateless; control thread. Logs nothing: the caller knows what the file is for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Open for reading, with its status in *st, or -errno. -EINVAL: it is no regular file. */
int file_open(const char *path, bool follow_links, struct stat *st);
/* All of it, into `room` bytes. Its length or -errno; -EFBIG: it does not fit. */
ssize_t file_read(int fd, void *buf, size_t room);

enum file_existing { FILE_REPLACE, FILE_KEEP };
/* Mode 0600, complete and on the disk before it has its name. 0 or -errno; -EEXIST: there is one,
 * and it is to be kept. */
int file_write(const char *path, const void *data, size_t len, enum file_existing existing);

/* What an error of these means: strerror(), and what it does not know. `err` is negative. */
const char *file_error(int err);
