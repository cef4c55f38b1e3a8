// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The member cache file beside the control socket, <interface>.members by default. Read once at the
 * start; written after changes at most once a minute, and at the end. A file that does not parse is
 * ignored with a warning; a failed write costs only the cache. Control thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/jsonr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "io/file.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/state_file.h"

#define SAVE_EVERY_MS 60000

struct cache {
	char path[FILE_BESIDE_LEN];
	struct member_list read; /* list read at the start; appended to every configuration */
	char *saved;		 /* last written text */
	bool fails;		 /* a failed write was reported */
	mono_t saved_at;
};

static bool is_configured(const struct conf *c, const struct endpoint *ep)
{
	for (uint32_t i = 0; i < c->n_peers; i++)
		if (c->peer[i].is_ip && endpoint_equal(&c->peer[i].ep, ep))
			return true;
	return false;
}

/* Drops entries that the configuration contains: this node and configured peers. */
static void drop_known(struct leond *d)
{
	struct member_list kept = { 0 };

	for (unsigned i = 0; i < d->states->cache->read.n; i++) {
		const struct member_entry *m = &d->states->cache->read.member[i];

		if (m->node != d->self && !is_configured(d->conf, &m->ep[0]))
			kept.member[kept.n++] = *m;
	}
	d->states->cache->read = kept;
}

void cache_load(struct leond *d)
{
	char *text = x_calloc(1, MEMBERS_FILE_MAX), err[256];
	ssize_t len;

	d->states->cache = x_new(struct cache);
	d->states->cache->saved_at = loop_now(d->loop);
	/* /run/leon/leon0.sock has /run/leon/leon0.members beside it. */
	file_beside(d->conf->control_socket, ".sock", ".members", d->states->cache->path);
	len = file_load(d->states->cache->path, false, text, MEMBERS_FILE_MAX, NULL);
	if (len < 0 && len != -ENOENT)
		log_warn("cache", "%s is ignored: %s", d->states->cache->path,
			 file_error((int)len));
	else if (len >= 0 && members_parse(text, (size_t)len, d->conf->vni, &d->states->cache->read,
					   err, sizeof(err)) < 0)
		log_warn("cache", "%s is ignored: %s", d->states->cache->path, err);
	free(text);
	drop_known(d);
}

const struct member_entry *cache_member(const struct leond *d, uint32_t i)
{
	return &d->states->cache->read.member[i];
}

void cache_append_to(const struct leond *d, struct conf *c)
{
	uint32_t n = min_of((uint32_t)d->states->cache->read.n,
			    c->n_peers < CONF_PEERS_MAX ? CONF_PEERS_MAX - c->n_peers : 0);

	c->n_configured_peers = c->n_peers;
	if (n == 0)
		return;
	c->peer = x_realloc(c->peer, c->n_peers + n, sizeof(*c->peer));
	for (uint32_t i = 0; i < n; i++) {
		struct conf_peer *p = &c->peer[c->n_peers + i];

		*p = (struct conf_peer){ .is_ip = true,
					 .ep = d->states->cache->read.member[i].ep[0] };
		snprintf(p->name, sizeof(p->name), "cached-%u", i + 1);
		ip_format(&p->ep.ip, p->host, sizeof(p->host));
	}
	c->n_peers += n;
}

static void add_endpoint(struct member_entry *m, const struct endpoint *ep)
{
	if (!endpoint_is_among(ep, m->ep, m->n) && m->n < MEMBERS_ENDPOINTS &&
	    endpoint_is_usable(ep))
		m->ep[m->n++] = *ep;
}

/* Reachable members: their endpoints, then their announced addresses. */
static void collect(struct leond *d, struct member_list *l)
{
	struct nodedb *db = overlay_nodes(d->overlay);

	for (const struct node *n = NULL; l->n < MEMBERS_MAX && (n = nodedb_next(db, n));) {
		struct member_entry *m = &l->member[l->n];
		struct overlay_link link;

		if (!n->has_record || n->state != NODE_REACHABLE)
			continue;
		m->node = n->id;
		if (overlay_link(d->overlay, n->slot, &link) && link.up)
			add_endpoint(m, &link.ep);
		for (unsigned i = 0; i < n->rec.n_locators; i++)
			add_endpoint(m, &n->rec.locator[i]);
		if (m->n > 0)
			l->n++;
	}
}

