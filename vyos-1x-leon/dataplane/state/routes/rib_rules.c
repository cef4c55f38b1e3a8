// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules for announced addresses and prefixes, and the names of refusals. */
#include "state/routes/rib.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

static int compare_ips(const void *a, const void *b)
{
	return ip_compare(a, b);
}

static bool has_ip(const struct ip_addr *list, unsigned n, const struct ip_addr *ip)
{
	return n && bsearch(ip, list, n, sizeof(*list), compare_ips);
}

/* Index of the first address inside the prefix, if there is one: in sorted order, these addresses
 * directly follow the prefix address. */
static unsigned first_inside(const struct prefix *p, const struct ip_addr *list, unsigned n)
{
	return (unsigned)lower_bound(&p->ip, list, n, sizeof(*list), compare_ips);
}

static bool has_longer_connected(const struct rib_input *in, const struct prefix *p,
				 const struct ip_addr *ip)
{
	for (unsigned i = 0; i < in->n_connected; i++)
		if (in->connected[i].len > p->len && prefix_has(&in->connected[i], ip))
			return true;
	return false;
}

/* A line that has not answered yet counts for announcements of its own node only. A forged source
 * address must not withdraw routes of other nodes. The kernel routes TCP by the longest match, so a
 * longer connected network keeps its hosts. A datagram to an address inside a route is withheld in
 * any case. */
static bool diverts_underlay(const struct rib_input *in, const struct prefix *p,
			     const struct rib_node *n)
{
	unsigned i = first_inside(p, in->underlay, in->n_underlay);

	if (i < in->n_underlay && prefix_has(p, &in->underlay[i]))
		return true;
	for (i = 0; i < LINE_PAIRS; i++)
		if (prefix_has(p, &n->line[i]))
			return true;
	i = first_inside(p, in->tcp, in->n_tcp);
	for (; i < in->n_tcp && prefix_has(p, &in->tcp[i]); i++)
		if (!has_longer_connected(in, p, &in->tcp[i]))
			return true;
	return false;
}

/* "This network", loopback, link-local and multicast never lead to another host. */
static const struct prefix unusable_networks[] = {
	{ { 4, { 0 } }, 8 },	       { { 4, { 127 } }, 8 },  { { 4, { 169, 254 } }, 16 },
	{ { 4, { 224 } }, 3 },	       { { 6, { 0 } }, 127 }, /* :: and ::1 */
	{ { 6, { 0xfe, 0x80 } }, 10 }, { { 6, { 0xff } }, 8 },
};

static bool one_covers(const struct prefix *list, unsigned n, const struct prefix *p)
{
	for (unsigned i = 0; i < n; i++)
		if (prefix_covers(&list[i], p))
			return true;
	return false;
}

static bool is_own_overlay(const struct conf *c, const struct ip_addr *ip)
{
	for (uint8_t i = 0; i < c->n_overlay; i++)
		if (ip_equal(&c->overlay[i], ip))
			return true;
	return false;
}

static bool is_meant(const struct conf_node *meant, const struct rib_node *n)
{
	return meant->id != NODE_ID_NONE ? meant->id == n->id
					 : memcmp(meant->key, n->rec->identity, MSG_KEY_LEN) == 0;
}

static bool is_named(const struct conf_import *rule, const struct rib_node *n)
{
	for (uint8_t i = 0; i < rule->n_nodes; i++)
		if (is_meant(&rule->node[i], n))
			return true;
	return rule->n_nodes == 0;
}

static bool is_prefix_accepted(const struct conf *c, const struct prefix *p,
			       const struct rib_node *n)
{
	for (uint32_t i = 0; i < c->n_imports; i++) {
		const struct conf_import *rule = &c->import[i];

		if (p->len >= rule->ge && p->len <= rule->le && prefix_covers(&rule->prefix, p) &&
		    is_named(rule, n))
			return true;
	}
	return false;
}

bool rib_address_is_safe(const struct rib_input *in, const struct ip_addr *ip,
			 const struct rib_node *n, enum rib_refusal *why)
{
	struct prefix host = prefix_of_host(ip);

	if (one_covers(unusable_networks, array_size(unusable_networks), &host))
		*why = RIB_UNUSABLE;
	else if (is_own_overlay(in->conf, ip) || has_ip(in->own, in->n_own, ip))
		*why = RIB_OWN;
	else if (diverts_underlay(in, &host, n))
		*why = RIB_UNDERLAY;
	else
		return true;
	return false;
}

bool rib_address_is_accepted(const struct rib_input *in, const struct ip_addr *ip,
			     const struct rib_node *n, enum rib_refusal *why)
{
	const struct conf *c = in->conf;
	struct prefix host = prefix_of_host(ip);

	if (!rib_address_is_safe(in, ip, n, why))
		return false;
	*why = RIB_NOT_ACCEPTED;
	if (c->n_import_addresses)
		return one_covers(c->import_address, c->n_import_addresses, &host);
	if (!ip_is_private(ip))
		return false;
	*why = RIB_CONNECTED;
	return !one_covers(in->connected, in->n_connected, &host);
}

bool rib_prefix_is_usable(const struct rib_input *in, const struct prefix *p,
			  const struct rib_node *n, enum rib_refusal *why)
{
	const struct conf *c = in->conf;

	if (!is_prefix_accepted(c, p, n)) {
		*why = RIB_NOT_ACCEPTED;
		return false;
	}
	if (one_covers(unusable_networks, array_size(unusable_networks), p)) {
		*why = RIB_UNUSABLE;
		return false;
	}
	*why = RIB_OWN;
	for (uint8_t i = 0; i < c->n_prefixes; i++)
		if (prefix_compare(&c->prefix[i], p) == 0)
			return false;
	if (p->len == prefix_host_len(&p->ip) &&
	    (is_own_overlay(c, &p->ip) || has_ip(in->own, in->n_own, &p->ip)))
		return false;
	*why = RIB_UNDERLAY;
	return !diverts_underlay(in, p, n);
}

const struct rib_refusal_text rib_refusal_texts[] = {
	[RIB_NOT_ACCEPTED] = { "not-accepted", "no import rule accepts the destination" },
	[RIB_FARTHER] = { "farther",
			  "another node with a lower latency announces the same destination" },
	[RIB_UNUSABLE] = { "unusable",
			   "the destination is a loopback, link-local or multicast address" },
	[RIB_OWN] = { "own", "the destination is an address or a prefix of this node" },
	[RIB_UNDERLAY] = { "underlay",
			   "a node or peer is reached at that address outside the overlay" },
	[RIB_CONNECTED] = { "connected",
			    "the destination is in a network of another interface: add the network "
			    "to import address to accept the destination" },
	[RIB_CONFLICT] = { "conflict", "another node announces the same address" },
	[RIB_NO_GATEWAY] = { "no-gateway",
			     "the announcing node has no usable overlay-address of the same family" },
	[RIB_LIMIT] = { "limit", "there are too many routes" },
};

bool rib_refusal_is_trouble(enum rib_refusal r)
{
	return r != RIB_NOT_ACCEPTED && r != RIB_FARTHER;
}
