// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The identity key of this node: created at the first start, in a file that only its owner may
 * read. If the file can be neither read nor created, leond does not start. A key that others can
 * read, or that changes with each restart, is no identity. The error would show only when another
 * node takes the place of this node. Control thread, at the start.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "daemon/identity/own_identity.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "io/clock.h"
#include "io/file.h"
#include "proto/overlay.h"
#include "state/conf/conf.h"
#include "state/invitations.h"

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

/* --- the file of issued invitations --- */

#define CLOCK_SETTLE_MS 600000 /* time after a start in which the clock may be set back */

static int64_t now_s(void)
{
	return wall_now_us() / 1000000;
}

static void make_path(const struct leond *d, char path[FILE_BESIDE_LEN])
{
	file_beside(d->conf->identity_file, ".identity", ".invitations", path);
}

/* Returns the text, to be wiped and freed, or NULL with a sentence in *why, or NULL if there is no
 * file. */
static char *read_file(const char *path, size_t *text_len, const char **why)
{
	char *text = x_calloc(1, INVITATIONS_FILE_MAX);
	mode_t mode = 0;
	ssize_t len = file_load(path, false, text, INVITATIONS_FILE_MAX, &mode);

	*why = NULL;
	if (len < 0 && len != -ENOENT)
		*why = file_error((int)len);
	else if (mode & (S_IRWXG | S_IRWXO))
		*why = "other users can read the file";
	if (len >= 0 && !*why) {
		*text_len = (size_t)len;
		return text;
	}
	x_wipe(text, INVITATIONS_FILE_MAX);
	free(text);
	return NULL;
}

void invitations_load(struct leond *d)
{
	char path[FILE_BESIDE_LEN], err[160], *text;
	const char *why;
	size_t len;

	make_path(d, path);
	text = read_file(path, &len, &why);
	if (text && invitations_parse(overlay_invitations(d->overlay), text, len, d->conf->vni, err,
				      sizeof(err)) < 0)
		why = err;
	if (why)
		log_warn("identity",
			 "%s is ignored: %s; its one-time tokens are refused, make new ones with: "
			 "leonctl invite",
			 path, why);
	if (text)
		x_wipe(text, len);
	free(text);
}

int invitations_save(struct leond *d)
{
	struct jsonw *w = jsonw_new();
	char path[FILE_BESIDE_LEN];
	const char *text;
	size_t len;
	int r;

	make_path(d, path);
	invitations_write(overlay_invitations(d->overlay), d->conf->vni, w);
	text = jsonw_text(w, &len);
	r = file_write(path, text, len, FILE_REPLACE);
	x_wipe((char *)text, len);
	jsonw_free(w);
	if (r < 0)
		log_error("identity", "%s cannot be written: %s; no invitation is issued or used",
			  path, file_error(r));
	return r;
}

static void report_expired(struct leond *d, const struct invitation *i)
{
	char id[HEX_LEN(INVITATION_ID_LEN) + 1];
	unsigned left = i->uses - i->n_used;

	hex_format(i->id, INVITATION_ID_LEN, id);
	if (left)
		report_event(d, FACTS(EV_INVITATION_EXPIRED, .value = left, .detail = id),
			     "invitation %s expired with %u of %u uses left", id, left, i->uses);
}

void invitations_second(struct leond *d, mono_t now)
{
	struct invitations *l = overlay_invitations(d->overlay);
	struct invitation *i;
	int64_t run_ms = mono_sub_ms(now, d->started);
	/* The clock may be ahead at boot, so invitations that expired before the start stay. */
	int64_t since_s = run_ms < CLOCK_SETTLE_MS ? now_s() - run_ms / 1000 : 0;
	bool any = false;

	while ((i = invitations_expired(l, since_s, now_s())) != NULL) {
		report_expired(d, i);
		invitations_remove(l, i);
		any = true;
	}
	if (any)
		invitations_save(d);
}
