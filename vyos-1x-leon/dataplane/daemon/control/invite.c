// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `invite`: a joining token (wire/token.h). The token contains the secret, so the command requires
 * write access. The seeds are those of the request, else the addresses of this node, its configured
 * peers, and the endpoints of other members; public addresses are preferred. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/control/answer.h"
#include "daemon/control/command.h"
#include "daemon/leond.h"
#include "daemon/report/clock.h"
#include "state/conf/new_node.h"

#define OWN_MAX	     3 /* limit of own addresses, to leave room for others */
#define EXPIRY_S     (24 * 3600)
#define EXPIRY_MAX_S (3650 * 24 * 3600)

static bool has_seed(const struct token *t, const char *host, uint16_t port)
{
	for (unsigned i = 0; i < t->n_seeds; i++)
		if (t->seed[i].port == port && strcmp(t->seed[i].host, host) == 0)
			return true;
	return false;
}

static void add_seed(struct token *t, const char *host, uint16_t port)
{
	struct token_seed *s = &t->seed[t->n_seeds];

	if (t->n_seeds == TOKEN_SEEDS_MAX || has_seed(t, host, port))
		return;
	snprintf(s->host, sizeof(s->host), "%s", host);
	s->port = port;
	t->n_seeds++;
}

/* --- seeds known to this node --- */

static void add_endpoint(struct token *t, const struct endpoint *ep, bool private)
{
	char host[IP_STRLEN];

	if (ep->ip.family && ip_is_private(&ep->ip) == private)
		add_seed(t, ip_format(&ep->ip, host, sizeof(host)), ep->port);
}

static void add_own(struct token *t, struct leond *d, bool private)
{
	const struct node *self = nodedb_at(overlay_nodes(d->overlay), SLOT_SELF);

	for (unsigned i = 0; i < self->rec.n_locators && t->n_seeds < OWN_MAX; i++)
		add_endpoint(t, &self->rec.locator[i], private);
}

static void add_peers(struct token *t, const struct leond *d, bool private)
{
	for (uint32_t i = 0; i < d->n_configured_peers; i++) {
		const struct conf_peer *p = &d->conf->peer[i];

		if (p->disable)
			continue;
		if (p->is_ip)
			add_endpoint(t, &p->ep, private);
		else if (!private)
			add_seed(t, p->host, p->ep.port);
	}
}

/* A port mapped by a NAT is valid for this node only. */
static void add_members(struct token *t, struct leond *d, bool private)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	struct overlay_link link;

	for (const struct node *n = NULL; (n = nodedb_next(db, n));)
		if (n->state == NODE_REACHABLE && overlay_link(d->overlay, n->slot, &link) &&
		    link.up && !link.behind_nat)
			add_endpoint(t, &link.ep, private);
}

static void add_known(struct token *t, struct leond *d)
{
	for (int private = 0; private < 2 && t->n_seeds == 0; private ++) {
		add_own(t, d, private);
		add_peers(t, d, private);
		add_members(t, d, private);
	}
}

/* --- seeds of the request --- */

/* Accepts "192.0.2.1", "192.0.2.1:5366", "[2001:db8::1]:5366", "2001:db8::1", "name", "name:5366".
 * conf_parse() checks names. */
static bool add_named(struct token *t, const char *text, uint16_t port)
{
	const char *colon = strrchr(text, ':');
	char host[TOKEN_HOST_MAX + 1];
	struct endpoint ep;
	unsigned long number;
	char *end;

	if (endpoint_parse(text, port, &ep) == 0) {
		add_seed(t, ip_format(&ep.ip, host, sizeof(host)), ep.port);
		return ep.port != 0;
	}
	if (!colon) {
		add_seed(t, text, port);
		return strlen(text) <= TOKEN_HOST_MAX;
	}
	number = strtoul(colon + 1, &end, 10);
	if (colon == text || colon - text > TOKEN_HOST_MAX || end == colon + 1 || *end ||
	    number == 0 || number > UINT16_MAX)
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	add_seed(t, host, (uint16_t)number);
	return true;
}

