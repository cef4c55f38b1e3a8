// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads `address` and `bridge`: the addresses of the interface and the bridge that the interface
 * joins. Called by conf.c; pure; control thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/conf/conf_section.h"

static int compare(const void *a, const void *b)
{
	return prefix_compare(a, b);
}

/* Returns NULL, or the reason why a host cannot have the address. RFC 3021 and RFC 6164 permit both
 * addresses of a prefix of two. */
static const char *unsuitable(const struct prefix *a)
{
	uint8_t max = prefix_host_len(&a->ip);
	struct prefix net = *a;
	struct ip_addr last;

	if (!ip_is_usable(&a->ip))
		return "is not a unicast address";
	if (a->len == 0)
		return "has the length 0, which is the whole Internet";
	if (a->len >= max - 1)
		return NULL;
	prefix_mask(&net);
	if (ip_equal(&net.ip, &a->ip))
		return "is the address of the network; give the address of this host in it";
	last = net.ip;
	for (unsigned bit = a->len; bit < max; bit++)
		last.b[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	return a->ip.family == 4 && ip_equal(&last, &a->ip)
		       ? "is the broadcast address of the network; give the address of this host"
		       : NULL;
}

static bool read_address(struct jsonr_node *list, const char *s, struct prefix *out)
{
	const char *slash = strchr(s, '/'), *reason;
	struct ip_addr bare;

	if (strncmp(s, "dhcp", 4) == 0) {
		jsonr_fail(list,
			   "leond runs no DHCP client; leave \"%.64s\" out and configure the DHCP "
			   "client of the system for the interface",
			   s);
		return false;
	}
	if (!slash && ip_parse(s, &bare) == 0) {
		jsonr_fail(list, "%.64s has no prefix length; write it like 10.99.0.1/24", s);
		return false;
	}
	if (ip_and_len_parse(s, &out->ip, &out->len) < 0) {
		jsonr_fail(list, "\"%.64s\" is not an address such as 10.99.0.1/24", s);
		return false;
	}
	reason = unsuitable(out);
	if (reason)
		jsonr_fail(list, "%.64s %s", s, reason);
	return !reason;
}

static void read_addresses(struct jsonr_node *list, struct conf *c)
{
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		if (!read_address(list, s, &c->address[c->n_addresses]))
			return;
		for (uint8_t j = 0; j < c->n_addresses; j++)
			if (ip_equal(&c->address[j].ip, &c->address[c->n_addresses].ip))
				jsonr_fail(list, "has %.64s twice", s);
		c->n_addresses++;
	}
	qsort(c->address, c->n_addresses, sizeof(*c->address), compare);
}

void conf_read_device(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *list = conf_list(root, "address", CONF_ADDRESSES_MAX, "addresses");

	read_addresses(list, c);
	conf_get_ifname(root, "bridge", c->bridge);
	if (!c->bridge[0])
		return;
	if (strcmp(c->bridge, c->interface) == 0)
		jsonr_fail_key(root, "bridge", "is the interface itself; name a bridge");
	if (c->n_addresses)
		jsonr_fail(list,
			   "a port of a bridge cannot use an address; remove \"address\" here and "
			   "give the address to bridge %s",
			   c->bridge);
}

/* --- line: the Internet lines of this site --- */

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
