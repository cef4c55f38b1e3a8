// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Three nodes in one process, without a protocol. Each node has a network namespace, a TAP (leon0,
 * 10.0.0.1 .. 3/24) and UDP sockets on a wire to the others (192.0.2.1 .. 3 or 2001:db8::1 .. 3).
 * The packet path runs with its threads on a snapshot of the test. One thread replaces the control
 * threads and copies learned addresses into the FDBs.
 *
 * Slot 0 of each node is the node itself. The other nodes follow in order.
 */
#pragma once

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "fwd/fwd.h"
#include "io/netlink/netlink.h"
#include "io/tap.h"
#include "io/udp.h"
#include "netns_util.h"

#define LAB_NODES 3
#define LAB_VNI	  42u

struct lab_node {
	unsigned index;
	int ns;
	struct nl *nl;
	struct tap tap;
	struct udp udp;
	struct fwd *f;
	struct fdb *fdb;
	struct neigh *neigh;
	_Atomic unsigned n_control, n_cannot_forward, n_suspect, n_guard;
};
struct lab {
	int home; /* the namespace of the wire, which is a bridge */
	struct lab_node node[LAB_NODES];
	unsigned n_workers;
	uint32_t tap_mtu, wire_mtu;
	bool offload; /* GSO, GRO and TAP offloads that the kernel supports */
	bool v6;      /* IPv6 on the wire */
	/* Set before lab_publish(): */
	bool relayed;	/* nodes 0 and 1 reach each other through node 2 */
	bool link_down; /* node 2 cannot reach node 1 */
	void (*change)(struct snap *s);
	pthread_t control;
	_Atomic bool stop;
};

static inline node_id_t lab_id(unsigned index)
{
	return 0xc0000201u + index;
}
static inline struct endpoint lab_endpoint(const struct lab *lab, unsigned index)
{
	uint8_t last = (uint8_t)(index + 1);

	if (lab->v6)
		return (struct endpoint){ .ip = { 6, { 0x20, 1, 0x0d, 0xb8, [15] = last } },
					  .port = 5366 };
	return (struct endpoint){ .ip = { 4, { 192, 0, 2, last } }, .port = 5366 };
}
static inline uint16_t lab_slot(unsigned self, unsigned other)
{
	if (self == other)
		return SLOT_SELF;
	return (uint16_t)(other < self ? other + 1 : other);
}

static inline void lab_publish(struct lab *lab)
{
	for (unsigned i = 0; i < LAB_NODES; i++) {
		struct lab_node *n = &lab->node[i];
		struct snap *s = snap_new(LAB_NODES);

		s->self = lab_id(i);
		s->vni = LAB_VNI;
		s->fdb = n->fdb;
		s->neigh = n->neigh;
		s->mss_clamp = s->suppress_arp = s->suppress_nd = true;
		for (unsigned j = 0; j < LAB_NODES; j++) {
			uint16_t slot = lab_slot(i, j), relay = lab_slot(i, 2);
			uint16_t hop[2] = { relay, slot };
			struct snap_node *sn = &s->node[slot];
			uint16_t mtu = (uint16_t)(lab->wire_mtu - (lab->v6 ? 48 : 28));

			sn->id = lab_id(j);
			sn->ep = lab_endpoint(lab, j);
			sn->link_up = i != j && !(lab->link_down && i == 2 && j == 1);
			sn->link_mtu = mtu;
			if (i == j)
				continue;
			if (lab->relayed && i < 2 && j < 2)
				snap_set_path(s, slot, hop, 2, mtu);
			else
				snap_set_path(s, slot, hop + 1, 1, mtu);
		}
		if (lab->change)
			lab->change(s);
		snap_finish(s);
		fwd_publish(n->f, s);
	}
}

static inline uint32_t lab_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint32_t)ts.tv_sec;
}

static inline void lab_drain(struct lab_node *n)
{
	struct fwd_report ev;

	fwd_report_ack(n->f);
	while (fwd_next_report(n->f, &ev)) {
		switch (ev.type) {
		case FWD_CONTROL:
			n->n_control++;
			break;
		case FWD_LEARN:
			fdb_learn(n->fdb, ev.learn.vlan, ev.learn.mac, ev.learn.slot, lab_now_s());
			break;
		case FWD_NEIGH:
			neigh_learn(n->neigh, ev.neigh.vlan, &ev.neigh.ip, ev.neigh.mac,
				    ev.neigh.slot, ev.neigh.role, lab_now_s());
			break;
		case FWD_CANNOT_FORWARD:
			n->n_cannot_forward++;
			break;
		case FWD_GUARD:
			n->n_guard++;
			break;
		case FWD_SEND_ERROR:
			n->n_suspect++;
			break;
		case FWD_VLAN:
		case FWD_REPETITION:
		case FWD_MULTICAST:
		case FWD_FOREIGN:
		case FWD_ACCEL_FOREIGN:
			break;
		}
	}
	fwd_reclaim(n->f);
}