static bool add_requested(struct command *c, struct token *t, struct jsonr_node *list)
{
	const char *text;

	for (size_t i = 0; i < jsonr_len(list); i++) {
		if (jsonr_str_at(list, i, &text) && add_named(t, text, c->d->udp.port))
			continue;
		command_refuse(c,
			       "an address is an IP address or a DNS name, with or without a port, "
			       "such as 192.0.2.1, [2001:db8::1]:5366 or node.example.net:5366");
		return false;
	}
	return true;
}

/* --- the answer --- */

static void answer_seeds(struct jsonw *w, const struct token *t)
{
	jsonw_array(w, "seeds");
	for (unsigned i = 0; i < t->n_seeds; i++) {
		jsonw_object(w, NULL);
		jsonw_str(w, "address", t->seed[i].host);
		jsonw_u64(w, "port", t->seed[i].port);
		jsonw_end(w);
	}
	jsonw_end(w);
}

/* Checks that the token yields a valid configuration; a requested address may be invalid. */
static bool can_be_used(struct command *c, const struct token *t)
{
	const struct new_node n = { .interface = c->d->conf->interface,
				    .node_id = c->d->self,
				    .overlay = t };
	char err[160], *text = new_node_text(&n, err, sizeof(err));

	if (!text) {
		command_refuse(c, "no node could join with the token: %s", err);
		return false;
	}
	x_wipe(text, strlen(text));
	free(text);
	return true;
}

static enum command_result answer_token(struct command *c, const struct token *t)
{
	char text[TOKEN_TEXT_MAX];

	if (t->n_seeds == 0)
		return command_refuse(
			c, "no reachable address of a member is known; name an address: leonctl "
			   "invite ADDRESS");
	if (c->d->conf->derivation != STRETCH_SCRYPT)
		return command_refuse(
			c, "a token cannot carry authentication.derivation; copy the configuration "
			   "of this node instead");
	if (!can_be_used(c, t))
		return CMD_FAILED;
	if (!token_encode(t, text))
		return command_refuse(
			c, "the pre-shared-secret or an address does not fit into a token");
	log_info("control", "a joining token was made for user %u",
		 (unsigned)ctl_conn_peer(c->conn)->uid);
	jsonw_str(c->w, "token", text);
	jsonw_u64(c->w, "vni", t->vni);
	answer_time(c->w, "expires", (int64_t)t->expires * 1000000);
	answer_seeds(c->w, t);
	jsonw_u64(c->w, "trusted_identities", c->d->conf->n_trusted);
	x_wipe(text, sizeof(text));
	return CMD_DONE;
}

/* A request without the argument gets the usual validity, and 0 stands for no end. */
static uint32_t expiry(struct command *c)
{
	uint64_t seconds = EXPIRY_S;

	jsonr_u64(c->arguments, "expires_seconds", 0, EXPIRY_MAX_S, &seconds);
	return seconds ? (uint32_t)(wall_now_us() / 1000000 + (int64_t)seconds) : 0;
}

enum command_result make_invite(struct command *c)
{
	const struct conf *conf = c->d->conf;
	struct token t = { .vni = conf->vni, .expires = expiry(c) };
	struct jsonr_node *list = jsonr_array(c->arguments, "seeds");
	enum command_result r;

	if (!conf->secret)
		return command_refuse(
			c, "the overlay has no secret, and a token hands over the secret: with "
			   "authentication.disable, a member accepts only configured peers and the "
			   "nodes that these peers introduce");
	if (jsonr_len(list) > TOKEN_SEEDS_MAX)
		return command_refuse(c, "a token names at most %d addresses", TOKEN_SEEDS_MAX);
	if (jsonr_len(list) == 0)
		add_known(&t, c->d);
	else if (!add_requested(c, &t, list))
		return CMD_FAILED;
	snprintf(t.secret, sizeof(t.secret), "%s", conf->secret);
	r = answer_token(c, &t);
	x_wipe(&t, sizeof(t));
	return r;
}
