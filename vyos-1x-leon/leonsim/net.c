// SPDX-License-Identifier: GPL-2.0-or-later
/* See net.h. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"
#include "wire/datagram/leon.h"

#define PORT	    5366
#define UDP_IP_LEN  28
#define FIRST_ID    0x0a000001u
#define JOIN_MAX_MS 60000
#define TRAFFIC_MS  500

struct packet {
	struct net *net;
	struct timer *timer;
	struct packet *next; /* in the free list */
	unsigned from, to;
	size_t len;
	unsigned kind; /* index of its size class */
	uint8_t data[];
};
/* Most datagrams are PINGs and PONGs. The longest are tests of the path MTU. */
static const size_t packet_room[PACKET_KINDS] = { 192, 1500, 9216 };

static struct endpoint address_of(unsigned index)
{
	struct endpoint ep = { .port = PORT };

	ep.ip.family = 4;
	ep.ip.b[0] = 198;
	ep.ip.b[1] = 18;
	ep.ip.b[2] = (uint8_t)((index + 1) >> 8);
	ep.ip.b[3] = (uint8_t)(index + 1);
	return ep;
}

static bool node_at_address(const struct net *n, const struct endpoint *ep, unsigned *index)
{
	*index = ((unsigned)ep->ip.b[2] << 8 | ep->ip.b[3]) - 1;
	return ep->ip.b[0] == 198 && *index < n->n;
}

/* --- the Internet --- */

static void deliver(struct net_node *n, const struct endpoint *from, uint8_t *data, size_t len);

static void packet_arrives(void *arg, mono_t now attr_unused)
{
	struct packet *p = arg;
	struct net *n = p->net;
	struct net_node *to = &n->node[p->to];

	if (!to->dead && to->o)
		deliver(to, &n->node[p->from].ep, p->data, p->len);
	p->next = n->idle[p->kind];
	n->idle[p->kind] = p;
}

/* Hundreds of nodes send hundreds of thousands of datagrams each second. Datagrams and timers are
 * reused, the most recent first, because of caches. */
static struct packet *packet_new(struct net *n, size_t len)
{
	struct packet *p;
	unsigned kind = 0;

	while (kind < PACKET_KINDS && len > packet_room[kind])
		kind++;
	if (kind == PACKET_KINDS)
		bug("a datagram of %zu bytes", len);
	p = n->idle[kind];
	if (p) {
		n->idle[kind] = p->next;
		return p;
	}
	p = x_calloc(1, sizeof(*p) + packet_room[kind]);
	p->net = n;
	p->kind = kind;
	p->timer = timer_new(n->loop, packet_arrives, p);
	return p;
}

static void free_idle(struct net *n)
{
	for (unsigned kind = 0; kind < PACKET_KINDS; kind++) {
		while (n->idle[kind]) {
			struct packet *p = n->idle[kind];

			n->idle[kind] = p->next;
			timer_free(p->timer);
			free(p);
		}
	}
}

static void travel(void *arg, const struct endpoint *to, const void *data, size_t len)
{
	struct net_node *from = arg;
	struct net *n = from->net;
	struct packet *p;
	unsigned index;
	double us;

	from->tx_bytes += len + UDP_IP_LEN;
	if (!node_at_address(n, to, &index) || n->dead[from->index * n->n + index] || from->dead)
		return;
	us = trace_draw_us(n->trace, trace_slice(n->trace, net_now_us(n)), from->index, index);
	if (isnan(us))
		return;
	p = packet_new(n, len);
	p->from = from->index;
	p->to = index;
	p->len = len;
	memcpy(p->data, data, len);
	timer_set(p->timer, mono_add_us(loop_now(n->loop), (int64_t)(us / 2)));
}

static bool link_of(struct net_node *n, node_id_t id, uint16_t *slot, struct overlay_link *l)
{
	struct node *node = nodedb_find(overlay_nodes(n->o), id);

	if (!node || node->state == NODE_LEFT)
		return false;
	*slot = node->slot;
	return overlay_link(n->o, node->slot, l);
}

static void relay(struct net_node *n, const struct leon_hdr *h, const struct endpoint *from,
		  uint8_t *data, size_t len)
{
	struct overlay_link l;
	uint16_t slot;

	if (!link_of(n, leon_previous(h), &slot, &l) || !endpoint_equal(&l.ep, from))
		return;
	if (!link_of(n, h->hop[h->at + 1], &slot, &l) || !l.up || n->conf->transit_disable) {
		overlay_cannot_forward(n->o, h->source, h->hop[h->at + 1], leon_destination(h));
		return;
	}
	data[LEON_HOPS_OFFSET]++;
	travel(n, &l.ep, data, len);
}

