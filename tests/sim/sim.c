// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulated Internet and the part of the workers that the protocol needs. See sim.h.
 */
#include "sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "proto/overlay_ops.h"
#include "proto/view.h"
#include "state/latency/choice.h"
#include "state/tables/snap.h"

#define PORT	   5366
#define MAGIC_FLOW 0x464c4f57u

struct packet {
	struct sim *sim;
	struct timer *timer;
	struct endpoint from;
	unsigned to;
	size_t len;
	struct packet *prev, *next;
	uint8_t data[];
};

/* --- addresses: 198.18.0.0/15, the index in the last two octets --- */

#define SECOND_LINE 2 /* generation of the addresses of second lines */

static struct endpoint address_of(unsigned index, unsigned generation)
{
	struct endpoint ep = { .port = PORT };

	ep.ip.family = 4;
	ep.ip.b[0] = 198;
	ep.ip.b[1] = (uint8_t)(18 + generation);
	ep.ip.b[2] = (uint8_t)((index + 1) >> 8);
	ep.ip.b[3] = (uint8_t)(index + 1);
	return ep;
}

/* *line: the line of the node with this address. */
static struct sim_node *node_at_address(struct sim *s, const struct endpoint *ep, uint8_t *line)
{
	unsigned index = ((unsigned)ep->ip.b[2] << 8 | ep->ip.b[3]) - 1;
	struct sim_node *n = index < s->n ? &s->node[index] : NULL;

	*line = n && n->second.ip.family && endpoint_same_address(&n->second, ep);
	return n && (*line || endpoint_same_address(&n->ep, ep)) ? n : NULL;
}

/* --- building --- */

uint64_t sim_random(struct sim *s)
{
	uint64_t z = s->rng += 0x9e3779b97f4a7c15ULL;

	return hash_mix64(z);
}

struct sim_link *sim_link(struct sim *s, unsigned from, unsigned to)
{
	return &s->link[(size_t)from * s->n + to];
}

struct sim_link *sim_second_link(struct sim *s, unsigned from, unsigned to)
{
	return &s->second[(size_t)from * s->n + to];
}

void sim_set_rtt(struct sim *s, unsigned a, unsigned b, int64_t rtt_us)
{
	sim_link(s, a, b)->delay_us = (int32_t)(rtt_us / 2);
	sim_link(s, b, a)->delay_us = (int32_t)(rtt_us - rtt_us / 2);
}

void sim_set_all(struct sim *s, struct sim_link link)
{
	for (size_t i = 0; i < (size_t)s->n * s->n; i++)
		s->link[i] = s->second[i] = link;
}

void sim_set_down(struct sim *s, unsigned a, unsigned b, bool down)
{
	sim_link(s, a, b)->down = down;
	sim_link(s, b, a)->down = down;
}

void sim_partition(struct sim *s, unsigned k, bool down)
{
	for (unsigned a = 0; a < k; a++)
		for (unsigned b = k; b < s->n; b++)
			sim_set_down(s, a, b, down);
}

static struct conf *new_conf(void)
{
	static const char text[] = "{\"version\":1,\"interface\":\"leon0\","
				   "\"source-address\":[\"198.18.0.1\"],"
				   "\"authentication\":{\"pre-shared-secret\":\"" SIM_SECRET "\"}}";
	char err[256];
	struct conf *c = conf_parse(text, strlen(text), err, sizeof(err));

	if (!c) {
		fprintf(stderr, "sim: %s\n", err);
		abort();
	}
	return c;
}

struct sim *sim_new(unsigned n, uint64_t default_seed)
{
	const char *env = getenv("SIM_SEED");
	struct sim *s = x_new(struct sim);

