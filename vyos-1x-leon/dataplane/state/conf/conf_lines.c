// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads `line` of the configuration: the Internet lines of this site. Pure; control thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/conf/conf_section.h"

static void read_line(struct jsonr_node *obj, const char *name, struct conf_line *l)
{
	conf_get_name(obj, "line", name, l->name, sizeof(l->name));
	conf_get_address(obj, "address", &l->ip);
	conf_get_ifname(obj, "interface", l->interface);
	if (!jsonr_has(obj, "address") && !jsonr_has(obj, "interface"))
		jsonr_fail(obj, "has neither address nor interface; give one of them");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct conf_line *)a)->name, ((const struct conf_line *)b)->name);
}

static bool is_same_source(const struct conf_line *a, const struct conf_line *b)
{
	return ip_equal(&a->ip, &b->ip) && strcmp(a->interface, b->interface) == 0;
}

static void check(struct jsonr_node *root, struct jsonr_node *map, const struct conf *c)
{
	static const char *const other[] = { "source-address", "source-interface" };

	if (c->n_lines == 2 && is_same_source(&c->line[0], &c->line[1]))
		jsonr_fail(map, "has two lines with one source; give each its address or "
				"interface");
	for (size_t i = 0; c->n_lines && i < array_size(other); i++)
		if (jsonr_has(root, other[i]))
			jsonr_fail_key(root, other[i],
				       "excludes \"line\"; give the address or interface of each "
				       "line there");
	if (c->n_lines && c->transport_tls)
		jsonr_fail_key(root, "transport", "has tls, which excludes \"line\"; remove one");
}

void conf_read_lines(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *map = conf_map(root, "line", CONF_LINES_MAX, "lines");
	struct jsonr_node *obj;
	const char *name;

	for (size_t i = 0; (obj = jsonr_member(map, i, &name)); i++)
		read_line(obj, name, &c->line[c->n_lines++]);
	/* The order in the document has no meaning. */
	qsort(c->line, c->n_lines, sizeof(c->line[0]), compare_names);
	check(root, map, c);
}

const char *conf_line_name(const struct conf *c, uint8_t line)
{
	return line < c->n_lines ? c->line[line].name : NULL;
}
