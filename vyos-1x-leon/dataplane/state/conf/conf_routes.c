// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the lists of `export` and `import`: announced prefixes of this node and accepted prefixes
 * of others. Called by conf.c; pure; control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "state/conf/conf_section.h"

static int compare_prefixes(const void *a, const void *b)
{
	return prefix_compare(a, b);
}

static int compare_imports(const void *a, const void *b)
{
	const struct conf_import *x = a, *y = b;

	return prefix_compare(&x->prefix, &y->prefix);
}

/* Reads a list of prefixes and sorts it, because order in the document has no meaning. Returns the
 * number. */
static uint8_t read_prefixes(struct jsonr_node *list, struct prefix *out)
{
	const char *s;
	uint8_t n = 0;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++)
		if (prefix_parse(s, &out[n++]) < 0)
			jsonr_fail(list,
				   "\"%.64s\" is not a prefix such as 10.1.0.0/16 with all host "
				   "bits zero",
				   s);
	qsort(out, n, sizeof(*out), compare_prefixes);
	for (uint8_t i = 1; i < n; i++)
		if (prefix_compare(&out[i - 1], &out[i]) == 0)
			jsonr_fail(list, "names a prefix twice");
	return n;
}

static bool has_family(const struct conf *c, uint8_t family)
{
	for (uint8_t i = 0; i < c->n_overlay; i++)
		if (c->overlay[i].family == family)
			return true;
	return false;
}

static void read_export(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *export = jsonr_object(root, "export");
	struct jsonr_node *list = conf_list(export, "prefix", CONF_PREFIXES_MAX, "prefixes");

	c->n_prefixes = read_prefixes(list, c->prefix);
	for (uint8_t i = 0; i < c->n_prefixes; i++)
		if (!has_family(c, c->prefix[i].ip.family))
			jsonr_fail(list,
				   "has an IPv%u prefix: it needs an IPv%u overlay-address that "
				   "others can use as next-hop",
				   c->prefix[i].ip.family, c->prefix[i].ip.family);
}

bool conf_parse_node(const char *s, struct conf_node *out)
{
	*out = (struct conf_node){ .id = NODE_ID_NONE };
	if (node_id_parse(s, &out->id) == 0)
		return true;
	return strlen(s) == HEX_LEN(MSG_KEY_LEN) && hex_parse(s, out->key, MSG_KEY_LEN) == 0;
}

static void read_import_nodes(struct jsonr_node *obj, struct conf_import *im)
{
	struct jsonr_node *list = conf_list(obj, "node", CONF_IMPORT_NODES_MAX, "nodes");
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++)
		if (!conf_parse_node(s, &im->node[im->n_nodes++]))
			jsonr_fail(list,
				   "\"%.64s\" is no identity of 64 hexadecimal digits and no "
				   "node-id (`leonctl show identity`): names are not accepted, "
				   "because each node chooses its own",
				   s);
}

/* Without ge and le only the exact prefix is accepted. With ge alone all longer ones are accepted
 * too, as in prefix lists. */
static void read_import_rule(struct jsonr_node *obj, const char *name, struct conf_import *im)
{
	uint32_t max, ge, le;

	if (prefix_parse(name, &im->prefix) < 0) {
		jsonr_fail(obj, "is not a prefix such as 10.0.0.0/8 with all host bits zero");
		return;
	}
	max = prefix_host_len(&im->prefix.ip);
	ge = im->prefix.len;
	le = jsonr_has(obj, "ge") ? max : ge;
	conf_get_u32(obj, "ge", im->prefix.len, max, &ge);
	conf_get_u32(obj, "le", im->prefix.len, max, &le);
	if (ge > le)
		jsonr_fail_key(obj, "ge", "is %u and must not be above le %u", ge, le);
	im->ge = (uint8_t)ge;
	im->le = (uint8_t)le;
	read_import_nodes(obj, im);
}

static void read_import(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *import = jsonr_object(root, "import");
	struct jsonr_node *list =
		conf_list(import, "address", CONF_IMPORT_ADDRESSES_MAX, "prefixes");
	struct jsonr_node *map = conf_map(import, "prefix", CONF_IMPORTS_MAX, "prefixes");
	struct jsonr_node *obj;
	const char *name;

	c->n_import_addresses = read_prefixes(list, c->import_address);
	c->import = x_calloc(jsonr_len(map), sizeof(*c->import));
	for (size_t i = 0; (obj = jsonr_member(map, i, &name)); i++)
		read_import_rule(obj, name, &c->import[c->n_imports++]);
	qsort(c->import, c->n_imports, sizeof(*c->import), compare_imports);
	/* Formats the prefix again, because an IPv6 prefix has many spellings. */
	for (uint32_t i = 1; i < c->n_imports; i++)
		if (compare_imports(&c->import[i - 1], &c->import[i]) == 0)
			jsonr_fail(map, "names a prefix twice");
}

void conf_read_routes(struct jsonr_node *root, struct conf *c)
{
	read_export(root, c);
	read_import(root, c);
}