	s->n = n;
	s->seed = env ? strtoull(env, NULL, 0) : default_seed;
	s->rng = s->seed;
	s->trace = getenv("SIM_TRACE") != NULL;
	s->loop = loop_sim_new();
	s->node = x_calloc(n, sizeof(*s->node));
	s->link = x_calloc((size_t)n * n, sizeof(*s->link));
	s->second = x_calloc((size_t)n * n, sizeof(*s->second));
	sim_set_all(s, (struct sim_link){ .delay_us = 10000, .mtu = 1472 });
	for (unsigned i = 0; i < n; i++) {
		struct sim_node *node = &s->node[i];

		node->sim = s;
		node->index = i;
		node->id = SIM_FIRST_ID + i;
		node->ep = address_of(i, 0);
		node->conf = new_conf();
		node->conf->node_id = node->id;
		node->rng_seed = sim_random(s) | 1;
		node->identity = i + 1;
		node->path_since = x_calloc(n, sizeof(mono_t));
		node->traffic = x_calloc(n, sizeof(*node->traffic));
		node->singly = x_calloc(n, sizeof(*node->singly));
		node->groups = x_calloc(n, sizeof(*node->groups));
		snprintf(node->conf->node_name, sizeof(node->conf->node_name), "n%u", i);
	}
	printf("# %u nodes, seed %" PRIu64 "\n", n, s->seed);
	return s;
}

static void packet_free(struct packet *p)
{
	struct sim *s = p->sim;

	if (p->prev)
		p->prev->next = p->next;
	else
		s->packets = p->next;
	if (p->next)
		p->next->prev = p->prev;
	timer_free(p->timer);
	free(p);
}

void sim_free(struct sim *s)
{
	while (s->packets)
		packet_free(s->packets);
	while (s->flows) {
		struct sim_flow *f = s->flows;

		s->flows = f->next;
		timer_free(f->timer);
		free(f);
	}
	for (unsigned i = 0; i < s->n; i++) {
		overlay_free(s->node[i].o);
		conf_free(s->node[i].conf);
		free(s->node[i].path_since);
		free(s->node[i].traffic);
		free(s->node[i].singly);
		free(s->node[i].groups);
	}
	loop_free(s->loop);
	free(s->node);
	free(s->link);
	free(s->second);
	free(s);
}

void sim_seed_of(struct sim *s, unsigned i, unsigned seed)
{
	struct conf *c = s->node[i].conf;
	struct conf_peer *p;

	c->peer = x_realloc(c->peer, c->n_peers + 1, sizeof(*c->peer));
	p = &c->peer[c->n_peers++];
	*p = (struct conf_peer){ .is_ip = true, .ep = s->node[seed].ep };
	snprintf(p->name, sizeof(p->name), "n%u", seed);
	ip_format(&p->ep.ip, p->host, sizeof(p->host));
}

void sim_clear_mode(struct sim *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		free(s->node[i].conf->secret);
		s->node[i].conf->secret = NULL;
	}
}

void sim_put_behind_nat(struct sim *s, unsigned i)
{
	struct sim_node *n = &s->node[i];

	n->nat = true;
	n->inner = (struct endpoint){ .port = PORT };
	n->inner.ip.family = 4;
	n->inner.ip.b[0] = 192;
	n->inner.ip.b[1] = 168;
	n->inner.ip.b[3] = 2;
	n->ep.port = (uint16_t)(40000 + i);
}

void sim_give_second_line(struct sim *s, unsigned i)
{
	s->node[i].second = address_of(i, SECOND_LINE);
}

/* --- the Internet --- */

static void deliver(struct sim_node *n, const struct endpoint *from, uint8_t *data, size_t len);

static void packet_arrives(void *arg, mono_t now)
{
	struct packet *p = arg;
	struct sim_node *n = &p->sim->node[p->to];

	(void)now;
	if (n->o) {
		n->rx_msgs++;
		n->rx_bytes += p->len;
		p->sim->n_delivered++;
		deliver(n, &p->from, p->data, p->len);
	}
	packet_free(p);
}

/* Returns the time at which a node reads its input. Each node has its own turns. */
static mono_t read_at(const struct sim *s, unsigned to, mono_t at)
{
	int64_t turn_ns = s->turn_us * 1000, phase_ns = turn_ns * to / s->n;

	if (!turn_ns)
		return at;
	return mono_add_ns(at, turn_ns - (at.ns + phase_ns) % turn_ns);
}

