// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The member cache file beside the control socket, <interface>.members by default: read once at the
 * start, written when it changed, at most once a minute, and at the end. A file that does not parse
 * is ignored with a warning; one that cannot be written costs only the cache. Control thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "daemon/life/cache.h"
#include "daemon/leond.h"
#include "io/file.h"

/* /run/leon/leon0.sock has /run/leon/leon0.members beside it. */
static void make_path(struct leond *d)
{
	const char *path = d->conf->control_socket;
	size_t len = strlen(path);

	if (len > 5 && strcmp(path + len - 5, ".sock") == 0)
		len -= 5;
	snprintf(d->cache_path, sizeof(d->cache_path), "%.*s.members", (int)len, path);
}

static bool is_configured(const struct conf *c, const struct endpoint *ep)
{
	for (uint32_t i = 0; i < c->n_peers; i++)
		if (c->peer[i].is_ip && endpoint_equal(&c->peer[i].ep, ep))
			return true;
	return false;
}

/* Drops what adds nothing to the configuration: this node and configured peers. */
static void drop_known(struct leond *d)
{
	struct member_list kept = { 0 };

	for (unsigned i = 0; i < d->cached.n; i++) {
		const struct member_entry *m = &d->cached.member[i];

		if (m->node != d->self && !is_configured(d->conf, &m->ep[0]))
			kept.member[kept.n++] = *m;
	}
	d->cached = kept;
}

void cache_load(struct leond *d)
{
	char *text, err[256];
	struct stat st;
	ssize_t len;
	int fd;

	make_path(d);
	fd = file_open(d->cache_path, false, &st);
	if (fd < 0) {
		if (fd != -ENOENT)
			log_warn("cache", "%s is ignored: %s", d->cache_path, file_error(fd));
		return;
	}
	text = x_calloc(1, MEMBERS_FILE_MAX);
	len = file_read(fd, text, MEMBERS_FILE_MAX);
	close(fd);
	if (len < 0)
		log_warn("cache", "%s is ignored: %s", d->cache_path, file_error((int)len));
	else if (members_parse(text, (size_t)len, d->conf->vni, &d->cached, err, sizeof(err)) < 0)
		log_warn("cache", "%s is ignored: %s", d->cache_path, err);
	free(text);
	drop_known(d);
}

void cache_append_to(const struct leond *d, struct conf *c)
{
	uint32_t n = min_of((uint32_t)d->cached.n,
			    c->n_peers < CONF_PEERS_MAX ? CONF_PEERS_MAX - c->n_peers : 0);

	if (n == 0)
		return;
	c->peer = x_realloc(c->peer, c->n_peers + n, sizeof(*c->peer));
	for (uint32_t i = 0; i < n; i++) {
		struct conf_peer *p = &c->peer[c->n_peers + i];

		*p = (struct conf_peer){ .is_ip = true, .ep = d->cached.member[i].ep[0] };
		snprintf(p->name, sizeof(p->name), "cached-%u", i + 1);
		ip_format(&p->ep.ip, p->host, sizeof(p->host));
	}
	c->n_peers += n;
}

static void add_endpoint(struct member_entry *m, const struct endpoint *ep)
{
	for (unsigned i = 0; i < m->n; i++)
		if (endpoint_equal(&m->ep[i], ep))
			return;
	if (m->n < MEMBERS_ENDPOINTS && endpoint_is_usable(ep))
		m->ep[m->n++] = *ep;
}

/* Reachable members: where they are reached, then what they announce. */
static void collect(struct leond *d, struct member_list *l)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	uint16_t n_slots = nodedb_slots(db);

	for (uint16_t slot = SLOT_SELF + 1; slot < n_slots && l->n < MEMBERS_MAX; slot++) {
		const struct node *n = nodedb_at(db, slot);
		struct member_entry *m = &l->member[l->n];
		struct overlay_link link;

		if (!n || !n->has_record || n->state != NODE_REACHABLE)
			continue;
		m->node = n->id;
		if (overlay_link(d->overlay, slot, &link) && link.up)
			add_endpoint(m, &link.ep);
		for (unsigned i = 0; i < n->rec.n_locators; i++)
			add_endpoint(m, &n->rec.locator[i]);
		if (m->n > 0)
			l->n++;
	}
}

/* What could not be written is tried again at the next occasion, and said once. */
static void save_text(struct leond *d, const char *text, size_t len)
{
	int r;

	if (d->saved && strcmp(d->saved, text) == 0)
		return;
	r = file_write(d->cache_path, text, len, FILE_REPLACE);
	if (r < 0) {
		if (!d->save_fails)
			log_warn("cache",
				 "%s cannot be written: %s; after a restart this node joins "
				 "through its configured peers only",
				 d->cache_path, file_error(r));
		d->save_fails = true;
		return;
	}
	if (d->save_fails)
		log_notice("cache", "%s is written again", d->cache_path);
	d->save_fails = false;
	free(d->saved);
	d->saved = x_strdup(text);
}

void cache_save(struct leond *d, mono_t now)
{
	struct member_list l = { 0 };
	struct jsonw *w;
	const char *text;
	size_t len;

	collect(d, &l);
	d->saved_at = now;
	/* Nobody is reached: what the file says is the best that is known. */
	if (l.n == 0)
		return;
	w = jsonw_new();
	members_write(&l, d->conf->vni, w);
	text = jsonw_text(w, &len);
	save_text(d, text, len);
	jsonw_free(w);
}
