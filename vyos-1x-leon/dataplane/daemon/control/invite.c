// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Invitations: joining tokens, and the list of those that are open. Control thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "daemon/answer/answer.h"
#include "daemon/identity/own_identity.h"
#include "daemon/leond.h"
#include "io/clock.h"
#include "io/ctlsock.h"
#include "io/udp.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/conf/new_node.h"
#include "state/invitations.h"

/* `invite`: a joining token (wire/message/token.h), by default a one-time token, whose invitation
 * this node keeps. Any token yields the secret, so the command requires write access. The seeds are
 * those of the request, else the addresses of this node, its configured peers, and the endpoints of
 * other members. Public addresses are preferred. */

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
	if (ep->ip.family && ip_is_private(&ep->ip) == private)
		add_seed(t, IP_TEXT(&ep->ip), ep->port);
}

static void add_own(struct token *t, struct leond *d, bool private)
{
	const struct node *self = nodedb_at(overlay_nodes(d->overlay), SLOT_SELF);

	for (unsigned i = 0; i < self->rec.n_locators && t->n_seeds < OWN_MAX; i++)
		add_endpoint(t, &self->rec.locator[i], private);
}

static void add_peers(struct token *t, const struct leond *d, bool private)
{
	for (uint32_t i = 0; i < d->conf->n_configured_peers; i++) {
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

/* Only this node answers the one-time token, which therefore has an address of this node. */
static void add_known(struct token *t, struct leond *d)
{
	for (int private = 0; private < 2 && t->n_seeds == 0; private ++) {
		add_own(t, d, private);
		if (t->one_time && t->n_seeds == 0)
			continue;
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
		add_seed(t, IP_TEXT(&ep.ip), ep.port);
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
		if (jsonr_str_at(list, i, &text) && add_named(t, text, c->d->udp->port))
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
	const struct conf *conf = c->d->conf;
	struct token whole = *t;
	const struct new_node n = { .interface = conf->interface,
				    .node_id = c->self,
				    .overlay = &whole };
	char err[160], *text;

	snprintf(whole.secret, sizeof(whole.secret), "%s", conf->secret);
	text = new_node_text(&n, err, sizeof(err));
	x_wipe(&whole, sizeof(whole));
	if (!text) {
		command_refuse(c, "no node could join with the token: %s", err);
		return false;
	}
	x_wipe(text, strlen(text));
	free(text);
	return true;
}

static void answer_token(struct command *c, const struct token *t, const char *text,
			 const struct invitation *i)
{
	char id[HEX_LEN(INVITATION_ID_LEN) + 1];

	jsonw_str(c->w, "token", text);
	jsonw_u64(c->w, "vni", t->vni);
	answer_time(c->w, "expires", (int64_t)t->expires * 1000000);
	answer_seeds(c->w, t);
	jsonw_u64(c->w, "trusted_identities", c->d->conf->n_trusted);
	jsonw_str(c->w, "invitation", i ? hex_format(i->id, INVITATION_ID_LEN, id) : NULL);
	answer_known(c->w, "uses", i, i ? i->uses : 0);
	log_info("control", "a joining token was made for user %u%s%s",
		 (unsigned)ctl_conn_peer(c->conn)->uid, i ? ", invitation " : ", with the secret",
		 i ? id : "");
}

static enum command_result refuse_seeds(struct command *c, const struct token *t)
{
	if (!t->one_time)
		return command_refuse(
			c, "no reachable address of a member is known; name an address: leonctl "
			   "invite ADDRESS");
	return command_refuse(c, "no address of this node is known, and only this node answers a "
				 "one-time token; name an address: leonctl invite ADDRESS");
}

/* Keeps the invitation of a one-time token. Returns NULL with the error set. */
static struct invitation *issue(struct command *c, const struct token *t, unsigned uses)
{
	struct invitations *l = overlay_invitations(c->overlay);
	struct invitation *i = invitations_add(l, t->value, t->expires, uses);

	if (!i) {
		command_refuse(c,
			       "%d invitations are open, which is the maximum: end one with "
			       "`leonctl reset invitation`, see `leonctl show invitations`",
			       INVITATIONS_MAX);
		return NULL;
	}
	if (invitations_save(c->d) == 0)
		return i;
	invitations_remove(l, i);
	command_refuse(c, "the invitation cannot be stored beside the identity-file, see the log; "
			  "or make a token with the secret: leonctl invite --with-secret");
	return NULL;
}

static enum command_result finish(struct command *c, const struct token *t, unsigned uses)
{
	struct invitation *i = NULL;
	char text[TOKEN_TEXT_MAX];

	if (t->n_seeds == 0)
		return refuse_seeds(c, t);
	if (!t->one_time && (c->d->conf->derivation != STRETCH_SCRYPT || t->p256))
		return command_refuse(
			c, "a token with the secret cannot carry authentication.derivation or "
			   "encryption.curve; make a token without the secret: leonctl invite");
	if (!can_be_used(c, t))
		return CMD_FAILED;
	if (!token_encode(t, text))
		return command_refuse(
			c, "the pre-shared-secret or an address does not fit into a token");
	if (t->one_time && !(i = issue(c, t, uses)))
		return CMD_FAILED;
	answer_token(c, t, text, i);
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
	struct token t = { .vni = conf->vni, .expires = expiry(c), .p256 = conf->curve == DH_P256 };
	struct jsonr_node *list = jsonr_array(c->arguments, "seeds");
	bool with_secret = false;
	enum command_result r;
	uint64_t uses = 1;

	jsonr_bool(c->arguments, "with_secret", &with_secret);
	jsonr_u64(c->arguments, "uses", 1, INVITATION_USES_MAX, &uses);
	if (jsonr_error(c->doc))
		return command_refuse(c, "request: %s", jsonr_error(c->doc));
	if (!conf->secret)
		return command_refuse(
			c, "the overlay has no secret for a token: with authentication.disable, a "
			   "member accepts only configured peers and the nodes that these peers "
			   "introduce");
	if (jsonr_len(list) > TOKEN_SEEDS_MAX)
		return command_refuse(c, "a token names at most %d addresses", TOKEN_SEEDS_MAX);
	t.one_time = !with_secret;
	if (jsonr_len(list) == 0)
		add_known(&t, c->d);
	else if (!add_requested(c, &t, list))
		return CMD_FAILED;
	if (with_secret)
		snprintf(t.secret, sizeof(t.secret), "%s", conf->secret);
	else
		random_bytes(t.value, sizeof(t.value));
	r = finish(c, &t, (unsigned)uses);
	x_wipe(&t, sizeof(t));
	return r;
}

/* `show invitations` and `reset invitation`: the one-time tokens that this node issued, without
 * their values. */

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
