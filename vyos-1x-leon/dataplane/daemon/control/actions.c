// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commands that change state: `reload` and `reset node`. Control thread.
 */
#include <assert.h>
#include <string.h>

#include "base/defs.h"
#include "daemon/answer/answer.h"
#include "daemon/leond.h"
#include "daemon/underlay/underlay.h"
#include "daemon/verdict.h"
#include "io/clock.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/tables/fdb.h"
#include "state/tables/neigh.h"

/* Converts the comma-separated list of conf_restart_keys() to an array. */
static void write_keys(struct jsonw *w, const char *list)
{
	jsonw_array(w, "restart_keys");
	while (*list) {
		size_t len = strcspn(list, ",");
		char key[64];

		if (len < sizeof(key)) {
			memcpy(key, list, len);
			key[len] = '\0';
			jsonw_str(w, NULL, key);
		}
		list += len;
		list += strspn(list, ", ");
	}
	jsonw_end(w);
}

static void write_changes(struct jsonw *w, unsigned changes)
{
	/* In the order of enum conf_change. */
	static const char *const names[] = {
		"peers",     "measurement",  "paths",	    "fdb",	    "frames",
		"device",    "record",	     "log",	    "members",	    "routes",
		"keys",	     "datagrams",    "policy",	    "acceleration", "scheduling",
		"transport", "port-mapping", "flow-export", "capture",
	};
	static_assert(CONF_CAPTURE == 1 << (array_size(names) - 1), "a name for each change");

	answer_bits(w, "changes", changes, names, array_size(names));
}

/* The commit of VyOS prints the warnings of a reload. */
static void warn_of_peers(struct command *c)
{
	char text[REACH_TEXT_LEN];

	for (uint32_t i = 0; i < c->d->conf->n_configured_peers; i++)
		if (reach_is_impossible(c->d, i, text))
			jsonw_str(c->w, NULL, text);
}

enum command_result do_reload(struct command *c)
{
	struct apply_verdict v;

	c->d->ops->reload(c->d, &v);
	if (!v.ok)
		return command_refuse(
			c, "configuration refused, the previous configuration stays active: %s",
			v.text);
	jsonw_str(c->w, "verdict", v.text);
	write_keys(c->w, v.restart_keys);
	write_changes(c->w, v.changes);
	jsonw_array(c->w, "warnings");
	if (v.warning[0])
		jsonw_str(c->w, NULL, v.warning);
	if (v.advice)
		jsonw_str(c->w, NULL, v.advice);
	warn_of_peers(c);
	jsonw_end(c->w);
	return CMD_DONE;
}

/*
 * Forgets the hosts learned behind the node and probes its link at once. The overlay's knowledge of
 * the node stays, because every other member would announce it again.
 */
enum command_result reset_node(struct command *c)
{
	const struct node *n = command_node(c);
	struct overlay_link link;

	if (!n)
		return CMD_FAILED;
	answer_node(c->w, "node_id", c->d, n->id);
	jsonw_u64(c->w, "removed", fdb_forget_slot(c->d->fdb, n->slot, NULL, now_s_of(c->now)));
	neigh_forget_slot(c->d->neigh, n->slot, NULL);
	if (n->slot != SLOT_SELF && overlay_link(c->overlay, n->slot, &link) && link.ep.ip.family)
		overlay_link_error(c->overlay, &link.ep);
	return CMD_DONE;
}