static void launch(struct sim *s, const struct endpoint *from, unsigned to, const void *data,
		   size_t len, int64_t delay_us)
{
	struct packet *p = x_calloc(1, sizeof(*p) + len);

	p->sim = s;
	p->from = *from;
	p->to = to;
	p->len = len;
	memcpy(p->data, data, len);
	p->timer = timer_new(s->loop, packet_arrives, p);
	p->next = s->packets;
	if (p->next)
		p->next->prev = p;
	s->packets = p;
	timer_set(p->timer, read_at(s, to, mono_add_us(loop_now(s->loop), delay_us)));
}

void sim_inject(struct sim *s, const struct endpoint *from, unsigned to, const void *data,
		size_t len)
{
	launch(s, from, to, data, len, 1000);
}

static bool nat_lets_in(const struct sim_node *n, const struct endpoint *from)
{
	for (unsigned i = 0; i < n->n_nat_to; i++)
		if (endpoint_equal(&n->nat_to[i], from))
			return true;
	return !n->nat;
}

static void nat_note(struct sim_node *n, const struct endpoint *to)
{
	if (!n->nat || nat_lets_in(n, to))
		return;
	n->nat_to[n->n_nat_to % SIM_NAT_MAX] = *to;
	n->n_nat_to += n->n_nat_to < SIM_NAT_MAX - 1;
}

static bool chance(struct sim *s, uint16_t pm)
{
	return pm && sim_random(s) % 1000 < pm;
}

static bool is_data_lost(struct sim *s, const struct sim_link *l, const uint8_t *data, size_t len)
{
	if (len < 1 || (data[0] & 15) == LEON_CONTROL || (data[0] & 15) == LEON_INVITATION)
		return false;
	return l->data_down || chance(s, l->data_loss_pm);
}

static void travel(struct sim *s, struct sim_node *src, const struct endpoint *to, const void *data,
		   size_t len)
{
	struct endpoint from = to->line ? src->second : src->ep;
	struct sim_node *dst = node_at_address(s, to, &from.line);
	const struct sim_link *l;
	unsigned copies;

	nat_note(src, to);
	if (!dst || dst == src)
		return;
	l = to->line || from.line ? sim_second_link(s, src->index, dst->index)
				  : sim_link(s, src->index, dst->index);
	if (l->mtu && len > l->mtu) {
		s->n_too_big++;
		return;
	}
	if (l->down || chance(s, l->loss_pm) || is_data_lost(s, l, data, len)) {
		s->n_lost++;
		return;
	}
	if (!nat_lets_in(dst, &from)) {
		s->n_refused++;
		return;
	}
	copies = chance(s, l->dup_pm) ? 2 : 1;
	while (copies--) {
		int64_t more = l->jitter_us ? (int64_t)(sim_random(s) % (uint64_t)l->jitter_us) : 0;

		launch(s, &from, dst->index, data, len, l->delay_us + more);
	}
}

static void op_send(void *arg, const struct endpoint *to, const void *data, size_t len)
{
	struct sim_node *n = arg;

	n->tx_msgs++;
	n->tx_bytes += len;
	if (n->sim->tap && !n->sim->tap(n->sim->tap_arg, n->index, to, data, len))
		return;
	travel(n->sim, n, to, data, len);
}

/* --- the workers' part --- */

static struct sim_flow *flow_of(struct sim *s, unsigned src, unsigned dst)
{
	for (struct sim_flow *f = s->flows; f; f = f->next)
		if (f->src == src && f->dst == dst)
			return f;
	return NULL;
}

static void flow_arrives(struct sim *s, unsigned src, unsigned dst)
{
	struct sim_flow *f = flow_of(s, src, dst);
	mono_t now = sim_now(s);

	if (!f)
		return;
	f->received++;
	f->max_gap_us = max_of(f->max_gap_us, mono_sub_us(now, f->last_rx));
	f->last_rx = now;
}

static bool link_of(struct sim_node *n, node_id_t id, uint16_t *slot, struct overlay_link *l)
{
	struct node *node = nodedb_find(overlay_nodes(n->o), id);

	if (!node || node->state == NODE_LEFT)
		return false;
	*slot = node->slot;
	return overlay_link(n->o, node->slot, l);
}

