// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the configuration file and passes its text to conf_parse(). The text may contain the
 * pre-shared secret, so the buffer is wiped. Control thread and --check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/life/confread.h"
#include "daemon/leond.h"
#include "io/file.h"

#define CONFIG_FILE_MAX (4u << 20)

struct conf *conf_read_file(const char *path, char *err, size_t err_len)
{
	struct conf *c = NULL;
	char reason[512];
	struct stat st;
	ssize_t len;
	char *text;
	int fd = file_open(path, true, &st);

	if (fd < 0) {
		snprintf(err, err_len, "%s: %s", path, file_error(fd));
		return NULL;
	}
	text = x_calloc(1, CONFIG_FILE_MAX);
	len = file_read(fd, text, CONFIG_FILE_MAX);
	close(fd);
	if (len < 0)
		snprintf(err, err_len, "%s: %s", path, file_error((int)len));
	else
		c = conf_parse(text, (size_t)len, reason, sizeof(reason));
	if (len >= 0 && !c)
		snprintf(err, err_len, "%s: %s", path, reason);
	if (c && c->secret && (st.st_mode & (S_IROTH | S_IWOTH)))
		log_warn("config",
			 "all users can read %s, which contains the pre-shared secret: chown "
			 "root:leon and chmod 0640",
			 path);
	x_wipe(text, CONFIG_FILE_MAX);
	free(text);
	return c;
}
