// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the configuration of conf.h. First the leaves of conf.def (conf_leaf.c), then one function
 * for each section with other content or with a rule between two leaves. Called by daemon/ at start
 * and at reload, on the control thread. No message contains the secret.
 */
#include "state/conf/conf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json/jsonr.h"
#include "base/mem.h"
#include "crypto/keys.h"
#include "state/conf/conf_section.h"
#include "wire/datagram/leon.h"

#define CONF_VERSION 1
#define ECN_BITS     3

/* conf.def holds plain numbers for scripts; the numbers must equal the limits of the other layers.
 * */
static_assert(CONF_BRIDGE_MAX == CONF_IFNAME_MAX, "bridge");
static_assert(CONF_NODE_NAME_MAX == MSG_NAME_MAX, "node-name");
static_assert(CONF_OVERLAY_MAX == MSG_OVERLAY_MAX, "overlay-address");
static_assert(CONF_PREFIXES_MAX == MSG_PREFIXES_MAX, "export prefix");
static_assert(CONF_PEER_PORT_DEFAULT == LEON_PORT, "peer port");
static_assert(CONF_SECRET_MIN == SECRET_MIN && CONF_SECRET_MAX == SECRET_MAX, "secret");

/* --- sections --- */

static void read_identity(struct jsonr_node *root, struct conf *c)
{
	uint64_t version;
	const char *s;

	if (!jsonr_u64(root, "version", CONF_VERSION, CONF_VERSION, &version))
		jsonr_fail_key(root, "version", "is missing; this leond reads version %d",
			       CONF_VERSION);
	if (!jsonr_has(root, "interface"))
		jsonr_fail_key(root, "interface", "is missing; name the interface, such as leon0");
	conf_get_ifname(root, "interface", c->interface);
	if (jsonr_str(root, "mac", &s)) {
		c->has_mac = true;
		if (mac_parse(s, &c->mac) < 0 || mac_is_multicast(c->mac) || !mac_to_u64(c->mac))
			jsonr_fail_key(root, "mac",
				       "must be a unicast MAC address such as "
				       "02:00:00:00:00:01");
	}
	if (jsonr_str(root, "node-id", &s) &&
	    (node_id_parse(s, &c->node_id) < 0 || c->node_id == NODE_ID_NONE ||
	     c->node_id == NODE_ID_ANY))
		jsonr_fail_key(root, "node-id",
			       "must be written like an IPv4 address, and not "
			       "0.0.0.0 or 255.255.255.255");
	if (jsonr_str(root, "node-name", &s)) {
		if (!conf_is_node_name(s))
			jsonr_fail_key(root, "node-name",
				       "must have 1 to %d printable ASCII "
				       "characters without spaces",
				       CONF_NODE_NAME_MAX);
		else
			snprintf(c->node_name, sizeof(c->node_name), "%s", s);
	}
}

static void read_underlay(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *list = jsonr_array(root, "source-address");
	struct ip_addr ip;
	const char *s;

	conf_get_ifname(root, "source-interface", c->source_interface);
	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		struct ip_addr *source;

		if (ip_parse(s, &ip) < 0 || !ip_is_usable(&ip)) {
			jsonr_fail(list, "\"%.64s\" is not a unicast IP address", s);
			return;
		}
		if (ip_is_v6_link_local(&ip))
			jsonr_fail(list,
				   "%.64s is of no use without its interface; give a global IPv6 "
				   "address, or a source-interface instead",
				   s);
		source = ip.family == 4 ? &c->source4 : &c->source6;
		if (source->family)
			jsonr_fail(list,
				   "has two IPv%u addresses; give at most one IPv4 and one "
				   "IPv6 address",
				   ip.family);
		*source = ip;
	}
}

/* The IPv4 TOS: DSCP, and the ECN field, which belongs to ECN-capable senders and routers. */
static void check_class(struct jsonr_node *obj, const char *key, uint8_t class)
{
	if (class & ECN_BITS)
		jsonr_fail_key(
			obj, key,
			"is %u and must be a multiple of 4: the last two bits are those of ECN",
			class);
}

