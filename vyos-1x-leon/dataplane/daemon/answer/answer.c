// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of LEON as JSON, see answer.h. Control thread.
 */
#include "daemon/answer/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "daemon/guard/loop_guard.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "daemon/underlay/underlay.h"
#include "io/clock.h"
#include "io/ctlsock.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/path.h"

void answer_id(struct jsonw *w, const char *key, node_id_t id)
{
	jsonw_str(w, key, id == NODE_ID_NONE ? NULL : NODE_ID_TEXT(id));
}

void answer_name(struct jsonw *w, const char *key, struct leond *d, node_id_t id)
{
	const char *name = node_name_of(d, id);

	jsonw_str(w, key, name[0] ? name : NULL);
}

void answer_node(struct jsonw *w, const char *key, struct leond *d, node_id_t id)
{
	answer_id(w, key, id);
	answer_name(w, "name", d, id);
}

void answer_begin_node(struct jsonw *w, const char *key, struct leond *d, node_id_t id)
{
	jsonw_object(w, NULL);
	answer_node(w, key, d, id);
}

void answer_call(struct jsonw *w, const char *key, struct leond *d, node_id_t id)
{
	const char *name = node_name_of(d, id);

	if (name[0])
		jsonw_str(w, key, name);
	else
		answer_id(w, key, id);
}

void answer_forwarder(struct jsonw *w, struct leond *d, uint16_t vlan)
{
	node_id_t forwarder = guard_forwarder(d->guard, vlan);
	const char *reason = guard_reason_name(guard_vlan_reason(d->guard, vlan));

	answer_id(w, "forwarder", forwarder);
	answer_name(w, "forwarder_name", d, forwarder);
	jsonw_str(w, "reason", *reason ? reason : NULL);
}

void answer_mac(struct jsonw *w, const char *key, struct mac mac)
{
	jsonw_str(w, key, MAC_TEXT(mac));
}

void answer_ip(struct jsonw *w, const char *key, const struct ip_addr *ip)
{
	jsonw_str(w, key, ip->family ? IP_TEXT(ip) : NULL);
}

void answer_prefix(struct jsonw *w, const char *key, const struct prefix *p)
{
	jsonw_str(w, key, PREFIX_TEXT(p));
}

void answer_endpoint(struct jsonw *w, const char *key, const struct endpoint *ep)
{
	jsonw_str(w, key, ep->ip.family ? ENDPOINT_TEXT(ep) : NULL);
}

void answer_link_endpoint(struct jsonw *w, const char *key, const struct leond *d,
			  const struct endpoint *ep)
{
	char buf[ENDPOINT_STRLEN];
	bool known = ep->ip.family;

	jsonw_str(w, key, known ? endpoint_name(d, ep, buf, sizeof(buf)) : NULL);
	jsonw_str(w, "transport", !known ? NULL : endpoint_is_stream(ep) ? "tls" : "udp");
}

void answer_protected(struct jsonw *w, struct leond *d, const struct ip_addr *ip, mono_t now)
{
	const char *how = ipsec_protects(d->ipsec, ip, now) ? "ipsec" : "no";

	jsonw_str(w, "protected", ip->family ? how : NULL);
}

void answer_key(struct jsonw *w, const char *key, const uint8_t *identity)
{
	char text[HEX_LEN(MSG_KEY_LEN) + 1];

	jsonw_str(w, key, identity ? hex_format(identity, MSG_KEY_LEN, text) : NULL);
}

void answer_known(struct jsonw *w, const char *key, bool known, uint64_t value)
{
	if (known)
		jsonw_u64(w, key, value);
	else
		jsonw_null(w, key);
}

void answer_age(struct jsonw *w, const char *key, mono_t now, mono_t t)
{
	int64_t age_s = mono_sub_ns(now, t) / NS_PER_S;

	answer_known(w, key, !mono_is_never(t), age_s > 0 ? (uint64_t)age_s : 0);
}

void answer_left(struct jsonw *w, const char *key, mono_t now, mono_t t)
{
	int64_t left_s = (mono_sub_ns(t, now) + NS_PER_S - 1) / NS_PER_S;

	answer_known(w, key, !mono_is_never(t), left_s > 0 ? (uint64_t)left_s : 0);
}

void answer_duplicate(struct jsonw *w, const char *key, struct leond *d, uint16_t slot, mono_t now)
{
	struct overlay_duplicate r;

	if (!overlay_duplicate(d->overlay, slot, &r)) {
		jsonw_null(w, key);
		return;
	}
	jsonw_object(w, key);
	answer_age(w, "seen_seconds", now, r.seen);
	answer_endpoint(w, "endpoint", &r.ep);
	jsonw_bool(w, "same_identity", r.same_identity);
	answer_id(w, "reported_by", r.by);
	jsonw_end(w);
}

/* "2026-01-31T12:00:00.123Z" */
static char *rfc3339(int64_t wall_us, char *buf, size_t len)
{
	time_t s = (time_t)(wall_us / 1000000);
	char date[24];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, len, "%s.%03dZ", date, (int)(wall_us % 1000000 / 1000));
	return buf;
}

