// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the configuration file and hands its text to conf_parse(). The text may hold the
 * pre-shared secret, so the buffer is wiped. Control thread and --check.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/leond.h"

#define CONFIG_FILE_MAX (4u << 20)

/* Reads at most CONFIG_FILE_MAX bytes. Length or -errno. */
static ssize_t read_all(int fd, char *buf, size_t room)
{
	size_t len = 0;

	while (len < room) {
		ssize_t n = read(fd, buf + len, room - len);

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

struct conf *conf_read_file(const char *path, char *err, size_t err_len)
{
	struct conf *c = NULL;
	struct stat st;
	ssize_t len;
	char *text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0) {
		snprintf(err, err_len, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	text = x_calloc(1, CONFIG_FILE_MAX);
	len = read_all(fd, text, CONFIG_FILE_MAX);
	close(fd);
	if (len < 0)
		snprintf(err, err_len, "%s: %s", path, strerror((int)-len));
	else
		c = conf_parse(text, (size_t)len, err, err_len);
	if (c && c->secret && (st.st_mode & (S_IROTH | S_IWOTH)))
		log_warn("config",
			 "%s holds the pre-shared secret and is open to all users: "
			 "chmod 600 it",
			 path);
	x_wipe(text, CONFIG_FILE_MAX);
	free(text);
	return c;
}