/* Counts a datagram with a frame. Returns false if the network card damages it. */
static bool send_data(struct sim_node *n, unsigned to)
{
	struct overlay_traffic *t = &n->traffic[to];

	t->link_tx++;
	t->trains += !n->singly[to];
	return n->singly[to] || !n->damages_trains;
}

static void relay(struct sim_node *n, const struct leon_hdr *h, const struct endpoint *from,
		  uint8_t *data, size_t len)
{
	struct overlay_link l;
	uint16_t slot;

	if (!link_of(n, leon_previous(h), &slot, &l) || !endpoint_equal(&l.ep, from))
		return;
	if (h->kind != LEON_CONTROL)
		n->traffic[sim_index(leon_previous(h))].link_rx++;
	if (n->liar == SIM_SWALLOWS_ALL ||
	    (n->liar == SIM_SWALLOWS_DATA && h->kind != LEON_CONTROL))
		return;
	if (!link_of(n, h->hop[h->at + 1], &slot, &l) || !l.up || n->conf->transit_disable) {
		n->n_notices_asked++;
		overlay_cannot_forward(n->o, h->source, h->hop[h->at + 1], leon_destination(h));
		return;
	}
	data[LEON_HOPS_OFFSET]++;
	if (h->kind == LEON_FRAME) {
		overlay_link_used(n->o, slot);
		if (!send_data(n, sim_index(h->hop[h->at + 1])))
			return;
	}
	travel(n->sim, n, &l.ep, data, len);
}

static void take_data(struct sim_node *n, const struct leon_hdr *h)
{
	unsigned source = sim_index(h->source), previous = sim_index(leon_previous(h));

	if (source >= n->sim->n || previous >= n->sim->n)
		return;
	n->traffic[previous].link_rx++;
	n->traffic[source].path_rx++;
	flow_arrives(n->sim, source, n->index);
}

static void deliver(struct sim_node *n, const struct endpoint *from, uint8_t *data, size_t len)
{
	struct leon_hdr h;
	size_t hdr_len;

	if (leon_decode(data, len, &h, &hdr_len) != LEON_OK || h.vni != n->conf->vni ||
	    (h.source == n->id && !(h.kind == LEON_CONTROL && leon_is_last(&h))) ||
	    !leon_is_for(&h, n->id))
		return;
	if (!leon_is_last(&h))
		relay(n, &h, from, data, len);
	else if (h.kind == LEON_CONTROL || h.kind == LEON_INVITATION)
		overlay_input(n->o, from, data, len, sim_now(n->sim));
	else
		take_data(n, &h);
}

/* --- other ops --- */

static void op_snapshot_changed(void *arg)
{
	struct sim_node *n = arg;
	struct snap *s = snap_new(nodedb_slots(overlay_nodes(n->o)));

	/* Builds a snapshot, because the daemon can build one at any time. */
	s->self = n->id;
	overlay_fill_snap(n->o, s);
	snap_finish(s);
	snap_free(s);
	n->n_snapshot_changed++;
}

static void op_purge(void *arg, const struct slot_set *gone)
{
	struct sim_node *n = arg;

	for (uint16_t slot = 0; slot < nodedb_slots(overlay_nodes(n->o)); slot++)
		n->n_purges += slot_set_has(gone, slot);
	n->n_purge_calls++;
}

static void op_new_run(void *arg, uint16_t slot)
{
	struct sim_node *n = arg;

	(void)slot;
	n->n_new_runs++;
}

static void op_lan_changed(void *arg, uint16_t slot, uint64_t classes)
{
	struct sim_node *n = arg;

	(void)slot;
	n->n_lan_changes++;
	n->lan_classes |= classes;
}

static void op_lan_left(void *arg, uint16_t slot)
{
	struct sim_node *n = arg;

	(void)slot;
	n->n_lan_left++;
}

static void note_path(struct sim_node *n, const struct overlay_event *e)
{
	unsigned to = sim_index(e->node);
	/* In the first minute a path of half the cost may end a hold-down: rule 6 of
	 * state/latency/choice.h. */
	bool voluntary = strcmp(e->detail, "better") == 0 && e->at.ns > 60 * NS_PER_S;

	if (to >= n->sim->n)
		return;
	if (voluntary && mono_sub_ms(e->at, n->path_since[to]) < n->conf->hold_time_ms)
		n->n_fast_flaps++;
	n->path_since[to] = e->at;
}

