// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first configuration of a node as text, see new_node.h. Pure; any thread.
 */
#include "state/conf/new_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonw.h"
#include "base/mem.h"
#include "state/conf/conf.h"

/* conf_parse() reports a word without a number. */
static void write_number(struct jsonw *w, const char *key, const char *value)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	if (*end || end == value)
		jsonw_str(w, key, value);
	else
		jsonw_u64(w, key, number);
}

static void write_peers(struct jsonw *w, const struct token *t, const char *tls_port)
{
	char name[16];

	if (t->n_seeds == 0)
		return;
	jsonw_object(w, "peer");
	for (unsigned i = 0; i < t->n_seeds; i++) {
		snprintf(name, sizeof(name), "seed-%u", i + 1);
		jsonw_object(w, name);
		jsonw_str(w, "address", t->seed[i].host);
		if (t->seed[i].port != CONF_PEER_PORT_DEFAULT)
			jsonw_u64(w, "port", t->seed[i].port);
		if (tls_port)
			write_number(w, "tls-port", tls_port);
		jsonw_end(w);
	}
	jsonw_end(w);
}

static void write_text(struct jsonw *w, const char *key, const char *value)
{
	if (value)
		jsonw_str(w, key, value);
}

static void write_list(struct jsonw *w, const char *key, const char *const *list)
{
	if (!list || !*list)
		return;
	jsonw_array(w, key);
	for (; *list; list++)
		jsonw_str(w, NULL, *list);
	jsonw_end(w);
}

static char *write_configuration(const struct new_node *n)
{
	struct jsonw *w = jsonw_new_indented();
	char id[NODE_ID_STRLEN], *text;
	size_t len;

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_str(w, "interface", n->interface);
	write_list(w, "address", n->address);
	write_text(w, "bridge", n->bridge);
	write_list(w, "source-address", n->source_address);
	write_text(w, "source-interface", n->source_interface);
	jsonw_u64(w, "vni", n->overlay->vni);
	jsonw_str(w, "node-id", node_id_format(n->node_id, id, sizeof(id)));
	write_text(w, "node-name", n->name);
	write_peers(w, n->overlay, n->tls_port);
	if (n->tls_port) {
		jsonw_object(w, "transport");
		jsonw_object(w, "tls");
		jsonw_end(w);
		jsonw_end(w);
	}
	jsonw_object(w, "authentication");
	jsonw_str(w, "pre-shared-secret", n->overlay->secret);
	if (n->overlay->pbkdf2)
		jsonw_str(w, "derivation", "pbkdf2");
	jsonw_end(w);
	if (n->overlay->p256) {
		jsonw_object(w, "encryption");
		jsonw_str(w, "curve", "p256");
		jsonw_end(w);
	}
	jsonw_end(w);
	jsonw_text(w, &len);
	text = x_calloc(len + 2, 1);
	snprintf(text, len + 2, "%s\n", jsonw_text(w, NULL));
	x_wipe((char *)jsonw_text(w, NULL), len);
	jsonw_free(w);
	return text;
}

char *new_node_text(const struct new_node *n, char *err, size_t err_len)
{
	char *text = write_configuration(n);
	struct conf *c = conf_parse(text, strlen(text), err, err_len);

	if (!c) {
		x_wipe(text, strlen(text));
		free(text);
		return NULL;
	}
	conf_free(c);
	return text;
}
