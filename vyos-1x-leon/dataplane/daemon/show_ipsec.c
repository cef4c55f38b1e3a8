// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show ipsec`: every address that datagrams are or may be sent to, and whether IPsec protects it;
 * and `report ipsec`, by which the IPsec manager says so. The manager makes its connections of the
 * same list. Control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/answer.h"
#include "daemon/command.h"
#include "daemon/leond.h"

#define REPORT_MAX (2 * CONF_NODES_LIMIT)

/* node: NULL for a configured peer, who may be any node. */
static void write_endpoint(struct command *c, const struct endpoint *ep, const struct node *node,
			   const char *peer)
{
	if (!endpoint_is_usable(ep))
		return;
	jsonw_object(c->w, NULL);
	answer_ip(c->w, "address", &ep->ip);
	jsonw_u64(c->w, "port", ep->port);
	answer_id(c->w, "node_id", node ? node->id : NODE_ID_NONE);
	if (node)
		answer_name(c->w, "name", c->d, node->id);
	else
		jsonw_str(c->w, "name", peer);
	answer_protected(c->w, c->d, &ep->ip, c->now);
	jsonw_end(c->w);
}

static void write_peers(struct command *c)
{
	const struct conf *conf = c->d->conf;

	for (uint32_t i = 0; i < conf->n_peers; i++) {
		const struct conf_peer *p = &conf->peer[i];

		if (p->disable)
			continue;
		if (p->is_ip)
			write_endpoint(c, &p->ep, NULL, p->name);
		else if (i < c->d->n_seeds)
			for (unsigned k = 0; k < c->d->seed[i].n; k++)
				write_endpoint(c, &c->d->seed[i].ep[k], NULL, p->name);
	}
}

/* Where it is reached, and what it announces that is something else. */
static void write_node(struct command *c, const struct node *n)
{
	struct overlay_link link = { .up = false };

	if (overlay_link(c->d->overlay, n->slot, &link))
		write_endpoint(c, &link.ep, n, NULL);
	for (unsigned i = 0; n->has_record && i < n->rec.n_locators; i++)
		if (!endpoint_equal(&n->rec.locator[i], &link.ep))
			write_endpoint(c, &n->rec.locator[i], n, NULL);
}

enum command_result show_ipsec(struct command *c)
{
	struct nodedb *db = overlay_nodes(c->d->overlay);

	answer_id(c->w, "node_id", c->d->self);
	answer_age(c->w, "reported_seconds", c->now, c->d->ipsec.at);
	jsonw_array(c->w, "endpoints");
	write_peers(c);
	for (uint16_t slot = SLOT_SELF + 1; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);

		if (n && n->state != NODE_LEFT)
			write_node(c, n);
	}
	jsonw_end(c->w);
	return CMD_DONE;
}

enum command_result report_ipsec(struct command *c)
{
	struct jsonr_node *list = jsonr_array(c->arguments, "protected");
	size_t n = jsonr_len(list);
	struct ip_addr *ip;
	const char *text;

	if (!list)
		return command_refuse(c, "argument \"protected\" is missing: a list of addresses");
	if (n > REPORT_MAX)
		return command_refuse(c, "argument \"protected\" has more than %d addresses",
				      REPORT_MAX);
	ip = x_calloc(n ? n : 1, sizeof(*ip));
	for (size_t i = 0; i < n; i++) {
		if (jsonr_str_at(list, i, &text) && ip_parse(text, &ip[i]) == 0)
			continue;
		free(ip);
		return command_refuse(c, "argument \"protected\": entry %zu is no IP address",
				      i + 1);
	}
	ipsec_report_set(&c->d->ipsec, ip, n, c->now);
	jsonw_u64(c->w, "count", n);
	return CMD_DONE;
}