static void op_event(void *arg, const struct overlay_event *e)
{
	struct sim_node *n = arg;
	char node[NODE_ID_STRLEN], other[NODE_ID_STRLEN];

	n->n_events[e->kind]++;
	n->last_event[e->kind] = e->at;
	n->last_other[e->kind] = e->other;
	if (e->kind == EV_PATH)
		note_path(n, e);
	if (e->kind == EV_STRANGER)
		snprintf(n->stranger, sizeof(n->stranger), "%s", e->detail);
	if (n->sim->trace)
		printf("# %9.3f n%u %s node=%s other=%s value=%" PRIu64 " %s\n",
		       (double)e->at.ns / 1e9, n->index, event_texts[e->kind].name,
		       node_id_format(e->node, node, sizeof(node)),
		       node_id_format(e->other, other, sizeof(other)), e->value,
		       e->detail ? e->detail : "");
}

static void op_traffic(void *arg, uint16_t slot, struct overlay_traffic *out)
{
	struct sim_node *n = arg;
	const struct node *to = n->o ? nodedb_at(overlay_nodes(n->o), slot) : NULL;

	if (!to || sim_index(to->id) >= n->sim->n)
		return;
	*out = n->traffic[sim_index(to->id)];
	if (n->forges_counters)
		out->link_rx = out->path_rx = 0;
}

static void op_segmentation(void *arg, uint16_t slot, bool on)
{
	struct sim_node *n = arg;
	const struct node *to = nodedb_at(overlay_nodes(n->o), slot);

	if (to && sim_index(to->id) < n->sim->n)
		n->singly[sim_index(to->id)] = !on;
}

static void op_asked(void *arg, uint16_t slot)
{
	struct sim_node *n = arg;

	(void)slot;
	n->n_asked++;
}

static void op_groups(void *arg, uint16_t slot, const uint64_t *entry, unsigned n)
{
	struct sim_node *at = arg;
	const struct node *of = nodedb_at(overlay_nodes(at->o), slot);
	struct sim_groups *g;

	if (!of || sim_index(of->id) >= at->sim->n)
		return;
	g = &at->groups[sim_index(of->id)];
	*g = (struct sim_groups){ n, g->n_calls + 1, 0 };
	for (unsigned i = 0; i < n; i++)
		g->greatest = max_of(g->greatest, entry[i]);
}

static uint64_t op_wall_us(void *arg)
{
	struct sim_node *n = arg;

	return (uint64_t)(1700000000000000LL + n->wall_shift_us + sim_now(n->sim).ns / NS_PER_US);
}

/* The clock runs ahead of the arrival of datagrams, and the held time is the difference. */
static mono_t op_precise_now(void *arg)
{
	struct sim_node *n = arg;

	return mono_add_us(sim_now(n->sim), n->held_lie_us);
}

void sim_master_key(void *arg, enum stretch_kind kind, const char *secret, uint32_t vni,
		    uint8_t out[MASTER_KEY_LEN])
{
	/* Computed once for all nodes of all tests. */
	static struct stretcher *stretcher;

	(void)arg;
	if (!stretcher)
		stretcher = stretcher_new();
	stretcher_master(stretcher, kind, secret, vni, out);
}

static const struct overlay_ops ops = {
	.send = op_send,
	.snapshot_changed = op_snapshot_changed,
	.purge = op_purge,
	.new_run = op_new_run,
	.lan_changed = op_lan_changed,
	.lan_left = op_lan_left,
	.event = op_event,
	.wall_us = op_wall_us,
	.precise_now = op_precise_now,
	.master_key = sim_master_key,
	.traffic = op_traffic,
	.segmentation = op_segmentation,
	.requested = op_asked,
	.groups = op_groups,
};

/* --- running --- */

