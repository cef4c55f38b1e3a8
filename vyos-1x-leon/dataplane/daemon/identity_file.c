// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The identity key of this node: made at the first start and kept in a file that nobody else may
 * read. Where it cannot be kept, it is made of the host's machine-id each time, so that it is the
 * same after a restart. Control thread, at the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/mem.h"
#include "daemon/leond.h"

#define TEXT_LEN HEX_LEN(DH_KEY_LEN)

/* 0; -ENOENT: no file yet; -EPERM: others may read it; -EINVAL: not such a file. */
static int read_key(const char *path, uint8_t secret[DH_KEY_LEN])
{
	char text[TEXT_LEN + 1];
	struct stat st;
	ssize_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), r = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode) || (st.st_mode & (S_IRWXG | S_IRWXO)))
		r = -EPERM;
	len = r ? 0 : read(fd, text, sizeof(text));
	close(fd);
	if (!r && (len != TEXT_LEN + 1 || text[TEXT_LEN] != '\n'))
		r = -EINVAL;
	r = r ? r : hex_parse(text, secret, DH_KEY_LEN);
	x_wipe(text, sizeof(text));
	return r;
}

/* Never over a file that is there, and complete or not at all. */
static int write_key(const char *path, const uint8_t secret[DH_KEY_LEN])
{
	char text[TEXT_LEN + 2], tmp[160];
	int fd, r = 0;

	hex_format(secret, DH_KEY_LEN, text);
	text[TEXT_LEN] = '\n';
	snprintf(tmp, sizeof(tmp), "%s.new", path);
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		r = -errno;
	else if (write(fd, text, TEXT_LEN + 1) != TEXT_LEN + 1 || fsync(fd) < 0)
		r = errno ? -errno : -EIO;
	if (fd >= 0)
		close(fd);
	if (!r && link(tmp, path) < 0)
		r = -errno;
	unlink(tmp);
	x_wipe(text, sizeof(text));
	return r;
}

/* What is the same at each start and unknown to other hosts. */
static void of_machine(const struct leond *d, uint8_t secret[DH_KEY_LEN])
{
	char id[64] = "", info[80];
	FILE *f = fopen("/etc/machine-id", "re");
	size_t len = f ? fread(id, 1, sizeof(id), f) : 0;

	if (f)
		fclose(f);
	if (len == 0) {
		random_bytes(secret, DH_KEY_LEN);
		return;
	}
	snprintf(info, sizeof(info), "identity %u %u", d->self, d->conf->vni);
	kdf(id, len, "LEON 1", 6, info, strlen(info), secret, DH_KEY_LEN);
	x_wipe(id, sizeof(id));
}

void identity_load(struct leond *d)
{
	const char *path = d->conf->identity_file;
	uint8_t secret[DH_KEY_LEN];
	char public[TEXT_LEN + 1];
	int r = read_key(path, secret);

	if (r == -ENOENT) {
		random_bytes(secret, sizeof(secret));
		r = write_key(path, secret);
		if (!r)
			log_info("identity", "a new identity key is kept in %s", path);
	}
	if (r < 0) {
		log_warn("identity", "%s: %s; the identity key is made of the machine-id", path,
			 r == -EPERM	? "others may read it"
			 : r == -EINVAL ? "is not an identity key"
					: strerror(-r));
		of_machine(d, secret);
	}
	d->identity_kept = r == 0;
	overlay_set_identity(d->overlay, secret);
	x_wipe(secret, sizeof(secret));
	log_info("identity", "the identity of this node is %s",
		 hex_format(overlay_identity(d->overlay), DH_KEY_LEN, public));
}