static void deliver(struct net_node *n, const struct endpoint *from, uint8_t *data, size_t len)
{
	struct leon_hdr h;
	size_t hdr_len;

	if (leon_decode(data, len, &h, &hdr_len) != LEON_OK || h.vni != n->conf->vni ||
	    h.source == n->id || !leon_is_for(&h, n->id))
		return;
	if (!leon_is_last(&h))
		relay(n, &h, from, data, len);
	else
		overlay_input(n->o, from, data, len, loop_now(n->net->loop));
}

static void op_event(void *arg, const struct overlay_event *e)
{
	struct net_node *n = arg;

	n->link_downs += e->kind == EV_LINK_DOWN;
	if (e->kind != EV_PATH)
		return;
	n->failovers += strcmp(e->detail, choice_texts[CHOICE_FAILOVER].name) == 0;
}

static void op_nothing(void *arg attr_unused)
{
}

static void op_purge(void *arg attr_unused, const struct slot_set *gone attr_unused)
{
}

static uint64_t op_wall_us(void *arg)
{
	struct net_node *n = arg;

	return (uint64_t)(1700000000000000LL + loop_now(n->net->loop).ns / NS_PER_US);
}

/* The key derivation from a secret takes a second, and the simulation needs no secrecy. */
static void op_master_key(void *arg attr_unused, enum stretch_kind kind attr_unused,
			  const char *secret attr_unused, uint32_t vni attr_unused,
			  uint8_t out[MASTER_KEY_LEN])
{
	memset(out, 1, MASTER_KEY_LEN);
}

static const struct overlay_ops ops = {
	.send = travel,
	.snapshot_changed = op_nothing,
	.purge = op_purge,
	.event = op_event,
	.wall_us = op_wall_us,
	.master_key = op_master_key,
};

/* --- building --- */

static void add_seed(struct conf *c, const struct net_node *seed)
{
	struct conf_peer *p;

	c->peer = x_realloc(c->peer, c->n_peers + 1, sizeof(*c->peer));
	p = &c->peer[c->n_peers++];
	*p = (struct conf_peer){ .is_ip = true, .ep = seed->ep };
	snprintf(p->name, sizeof(p->name), "n%u", seed->index);
	ip_format(&p->ep.ip, p->host, sizeof(p->host));
}

static bool add_node(struct net *n, unsigned i, const char *conf_text, char *err, unsigned err_len)
{
	static const char plain[] = "{\"version\":1,\"interface\":\"leon0\","
				    "\"source-address\":[\"198.18.0.1\"],"
				    "\"authentication\":{\"pre-shared-secret\":\"simulation\"}}";
	const char *text = conf_text ? conf_text : plain;
	struct net_node *node = &n->node[i];

	node->net = n;
	node->index = i;
	node->id = FIRST_ID + i;
	node->ep = address_of(i);
	node->conf = conf_parse(text, strlen(text), err, err_len);
	if (!node->conf)
		return false;
	free(node->conf->peer);
	node->conf->peer = NULL;
	node->conf->n_peers = 0;
	node->conf->node_id = node->id;
	snprintf(node->conf->node_name, sizeof(node->conf->node_name), "n%u", i);
	if (i)
		add_seed(node->conf, &n->node[i < 3 ? 0 : i % 3]);
	return true;
}

static void traffic_tick(void *arg, mono_t now);

struct net *net_new(struct trace *t, const char *conf_text, uint64_t seed, char *err,
		    unsigned err_len)
{
	struct net *n = x_new(struct net);

	n->trace = t;
	n->n = t->n;
	n->loop = loop_sim_new();
	n->node = x_calloc(n->n, sizeof(*n->node));
	n->dead = x_calloc((size_t)n->n * n->n, sizeof(*n->dead));
	n->slot = x_calloc((size_t)n->n * n->n, sizeof(*n->slot));
	n->start = MONO_NEVER;
	n->traffic = timer_new(n->loop, traffic_tick, n);
	t->rng = seed;
	for (unsigned i = 0; i < n->n; i++) {
		if (!add_node(n, i, conf_text, err, err_len)) {
			net_free(n);
			return NULL;
		}
	}
	return n;
}

