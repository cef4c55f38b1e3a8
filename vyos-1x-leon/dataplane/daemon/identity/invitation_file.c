// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file of issued invitations, see own_identity.h.
 */
#include "daemon/identity/own_identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "io/clock.h"
#include "io/file.h"
#include "proto/overlay.h"
#include "state/conf/conf.h"
#include "state/invitations.h"

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