/* A failed write is retried at the next occasion and reported once. */
static void save_text(struct leond *d, const char *text, size_t len)
{
	int r;

	if (d->states->cache->saved && strcmp(d->states->cache->saved, text) == 0)
		return;
	r = file_write(d->states->cache->path, text, len, FILE_REPLACE);
	if (r < 0) {
		if (!d->states->cache->fails)
			log_warn("cache",
				 "%s cannot be written: %s; after a restart this node joins "
				 "through the configured peers only",
				 d->states->cache->path, file_error(r));
		d->states->cache->fails = true;
		return;
	}
	if (d->states->cache->fails)
		log_notice("cache", "%s is written again", d->states->cache->path);
	d->states->cache->fails = false;
	free(d->states->cache->saved);
	d->states->cache->saved = x_strdup(text);
}

void cache_save(struct leond *d, mono_t now)
{
	struct member_list l = { 0 };
	struct jsonw *w;
	const char *text;
	size_t len;

	collect(d, &l);
	d->states->cache->saved_at = now;
	/* If no member is reached, the existing file is the best knowledge. */
	if (l.n == 0)
		return;
	w = jsonw_new();
	members_write(&l, d->conf->vni, w);
	text = jsonw_text(w, &len);
	save_text(d, text, len);
	jsonw_free(w);
}

void cache_periodic(struct leond *d, mono_t now)
{
	if (mono_sub_ms(now, d->states->cache->saved_at) >= SAVE_EVERY_MS)
		cache_save(d, now);
}

void cache_free(struct leond *d)
{
	if (d->states->cache)
		free(d->states->cache->saved);
	x_free(d->states->cache);
}

/* --- text of the member cache --- */

#define MEMBERS_VERSION 1

static void read_endpoints(struct jsonr_node *list, struct jsonr_node *where,
			   struct member_entry *m)
{
	for (size_t i = 0; i < jsonr_len(list) && m->n < MEMBERS_ENDPOINTS; i++) {
		const char *text;
		struct endpoint ep;

		if (!jsonr_str_at(list, i, &text))
			return;
		if (endpoint_parse(text, 0, &ep) < 0 || !endpoint_is_usable(&ep)) {
			jsonr_fail(where, "bad endpoint");
			return;
		}
		m->ep[m->n++] = ep;
	}
}

static void read_member(struct jsonr_node *n, struct member_list *out)
{
	struct member_entry *m = &out->member[out->n];
	const char *id = "";

	*m = (struct member_entry){ 0 };
	if (!jsonr_str(n, "node_id", &id) || node_id_parse(id, &m->node) < 0) {
		jsonr_fail(n, "bad node_id");
		return;
	}
	read_endpoints(jsonr_array(n, "endpoints"), n, m);
	if (m->n > 0)
		out->n++;
}

int members_parse(const char *text, size_t len, uint32_t vni, struct member_list *out, char *err,
		  size_t err_len)
{
	struct jsonr *doc = jsonr_parse(text, len, JSONR_USUAL_MAX);
	struct jsonr_node *root = jsonr_root(doc);
	struct jsonr_node *list = jsonr_array(root, "members");
	int r;

	*out = (struct member_list){ 0 };
	state_file_check(root, "a member cache", MEMBERS_VERSION, vni);
	for (size_t i = 0; i < jsonr_len(list) && out->n < MEMBERS_MAX; i++)
		read_member(jsonr_at(list, i), out);
	r = state_file_end(doc, err, err_len);
	if (r < 0)
		*out = (struct member_list){ 0 };
	return r;
}

void members_write(const struct member_list *l, uint32_t vni, struct jsonw *w)
{
	state_file_begin(w, MEMBERS_VERSION, vni);
	jsonw_array(w, "members");
	for (unsigned i = 0; i < l->n; i++) {
		const struct member_entry *m = &l->member[i];

		jsonw_object(w, NULL);
		jsonw_str(w, "node_id", NODE_ID_TEXT(m->node));
		jsonw_array(w, "endpoints");
		for (unsigned k = 0; k < m->n; k++)
			jsonw_str(w, NULL, ENDPOINT_TEXT(&m->ep[k]));
		jsonw_end(w);
		jsonw_end(w);
	}
	jsonw_end(w);
	jsonw_end(w);
}