static inline void *lab_control(void *arg)
{
	struct lab *lab = arg;
	struct pollfd pfd[LAB_NODES];

	for (unsigned i = 0; i < LAB_NODES; i++)
		pfd[i] = (struct pollfd){ .fd = fwd_report_fd(lab->node[i].f), .events = POLLIN };
	while (!lab->stop) {
		poll(pfd, LAB_NODES, 50);
		for (unsigned i = 0; i < LAB_NODES; i++)
			if (pfd[i].revents)
				lab_drain(&lab->node[i]);
	}
	return NULL;
}

/* Only one thread may publish, so a test stops the control thread before it publishes. */
static inline bool lab_control_start(struct lab *lab)
{
	lab->stop = false;
	return pthread_create(&lab->control, NULL, lab_control, lab) == 0;
}
static inline void lab_control_stop(struct lab *lab)
{
	lab->stop = true;
	pthread_join(lab->control, NULL);
}

static inline bool lab_open_wire(struct lab *lab, struct lab_node *n)
{
	unsigned i = n->index;

	n->ns = netns_new();
	if (n->ns < 0 ||
	    !run("ip link add u%u mtu %u type veth peer name eth0 mtu %u netns /proc/%d/fd/%d", i,
		 lab->wire_mtu, lab->wire_mtu, (int)getpid(), n->ns) ||
	    !run("ip link set u%u master wire up", i))
		return false;
	return netns_set(n->ns) && run("ip link set lo up") &&
	       run("ip addr add 192.0.2.%u/24 dev eth0", i + 1) &&
	       run("ip addr add 2001:db8::%u/64 dev eth0 nodad", i + 1) &&
	       run("ip link set eth0 up");
}

/* Runs in the namespace of the node. */
static inline bool lab_open_node(struct lab *lab, struct lab_node *n)
{
	struct udp_config uc = { .n = lab->n_workers, .v4 = !lab->v6, .v6 = lab->v6, .port = 5366 };
	struct fwd_io io[UDP_SOCKETS_MAX];
	struct fwd_setup setup = { .n_workers = lab->n_workers,
				   .io = io,
				   .slots_maximum = LAB_NODES };
	struct mac mac = { { 2, 0x4c, 0, 0, 0, (uint8_t)(n->index + 1) } };

	if (nl_open(&n->nl) < 0 || tap_open(&n->tap, n->nl, "leon0", lab->n_workers) < 0 ||
	    udp_open(&n->udp, &uc) < 0 || nl_link_set_mac(n->nl, n->tap.ifindex, mac) < 0 ||
	    nl_link_set_mtu(n->nl, n->tap.ifindex, lab->tap_mtu) < 0 ||
	    !run("ip addr add 10.0.0.%u/24 dev leon0", n->index + 1) ||
	    nl_link_set_up(n->nl, n->tap.ifindex, true) < 0)
		return false;
	setup.tap_offload = lab->offload && n->tap.granted.tso;
	setup.tap_uso = lab->offload && n->tap.granted.uso;
	setup.udp_gso = lab->offload && n->udp.gso;
	for (unsigned i = 0; i < lab->n_workers; i++)
		io[i] = (struct fwd_io){ .tap = n->tap.fd[i],
					 .udp4 = n->udp.fd4[i],
					 .udp6 = n->udp.fd6[i],
					 .accel = -1 };
	n->f = fwd_new(&setup);
	n->fdb = fdb_new(1024);
	n->neigh = neigh_new(1024);
	return true;
}

/* Returns false without namespaces, TAP or veth. The test is then skipped. */
static inline bool lab_open(struct lab *lab)
{
	if (!netns_enter() || !run("ip link add wire mtu %u type bridge", lab->wire_mtu) ||
	    !run("ip link set wire up"))
		return false;
	lab->home = netns_current();
	for (unsigned i = 0; i < LAB_NODES; i++) {
		lab->node[i].index = i;
		if (!lab_open_wire(lab, &lab->node[i]) || !lab_open_node(lab, &lab->node[i]) ||
		    !netns_set(lab->home))
			return false;
	}
	lab_publish(lab);
	for (unsigned i = 0; i < LAB_NODES; i++)
		if (fwd_start(lab->node[i].f) < 0)
			return false;
	return lab_control_start(lab);
}

static inline void lab_close(struct lab *lab)
{
	lab_control_stop(lab);
	for (unsigned i = 0; i < LAB_NODES; i++) {
		struct lab_node *n = &lab->node[i];

		fwd_free(n->f);
		fdb_free(n->fdb);
		neigh_free(n->neigh);
		tap_close(&n->tap);
		udp_close(&n->udp);
		nl_close(n->nl);
		close(n->ns);
	}
	close(lab->home);
}

static inline uint64_t lab_count(struct lab *lab, unsigned node, enum counter c)
{
	uint64_t counter[N_COUNTERS], drop[N_DROPS];

	fwd_stats(lab->node[node].f, counter, drop);
	return counter[c];
}
static inline uint64_t lab_drops(struct lab *lab, unsigned node, enum drop_reason r)
{
	uint64_t counter[N_COUNTERS], drop[N_DROPS];

	fwd_stats(lab->node[node].f, counter, drop);
	return drop[r];
}