static void read_classes(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *parameters = jsonr_object(root, "parameters");

	check_class(jsonr_object(parameters, "ip"), "tos", c->tos);
	check_class(jsonr_object(parameters, "ipv6"), "tclass", c->tclass);
}

static void read_overlay(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *list = conf_list(root, "overlay-address", CONF_OVERLAY_MAX, "addresses");
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		struct ip_addr *ip = &c->overlay[c->n_overlay];

		if (ip_parse(s, ip) < 0 || !ip_is_usable(ip))
			jsonr_fail(list, "\"%.64s\" is not a unicast IP address", s);
		for (uint8_t j = 0; j < c->n_overlay; j++)
			if (ip_equal(&c->overlay[j], ip))
				jsonr_fail(list, "names %.64s twice", s);
		c->n_overlay++;
	}
}

static bool has_control(const char *s)
{
	while (*s && (unsigned char)*s >= ' ' && *s != 0x7f)
		s++;
	return *s;
}

static void read_peer(struct jsonr_node *obj, const char *name, struct conf_peer *p)
{
	const char *s;
	uint32_t port;

	conf_get_name(obj, "peer", name, p->name, sizeof(p->name));
	p->ep.port = CONF_PEER_PORT_DEFAULT;
	if (conf_get_u32(obj, "port", CONF_PEER_PORT_MIN, CONF_PEER_PORT_MAX, &port))
		p->ep.port = (uint16_t)port;
	if (conf_get_u32(obj, "tls-port", CONF_PEER_TLS_PORT_MIN, CONF_PEER_TLS_PORT_MAX, &port))
		p->tls_port = (uint16_t)port;
	if (!jsonr_str(obj, "address", &s)) {
		jsonr_fail_key(obj, "address",
			       "is missing; give the IP address or DNS name of the "
			       "peer");
		return;
	}
	p->is_ip = ip_parse(s, &p->ep.ip) == 0;
	if (p->is_ip && ip_is_v6_link_local(&p->ep.ip))
		jsonr_fail_key(obj, "address", "%.64s is of one link only; give a global address",
			       s);
	if (p->is_ip ? !ip_is_usable(&p->ep.ip) : !conf_is_dns_name(s))
		jsonr_fail_key(obj, "address",
			       "must be a unicast IP address or a DNS name, found "
			       "\"%.64s\"",
			       s);
	snprintf(p->host, sizeof(p->host), "%s", s);
	jsonr_bool(obj, "disable", &p->disable);
	if (!jsonr_str(obj, "description", &s))
		return;
	if (strlen(s) > CONF_DESCRIPTION_MAX || has_control(s))
		jsonr_fail_key(obj, "description",
			       "must have at most %d bytes, without control characters",
			       CONF_DESCRIPTION_MAX);
	else
		snprintf(p->description, sizeof(p->description), "%s", s);
}

static bool is_same_peer(const struct conf_peer *a, const struct conf_peer *b)
{
	if (a->is_ip != b->is_ip || a->ep.port != b->ep.port)
		return false;
	return a->is_ip ? ip_equal(&a->ep.ip, &b->ep.ip) : strcasecmp(a->host, b->host) == 0;
}

static int compare_peers(const void *a, const void *b)
{
	return strcmp(((const struct conf_peer *)a)->name, ((const struct conf_peer *)b)->name);
}

static void read_peers(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *map = conf_map(root, "peer", CONF_PEERS_MAX,
					  "peers; one reachable member is enough to join");
	struct jsonr_node *obj;
	const char *name;

	c->peer = x_calloc(jsonr_len(map), sizeof(*c->peer));
	for (size_t i = 0; (obj = jsonr_member(map, i, &name)); i++) {
		struct conf_peer *p = &c->peer[c->n_peers];

		read_peer(obj, name, p);
		for (uint32_t j = 0; j < c->n_peers; j++)
			if (is_same_peer(&c->peer[j], p))
				jsonr_fail(obj, "has the address and port of peer %s; remove one",
					   c->peer[j].name);
		c->n_peers++;
	}
	/* Sorts the list, because its order in the document has no meaning and two configurations
	 * must be comparable. */
	qsort(c->peer, c->n_peers, sizeof(*c->peer), compare_peers);
}