void net_free(struct net *n)
{
	if (!n)
		return;
	timer_stop(n->traffic);
	for (unsigned i = 0; i < n->n; i++) {
		overlay_free(n->node[i].o);
		n->node[i].o = NULL;
	}
	/* Datagrams in flight to a dead host are dropped. */
	net_run(n, 2 * 60000000LL);
	free_idle(n);
	for (unsigned i = 0; i < n->n; i++)
		conf_free(n->node[i].conf);
	timer_free(n->traffic);
	loop_free(n->loop);
	free(n->node);
	free(n->dead);
	free(n->slot);
	free(n);
}

/* --- running --- */

static void boot(struct net *n, unsigned i)
{
	struct net_node *node = &n->node[i];
	uint8_t secret[32] = { 0 };
	uint32_t identity = i + 1;

	memcpy(secret, &identity, sizeof(identity));
	node->o =
		overlay_new(n->loop, node->conf, node->id, &ops, node, trace_random(n->trace) | 1);
	overlay_set_identity(node->o, secret);
	overlay_set_locators(node->o, &node->ep, 1);
	overlay_start(node->o);
}

/* Data flows between all pairs: each node on a path in use sends to its next hop. */
static void traffic_tick(void *arg, mono_t now)
{
	struct net *n = arg;

	timer_set(n->traffic, mono_add_ms(now, TRAFFIC_MS));
	for (unsigned a = 0; a < n->n; a++) {
		for (unsigned b = 0; b < n->n; b++) {
			const struct choice *c = a == b ? NULL : net_choice(n, a, b);
			unsigned hop[LEON_HOPS_MAX], at = a;

			if (!c || !net_hops(n, a, &c->path, hop))
				continue;
			for (unsigned i = 0; i < c->path.n_hops; at = hop[i++])
				if (!n->node[at].dead)
					overlay_link_used(n->node[at].o, net_slot(n, at, hop[i]));
		}
	}
}

static bool is_joined(const struct net *n)
{
	for (unsigned a = 0; a < n->n; a++)
		if (nodedb_members(overlay_nodes(n->node[a].o)) != n->n)
			return false;
	return true;
}

void net_settle(struct net *n, int64_t warm_up_ms)
{
	for (unsigned i = 0; i < n->n; i++) {
		boot(n, i);
		if (i % 10 == 9)
			loop_sim_run_until(n->loop, mono_add_ms(loop_now(n->loop), 100));
	}
	for (int64_t ms = 0; ms < JOIN_MAX_MS && !is_joined(n); ms += 1000)
		loop_sim_run_until(n->loop, mono_add_ms(loop_now(n->loop), 1000));
	if (n->all_traffic)
		timer_set(n->traffic, loop_now(n->loop));
	loop_sim_run_until(n->loop, mono_add_ms(loop_now(n->loop), warm_up_ms));
	n->start = loop_now(n->loop);
}

int64_t net_now_us(const struct net *n)
{
	return mono_is_never(n->start) ? 0 : mono_sub_us(loop_now(n->loop), n->start);
}

void net_run(struct net *n, int64_t us)
{
	loop_sim_run_until(n->loop, mono_add_us(loop_now(n->loop), us));
}

void net_cut(struct net *n, unsigned a, unsigned b, bool dead)
{
	n->dead[a * n->n + b] = dead;
	n->dead[b * n->n + a] = dead;
}

/* --- observation --- */

uint16_t net_slot(const struct net *n, unsigned at, unsigned of)
{
	struct nodedb *nodes = overlay_nodes(n->node[at].o);
	uint16_t *known = &n->slot[at * n->n + of];
	struct node *node = nodedb_at(nodes, *known);

	/* Called for all pairs at each sample. */
	if (!node || node->id != n->node[of].id)
		node = nodedb_find(nodes, n->node[of].id);
	*known = node ? node->slot : SLOT_NONE;
	return *known;
}

const struct choice *net_choice(const struct net *n, unsigned a, unsigned b)
{
	uint16_t slot = net_slot(n, a, b);

	return slot == SLOT_NONE ? NULL : overlay_choice(n->node[a].o, slot);
}

bool net_hops(const struct net *n, unsigned a, const struct path *p, unsigned *hop)
{
	for (unsigned i = 0; i < p->n_hops; i++) {
		struct node *node = nodedb_at(overlay_nodes(n->node[a].o), p->hop[i]);

		if (!node || node->id - FIRST_ID >= n->n)
			return false;
		hop[i] = node->id - FIRST_ID;
	}
	return p->n_hops > 0;
}
