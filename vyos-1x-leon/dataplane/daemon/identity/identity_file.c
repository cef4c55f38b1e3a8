// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The identity key of this node: created at the first start, in a file that only its owner may
 * read. If the file can be neither read nor created, leond does not start. A key that others can
 * read, or that changes with each restart, is no identity. The error would show only when another
 * node takes the place of this node. Control thread, at the start.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "daemon/identity/own_identity.h"
#include "daemon/states.h"
#include "io/file.h"
#include "proto/overlay.h"
#include "state/conf/conf.h"

#define TEXT_LEN HEX_LEN(DH_KEY_LEN)

static int parse_key(const char *text, ssize_t len, uint8_t secret[DH_KEY_LEN])
{
	if (len != TEXT_LEN + 1 || text[TEXT_LEN] != '\n')
		return -EBADMSG;
	return hex_parse(text, secret, DH_KEY_LEN) ? -EBADMSG : 0;
}

/* Returns 0; -ENOENT: no file yet; -EPERM: other users may read it; -EBADMSG: wrong content; else
 * -errno. */
static int read_key(const char *path, uint8_t secret[DH_KEY_LEN])
{
	char text[TEXT_LEN + 2];
	mode_t mode = 0;
	ssize_t len = file_load(path, false, text, sizeof(text), &mode);
	int r = len < 0 && len != -EFBIG ? (int)len : parse_key(text, len, secret);

	if (mode & (S_IRWXG | S_IRWXO))
		r = -EPERM;
	x_wipe(text, sizeof(text));
	return r;
}

/* Never overwrites an existing file. */
static int make_key(const char *path, uint8_t secret[DH_KEY_LEN])
{
	char text[TEXT_LEN + 1];
	int r;

	random_bytes(secret, DH_KEY_LEN);
	hex_format(secret, DH_KEY_LEN, text);
	text[TEXT_LEN] = '\n';
	r = file_write(path, text, sizeof(text), FILE_KEEP);
	x_wipe(text, sizeof(text));
	return r;
}

static void complain_of_file(const char *path, int r)
{
	static const struct {
		int error;
		const char *text;
	} known[] = {
		{ EPERM,
		  "is readable by other users: chmod 600 the file, or remove a file that may "
		  "have been copied, and leond makes a new key" },
		{ EBADMSG,
		  "does not contain an identity key: restore the file, or remove the file, "
		  "and leond makes a new key" },
		{ EACCES, "cannot be read: make the user of leond the owner of the file" },
	};

	for (size_t i = 0; i < array_size(known); i++)
		if (known[i].error == -r) {
			log_error("identity", "identity-file %s %s", path, known[i].text);
			return;
		}
	log_error("identity",
		  "identity-file %s cannot be read: %s; remove the file or configure another path",
		  path, file_error(r));
}

static void complain_of_place(const char *path, int r)
{
	if (r == -EROFS)
		log_error("identity",
			  "identity-file %s does not exist, and the file system is read-only: "
			  "create the key (openssl rand -hex 32, mode 0600) or configure a "
			  "writable path",
			  path);
	else
		log_error("identity",
			  "identity-file %s cannot be created: %s; let the user of leond write to "
			  "the directory, or configure another path",
			  path, file_error(r));
}

int identity_load(struct leond *d)
{
	const char *path = d->conf->identity_file;
	int r = read_key(path, d->states->identity);

	if (r == -ENOENT) {
		r = make_key(path, d->states->identity);
		if (r < 0)
			complain_of_place(path, r);
		else
			log_info("identity", "a new identity key is kept in %s", path);
	} else if (r < 0) {
		complain_of_file(path, r);
	}
	if (r < 0)
		x_wipe(d->states->identity, sizeof(d->states->identity));
	return r;
}

int identity_generate(const char *path, char *text)
{
	uint8_t secret[DH_KEY_LEN], public[DH_KEY_LEN];
	int r = make_key(path, secret);

	sign_public(secret, public);
	x_wipe(secret, sizeof(secret));
	hex_format(public, DH_KEY_LEN, text);
	return r;
}

void identity_hand_over(struct leond *d)
{
	char public[TEXT_LEN + 1];

	overlay_set_identity(d->overlay, d->states->identity);
	x_wipe(d->states->identity, sizeof(d->states->identity));
	log_info("identity", "the identity of this node is %s",
		 hex_format(overlay_identity(d->overlay), DH_KEY_LEN, public));
}