void answer_time(struct jsonw *w, const char *key, int64_t wall_us)
{
	char buf[32];

	jsonw_str(w, key, wall_us > 0 ? rfc3339(wall_us, buf, sizeof(buf)) : NULL);
}

int64_t wall_of(mono_t now, mono_t t)
{
	return mono_is_never(t) ? 0 : wall_now_us() - mono_sub_us(now, t);
}

static void answer_slots(struct jsonw *w, const char *ids_key, const char *names_key,
			 struct leond *d, const uint16_t *slot, unsigned n_slots)
{
	jsonw_array(w, ids_key);
	for (unsigned i = 0; i < n_slots; i++)
		answer_id(w, NULL, node_id_at(d, slot[i]));
	jsonw_end(w);
	jsonw_array(w, names_key);
	for (unsigned i = 0; i < n_slots; i++)
		answer_call(w, NULL, d, node_id_at(d, slot[i]));
	jsonw_end(w);
}

void answer_hops(struct jsonw *w, const char *ids_key, const char *names_key, struct leond *d,
		 const struct path *p)
{
	answer_slots(w, ids_key, names_key, d, p->hop, p->n_hops);
}

void answer_path_data(struct jsonw *w, struct leond *d, uint16_t slot, const struct path *p)
{
	const uint16_t *relay;
	struct overlay_link l;
	uint64_t tx, lost;
	unsigned n = overlay_path_data(d->overlay, slot, &tx, &lost, &relay);

	/* Values of the path if it has relays, else of the link. */
	if (p->n_hops == 1 && overlay_link(d->overlay, slot, &l)) {
		tx = l.data_tx;
		lost = l.data_lost;
	}
	jsonw_u64(w, "data_compared", tx);
	jsonw_u64(w, "data_lost", lost);
	answer_slots(w, "avoided_relays", "avoided_names", d, relay, n);
}

void answer_rules(struct jsonw *w, const struct conf *conf)
{
	const char *key;
	uint32_t value;
	size_t at = 0;

	jsonw_object(w, "rules");
	while ((key = conf_next_number(conf, "path", &at, &value)))
		jsonw_u64(w, key, value);
	jsonw_end(w);
}

void answer_bits(struct jsonw *w, const char *key, unsigned bits, const char *const *names,
		 size_t n)
{
	jsonw_array(w, key);
	for (size_t i = 0; i < n; i++)
		if (bits >> i & 1)
			jsonw_str(w, NULL, names[i]);
	jsonw_end(w);
}

/* --- commands --- */

void command_drop(struct command *c)
{
	jsonw_free(c->w);
	jsonr_free(c->doc);
	free(c);
}

static void answer_error(struct command *c)
{
	jsonw_free(c->w);
	c->w = jsonw_new();
	jsonw_object(c->w, NULL);
	jsonw_u64(c->w, "version", COMMAND_JSON_VERSION);
	jsonw_str(c->w, "error", c->error);
}

void command_finish(struct command *c, enum command_result result)
{
	const char *text;
	size_t len;

	if (result == CMD_LATER)
		return;
	if (result == CMD_FAILED)
		answer_error(c);
	jsonw_end(c->w);
	text = jsonw_text(c->w, &len);
	ctl_answer(c->conn, text, len);
	command_drop(c);
}

enum command_result command_refuse(struct command *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->error, sizeof(c->error), fmt, ap);
	va_end(ap);
	return CMD_FAILED;
}

bool answer_is_member(const struct node *n)
{
	return n && n->state != NODE_LEFT;
}

/* Returns NULL and sets the error if no member, or more than one, has the name. */
static const struct node *find_by_name(struct command *c, const char *name)
{
	struct nodedb *db = overlay_nodes(c->overlay);
	const struct node *found = NULL;

	for (uint16_t slot = 0; slot < nodedb_slots(db); slot++) {
		const struct node *n = nodedb_at(db, slot);

		if (!answer_is_member(n) || !n->has_record || strcmp(n->rec.name, name) != 0)
			continue;
		if (found) {
			command_refuse(c, "node-name \"%.40s\" is ambiguous: use the node-id",
				       name);
			return NULL;
		}
		found = n;
	}
	if (!found)
		command_refuse(c, "no node is known as \"%.40s\": see `show nodes`", name);
	return found;
}

const struct node *command_find_node(struct command *c, const char *text)
{
	const struct node *n;
	node_id_t id;

	if (node_id_parse(text, &id) < 0)
		return find_by_name(c, text);
	n = nodedb_find(overlay_nodes(c->overlay), id);
	if (answer_is_member(n))
		return n;
	command_refuse(c, "no node has the node-id %s: see `show nodes`", text);
	return NULL;
}

const struct node *command_node(struct command *c)
{
	const char *text;

	if (c->arguments && jsonr_str(c->arguments, "node", &text) && text[0])
		return command_find_node(c, text);
	command_refuse(c, "argument \"node\" is missing: give a node-id or a node-name");
	return NULL;
}

void answer_nodes(struct command *c, const char *key,
		  void (*write)(struct command *c, const struct node *n))
{
	struct nodedb *db = overlay_nodes(c->overlay);

	jsonw_array(c->w, key);
	for (const struct node *n = NULL; (n = nodedb_next(db, n));)
		write(c, n);
	jsonw_end(c->w);
}
