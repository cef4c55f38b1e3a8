// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads `address` and `bridge`: the addresses of the interface and the bridge that the interface
 * joins. Called by conf.c; pure; control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "state/conf/conf_section.h"

static int compare(const void *a, const void *b)
{
	const struct conf_address *x = a, *y = b;
	int r = ip_compare(&x->ip, &y->ip);

	return r ? r : x->len - y->len;
}

/* Returns NULL, or the reason why a host cannot have the address. RFC 3021 and RFC 6164 permit both
 * addresses of a prefix of two. */
static const char *unsuitable(const struct conf_address *a)
{
	uint8_t max = prefix_host_len(&a->ip);
	struct prefix net = { a->ip, a->len };
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

static bool read_address(struct jsonr_node *list, const char *s, struct conf_address *out)
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
