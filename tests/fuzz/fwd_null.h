// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A packet path for fuzz targets: one worker without a thread, and four nodes as in
 * tests/unit/fwd_fixture.h. The TAP discards all frames, and the path has no sockets. Made once.
 */
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/fwd.h"
#include "fwd/worker.h"

#define NULL_NODES 4
#define NULL_SELF  0x0a000001u
#define NULL_VNI   0x123456u
#define NULL_MTU   1400

struct null_path {
	struct fwd *f;
	struct worker *w;
	struct fdb *fdb;
	struct neigh *neigh;
	struct listeners *listeners;
};

static inline struct endpoint null_ep(unsigned slot)
{
	return (struct endpoint){ .ip = { 4, { 127, 0, 0, (uint8_t)(1 + slot) } }, .port = 5366 };
}

static inline void null_snap(struct null_path *n, void (*change)(struct snap *s))
{
	static const uint16_t direct[] = { 1 }, relayed[] = { 1, 2 };
	struct snap *s = snap_new(NULL_NODES);

	s->self = NULL_SELF;
	s->vni = NULL_VNI;
	s->fdb = n->fdb;
	s->neigh = n->neigh;
	s->listeners = n->listeners;
	s->mss_clamp = s->suppress_arp = s->suppress_nd = true;
	s->storm_broadcast = s->storm_multicast = s->storm_unknown = 1000000;
	for (unsigned i = 0; i < NULL_NODES; i++) {
		s->node[i].id = NULL_SELF + i;
		s->node[i].ep = null_ep(i);
		s->node[i].link_up = i == 1 || i == 2;
		s->node[i].link_mtu = NULL_MTU;
	}
	snap_set_path(s, 1, direct, 1, NULL_MTU);
	snap_set_path(s, 2, relayed, 2, NULL_MTU);
	if (change)
		change(s);
	snap_finish(s);
	fwd_publish(n->f, s);
}

/* change: the change of the snapshot at every call. NULL: none. */
static inline struct null_path *null_path_with(void (*change)(struct snap *s))
{
	static struct null_path n;
	struct fwd_io io = { .tap = -1, .udp4 = -1, .udp6 = -1 };
	struct fwd_setup setup = {
		.n_workers = 1, .io = &io, .udp_gso = true, .slots_maximum = NULL_NODES
	};
	const uint64_t no_groups = listener_entry(0, 4, 0);
	struct ip_addr ip = { 4, { 10, 1, 0, 2 } };
	struct ip_addr ip6 = { 6, { 0x20, 1, 0xd, 0xb8, [15] = 0xb } };

	if (n.f)
		return &n;
	io.tap = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* Refuses every datagram, but only after the step has built the datagram. */
	io.udp4 = io.tap;
	if (io.tap < 0)
		abort();
	n.f = fwd_new(&setup);
	n.w = &n.f->worker[0];
	n.fdb = fdb_new(64);
	n.neigh = neigh_new(64);
	n.listeners = listeners_new(NULL_NODES);
	listeners_replace(n.listeners, 1, listener_set_new(&no_groups, 1));
	for (uint8_t i = 1; i < 4; i++)
		fdb_learn(n.fdb, 0, (struct mac){ { 2, 0, 0, 0, 0, (uint8_t)(0x30 + i) } }, i, 1);
	null_snap(&n, change);
	worker_begin(n.w);
	neigh_learn(n.neigh, 0, &ip, (struct mac){ { 2, 0, 0, 0, 0, 0x31 } }, 1, NEIGH_ROLE_UNKNOWN,
		    n.w->now_s);
	neigh_learn(n.neigh, 0, &ip6, (struct mac){ { 2, 0, 0, 0, 0, 0x32 } }, 2, NEIGH_ROUTER,
		    n.w->now_s);
	return &n;
}

static inline struct null_path *null_path(void)
{
	return null_path_with(NULL);
}

/* Reads all reports to the control thread, and every byte of each report. */
static inline void null_drain(struct null_path *n)
{
	struct fwd_report ev;
	volatile uint8_t sum = 0;

	while (fwd_next_report(n->f, &ev))
		for (size_t i = 0; ev.type == FWD_CONTROL && i < ev.control.len; i++)
			sum = (uint8_t)(sum + ev.control.data[i]);
}
