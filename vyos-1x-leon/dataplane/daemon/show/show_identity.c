// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show identity`: the public identity key of this node and those of known or listed nodes, for the
 * list of trusted identities. Control thread.
 */
#include <string.h>

#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "proto/overlay.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"

static const uint8_t *key_of(struct overlay *o, const struct node *n)
{
	if (n->slot == SLOT_SELF)
		return overlay_identity(o);
	return n->has_key ? n->key : NULL;
}

static const char *state_of(const struct node *n)
{
	if (n->slot == SLOT_SELF)
		return "self";
	return node_state_name(n->state);
}

static void write_known(struct command *c, const struct node *n, const uint8_t *key)
{
	jsonw_object(c->w, NULL);
	answer_key(c->w, "identity", key);
	answer_node(c->w, "node_id", c->d, n->id);
	jsonw_str(c->w, "state", state_of(n));
	jsonw_bool(c->w, "listed", command_conf(c)->n_trusted && conf_trusts(command_conf(c), key));
	jsonw_end(c->w);
}

static bool is_known(struct command *c, const uint8_t *key)
{
	struct nodedb *db = overlay_nodes(c->overlay);

	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);
		const uint8_t *other = n ? key_of(c->overlay, n) : NULL;

		if (other && memcmp(key, other, MSG_KEY_LEN) == 0)
			return true;
	}
	return false;
}

/* Listed keys without a known node. */
static void write_absent(struct command *c, const uint8_t *key)
{
	jsonw_object(c->w, NULL);
	answer_key(c->w, "identity", key);
	jsonw_null(c->w, "node_id");
	jsonw_null(c->w, "name");
	jsonw_null(c->w, "state");
	jsonw_bool(c->w, "listed", true);
	jsonw_end(c->w);
}

/* A recently refused identity, without further facts. */
static void write_refused(struct command *c, unsigned index)
{
	const uint8_t *key;
	node_id_t id;

	if (!overlay_refusal(c->overlay, index, &id, &key))
		return;
	jsonw_object(c->w, NULL);
	answer_key(c->w, "identity", key);
	answer_id(c->w, "node_id", id);
	jsonw_null(c->w, "name");
	jsonw_str(c->w, "state", "refused");
	jsonw_bool(c->w, "listed", false);
	jsonw_end(c->w);
}

enum command_result show_identity(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	const struct conf *conf = command_conf(c);

	answer_id(c->w, "node_id", c->self);
	answer_key(c->w, "identity", overlay_identity(c->overlay));
	jsonw_str(c->w, "file", conf->identity_file);
	jsonw_bool(c->w, "restricted", conf->n_trusted > 0);
	answer_duplicate(c->w, "duplicate", c->d, SLOT_SELF, c->now);
	jsonw_array(c->w, "identities");
	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);
		const uint8_t *key = n ? key_of(c->overlay, n) : NULL;

		if (key)
			write_known(c, n, key);
	}
	for (unsigned i = 0; i < OVERLAY_REFUSALS; i++)
		write_refused(c, i);
	for (uint32_t i = 0; i < conf->n_trusted; i++)
		if (!is_known(c, conf->trusted[i]))
			write_absent(c, conf->trusted[i]);
	jsonw_end(c->w);
	return CMD_DONE;
}