static void read_measurement(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *m = jsonr_object(root, "measurement");

	if (c->fast_interval_ms > c->interval_ms)
		jsonr_fail_key(m, "fast-interval",
			       "is %u ms and must not be above the interval of "
			       "%u ms",
			       c->fast_interval_ms, c->interval_ms);
}

static void check_multicast(struct jsonr_node *root, const struct conf *c)
{
	if (c->multicast_querier && !c->multicast_snooping)
		jsonr_fail_key(jsonr_object(root, "multicast"), "querier",
			       "has no effect without \"snooping\"; set both");
}

static void read_flow_export(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *obj = jsonr_object(root, "flow-export");

	conf_get_address(obj, "collector", &c->flow_collector);
	if (jsonr_has(root, "flow-export") && !jsonr_has(obj, "collector"))
		jsonr_fail_key(obj, "collector",
			       "is missing; give the IP address of the collector");
}

static void read_capture(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *obj = jsonr_object(root, "capture");
	struct jsonr_node *list = conf_list(obj, "permit", CONF_CAPTURE_PERMIT_MAX, "nodes");
	struct conf_capture *p = &c->capture;
	const char *s;

	if (jsonr_has(root, "capture") && jsonr_len(list) == 0)
		jsonr_fail_key(obj, "permit", "is missing; list the nodes that may capture here");
	/* Without a secret, node-ids are not proved and the frames would travel in clear. */
	if (jsonr_len(list) && !c->secret)
		jsonr_fail(list, "needs authentication.pre-shared-secret");
	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		if (strcmp(s, "all") == 0)
			p->all = true;
		else if (conf_parse_node(s, &p->node[p->n]))
			p->n++;
		else
			jsonr_fail(list,
				   "\"%.64s\" is neither \"all\" nor an identity of 64 "
				   "hexadecimal digits nor a node-id (`leonctl show identity`): "
				   "names are not accepted, because each node chooses its own",
				   s);
	}
}

bool conf_permits_capture(const struct conf *c, node_id_t node, const uint8_t *identity)
{
	const struct conf_capture *p = &c->capture;
	bool found = p->all;

	for (unsigned i = 0; i < p->n && !found; i++)
		found = p->node[i].id
				? p->node[i].id == node
				: identity && memcmp(p->node[i].key, identity, MSG_KEY_LEN) == 0;
	return found;
}

struct conf *conf_parse(const char *text, size_t len, char *err, size_t err_len)
{
	struct jsonr *doc = jsonr_parse(text, len, JSONR_USUAL_MAX);
	struct conf *c = x_new(struct conf);
	struct jsonr_node *root;

	jsonr_strict(doc, text, len);
	root = jsonr_root(doc);
	conf_default_leaves(c);
	read_identity(root, c);
	conf_read_leaves(root, c);
	conf_read_device(root, c);
	read_underlay(root, c);
	conf_read_lines(root, c);
	read_classes(root, c);
	conf_read_dscp(root, c);
	conf_read_shaper(root, c);
	read_overlay(root, c);
	conf_read_routes(root, c);
	read_peers(root, c);
	conf_read_transport(root, c);
	read_measurement(root, c);
	conf_read_policy(root, c);
	conf_read_acceleration(root, c);
	conf_read_vlans(root, c);
	conf_read_segments(root, c);
	check_multicast(root, c);
	read_flow_export(root, c);
	conf_read_secrets(root, c);
	read_capture(root, c);
	conf_get_path(jsonr_object(root, "system"), "control-socket", c->control_socket,
		      sizeof(c->control_socket));
	if (!c->control_socket[0])
		snprintf(c->control_socket, sizeof(c->control_socket), "/run/leon/%s.sock",
			 c->interface);
	jsonr_finish(doc);
	conf_check_secret(root, c);
	if (jsonr_error(doc)) {
		snprintf(err, err_len, "%s", jsonr_error(doc));
		conf_free(c);
		c = NULL;
	}
	jsonr_free(doc);
	return c;
}

void conf_free(struct conf *c)
{
	if (!c)
		return;
	conf_free_secrets(c);
	free(c->peer);
	free(c->import);
	free(c->rate);
	free(c->segment);
	free(c);
}
