// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show invitations` and `reset invitation`: the one-time tokens that this node issued, without
 * their values. Control thread.
 */
#include <string.h>

#include "base/hex.h"
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "daemon/identity/own_identity.h"
#include "proto/overlay.h"
#include "state/invitations.h"

#define ID_TEXT_LEN HEX_LEN(INVITATION_ID_LEN)

static void write_id(struct jsonw *w, const char *key, const struct invitation *i)
{
	char id[ID_TEXT_LEN + 1];

	jsonw_str(w, key, hex_format(i->id, INVITATION_ID_LEN, id));
}

static void write_uses(struct jsonw *w, const struct invitation *i)
{
	jsonw_array(w, "used");
	for (unsigned k = 0; k < i->n_used; k++) {
		jsonw_object(w, NULL);
		answer_endpoint(w, "endpoint", &i->use[k].from);
		answer_time(w, "at", i->use[k].at_s * 1000000);
		jsonw_end(w);
	}
	jsonw_end(w);
}

enum command_result show_invitations(struct command *c)
{
	const struct invitations *l = overlay_invitations(c->overlay);

	jsonw_array(c->w, "invitations");
	for (const struct invitation *i = NULL; (i = invitations_next(l, i));) {
		jsonw_object(c->w, NULL);
		write_id(c->w, "invitation", i);
		answer_time(c->w, "expires", (int64_t)i->expires * 1000000);
		jsonw_u64(c->w, "uses", i->uses);
		jsonw_u64(c->w, "uses_left", i->uses - i->n_used);
		write_uses(c->w, i);
		jsonw_end(c->w);
	}
	jsonw_end(c->w);
	jsonw_u64(c->w, "maximum", INVITATIONS_MAX);
	return CMD_DONE;
}

enum command_result reset_invitation(struct command *c)
{
	struct invitations *l = overlay_invitations(c->overlay);
	uint8_t id[INVITATION_ID_LEN];
	struct invitation *i;
	const char *text = "";

	if (!jsonr_str(c->arguments, "invitation", &text) || strlen(text) != ID_TEXT_LEN ||
	    hex_parse(text, id, sizeof(id)) < 0)
		return command_refuse(c,
				      "an invitation has %d hexadecimal digits: see `show "
				      "invitations`",
				      ID_TEXT_LEN);
	i = invitations_find(l, id, 0); /* also if it expires now */
	if (!i)
		return command_refuse(c, "no invitation %s is open: see `show invitations`", text);
	write_id(c->w, "invitation", i);
	jsonw_u64(c->w, "uses_left", i->uses - i->n_used);
	invitations_remove(l, i);
	if (invitations_save(c->d) < 0)
		return command_refuse(c,
				      "invitation %s ends now, but its file cannot be written: "
				      "the invitation returns with the next start of leond",
				      text);
	return CMD_DONE;
}