void sim_boot(struct sim *s, unsigned i)
{
	struct sim_node *n = &s->node[i];

	const struct overlay_line line[LINES_MAX] = { { .v4 = true }, { .v4 = true } };
	struct endpoint locator[LINES_MAX] = { n->nat ? n->inner : n->ep, n->second };
	unsigned n_lines = n->second.ip.family ? 2 : 1;
	uint8_t secret[32];

	n->rng_seed = sim_random(s) | 1;
	memset(n->traffic, 0, s->n * sizeof(*n->traffic));
	memset(n->groups, 0, s->n * sizeof(*n->groups));
	n->o = overlay_new(s->loop, n->conf, n->id, &ops, n, n->rng_seed);
	memset(secret, 0, sizeof(secret));
	memcpy(secret, &n->identity, sizeof(n->identity));
	overlay_set_identity(n->o, secret);
	if (n_lines > 1)
		overlay_set_lines(n->o, line, n_lines);
	overlay_set_locators(n->o, locator, n_lines);
	overlay_start(n->o);
}

void sim_boot_all(struct sim *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (i)
			sim_seed_of(s, i, 0);
		sim_boot(s, i);
	}
}

void sim_kill(struct sim *s, unsigned i)
{
	overlay_free(s->node[i].o);
	s->node[i].o = NULL;
}

void sim_leave(struct sim *s, unsigned i)
{
	overlay_leave(s->node[i].o);
	sim_kill(s, i);
}

void sim_move(struct sim *s, unsigned i)
{
	struct sim_node *n = &s->node[i];
	uint16_t port = n->ep.port;

	n->ep = address_of(i, ++n->generation % 2);
	n->ep.port = n->nat ? (uint16_t)(port + 1) : PORT;
	n->n_nat_to = 0;
}

mono_t sim_now(const struct sim *s)
{
	return loop_now(s->loop);
}

void sim_run(struct sim *s, int64_t ms)
{
	loop_sim_run_until(s->loop, mono_add_ms(sim_now(s), ms));
}

int64_t sim_until(struct sim *s, sim_cond_fn cond, void *arg, int64_t ms)
{
	mono_t start = sim_now(s);
	int64_t step_ms = s->n > 64 ? 100 : 10;

	while (mono_sub_ms(sim_now(s), start) <= ms) {
		if (cond(s, arg))
			return mono_sub_ms(sim_now(s), start);
		sim_run(s, step_ms);
	}
	return -1;
}

/* --- traffic --- */

static void flow_tick(void *arg, mono_t now)
{
	struct sim_flow *f = arg;
	struct sim *s = f->sim;
	struct sim_node *n = &s->node[f->src];
	struct leon_hdr h = { .kind = LEON_FRAME, .vni = n->conf->vni, .source = n->id };
	const struct choice *c = n->o ? sim_choice(s, f->src, f->dst) : NULL;
	uint8_t buf[LEON_HDR_LEN_MAX + 100] = { 0 };
	struct overlay_link first;

	timer_set(f->timer, mono_add_us(now, f->period_us));
	if (!c || c->path.n_hops == 0)
		return;
	h.n_hops = c->path.n_hops;
	for (unsigned i = 0; i < h.n_hops; i++)
		h.hop[i] = nodedb_at(overlay_nodes(n->o), c->path.hop[i])->id;
	if (!overlay_link(n->o, c->path.hop[0], &first))
		return;
	f->sent++;
	n->traffic[f->dst].path_tx++;
	overlay_link_used(n->o, c->path.hop[0]);
	if (send_data(n, sim_index(h.hop[0])))
		travel(s, n, &first.ep, buf, leon_encode(&h, buf) + 100);
}

struct sim_flow *sim_flow_start(struct sim *s, unsigned src, unsigned dst, int64_t period_us)
{
	struct sim_flow *f = x_new(struct sim_flow);

	f->sim = s;
	f->src = src;
	f->dst = dst;
	f->period_us = period_us;
	f->last_rx = sim_now(s);
	f->next = s->flows;
	s->flows = f;
	f->timer = timer_new(s->loop, flow_tick, f);
	timer_set(f->timer, sim_now(s));
	return f;
}

void sim_flow_mark(struct sim_flow *f)
{
	f->max_gap_us = 0;
}

int64_t sim_flow_gap_ms(const struct sim_flow *f)
{
	int64_t open_us = mono_sub_us(sim_now(f->sim), f->last_rx);

	return max_of(f->max_gap_us, open_us) / 1000;
}
