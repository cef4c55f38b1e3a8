// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket of leon-accel, see control.h.
 */
#include "control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/jsonr.h"
#include "base/json/jsonw.h"
#include "conn/conn.h"
#include "engine.h"
#include "io/ctlsock.h"
#include "peer/peer.h"

#define JSON_VERSION 1

static void show(const struct engine *e, struct jsonw *w)
{
	struct accel_totals t = e->counters;

	t.tracked = e->n_conns;
	t.intercepted_now = e->n_intercepted;
	t.held = (uint64_t)e->held;
	t.time = conns_time(e);
	accel_totals_write(&t, w);
	jsonw_array(w, "nodes");
	peers_write(e, w);
	jsonw_end(w);
}

static void show_connections(struct engine *e, struct jsonr_node *arguments, struct jsonw *w)
{
	uint64_t behind = 0;

	if (arguments)
		jsonr_u64(arguments, "behind", 0, UINT64_MAX, &behind);
	conns_page(e, behind, w, loop_now(e->loop));
}

static bool may_write(const struct ctl_conn *c)
{
	const struct ctl_peer *peer = ctl_conn_peer(c);

	return peer->uid == 0 || peer->uid == geteuid();
}

static bool read_endpoint(struct jsonr_node *arguments, const char *key, struct endpoint *out)
{
	const char *text;

	return arguments && jsonr_str(arguments, key, &text) && endpoint_parse(text, 0, out) == 0 &&
	       out->port;
}

static const char *explain(struct engine *e, struct jsonr_node *arguments, struct jsonw *w)
{
	struct endpoint a, b;

	if (!read_endpoint(arguments, "first", &a) || !read_endpoint(arguments, "second", &b))
		return "first and second are ADDRESS:PORT";
	jsonw_array(w, "connections");
	conns_explain(e, &a, &b, w, loop_now(e->loop));
	jsonw_end(w);
	return NULL;
}

static const char *run(struct engine *e, const struct ctl_conn *c, struct jsonr_node *root,
		       struct jsonw *w)
{
	const char *name = "";

	jsonr_str(root, "command", &name);
	if (strcmp(name, "show acceleration") == 0) {
		show(e, w);
		return NULL;
	}
	if (strcmp(name, "show acceleration connections") == 0) {
		show_connections(e, jsonr_object(root, "arguments"), w);
		return NULL;
	}
	if (strcmp(name, "explain connection") == 0)
		return explain(e, jsonr_object(root, "arguments"), w);
	if (strcmp(name, "reset acceleration") != 0)
		return "unknown command";
	if (!may_write(c))
		return "this is for root and the daemon's user only";
	conns_release_all(e, loop_now(e->loop));
	return NULL;
}

static void on_request(void *arg, struct ctl_conn *conn, const char *request, size_t len)
{
	struct jsonr *doc = jsonr_parse(request, len, JSONR_USUAL_MAX);
	struct jsonw *w = jsonw_new();
	const char *error, *text;
	size_t text_len;

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", JSON_VERSION);
	error = jsonr_root(doc) ? run(arg, conn, jsonr_root(doc), w) : jsonr_error(doc);
	if (error)
		jsonw_str(w, "error", error);
	jsonw_end(w);
	text = jsonw_text(w, &text_len);
	ctl_answer(conn, text, text_len);
	jsonw_free(w);
	jsonr_free(doc);
}

/* leond runs as another user and is in no group of leon-accel. If the directory is closed to others
 * (leond.tmpfiles), it admits leond and this process alone, so the socket is opened to all. */
static int admit_leond(const char *path)
{
	const char *end = strrchr(path, '/');
	struct stat st;
	char *dir;
	int rc;

	if (!end || end == path)
		return 0;
	dir = strndup(path, (size_t)(end - path));
	rc = dir && stat(dir, &st) == 0 && !(st.st_mode & S_IRWXO) ? chmod(path, 0666) : 0;
	free(dir);
	return rc < 0 ? -errno : 0;
}

int control_start(struct ctl_server **out, struct engine *e, const char *path)
{
	int rc = ctl_listen(out, e->loop, path, on_request, e);

	return rc < 0 ? rc : admit_leond(path);
}
