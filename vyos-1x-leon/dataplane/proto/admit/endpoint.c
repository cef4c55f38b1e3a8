// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limits for addresses known only from records, per address, network and announcing member, so
 * that a member cannot make others flood a third party. Called by the senders of HELLOs and PINGs
 * to such addresses; control thread. Protocol 3.6.
 */
#include "proto/admit/admit.h"

#include <string.h>

#include "base/mem.h"

/* Limits for HELLOs and PINGs to addresses from records; each has at most about 250 bytes. */
#define HOST_MS	       30000 /* long-term interval per IPv4 address or IPv6 /64 */
#define HOST_BURST     6     /* burst for the first attempts to a node */
#define NET_MS	       500   /* interval per IPv4 /24 or IPv6 /48 */
#define NET_BURST      256
#define REPORTER_MS    50 /* interval for all addresses announced by one member */
#define REPORTER_BURST 1024
#define QUERY_BUCKETS  1024

/* Limits for addresses known from records only, by announcing member, host and
 * network. */
struct query_limit_state {
	struct bucket by[QUERY_BUCKETS], host[QUERY_BUCKETS], net[QUERY_BUCKETS];
};

void endpoint_init(struct overlay *o)
{
	o->query_limit = x_new(struct query_limit_state);
}

static int64_t ms_ns(int64_t ms)
{
	return ms * NS_PER_MS;
}

/* Two names with the same hash share a bucket, so one may wait longer. Resetting the bucket for
 * each new name would let a member that announces many addresses get a new budget each time. */
static struct bucket *place(struct overlay *o, struct bucket table[QUERY_BUCKETS], const void *name,
			    size_t len)
{
	return &table[siphash(&o->hash_key, name, len) % QUERY_BUCKETS];
}

bool endpoint_may_send(struct overlay *o, const struct node *n, const struct endpoint *to)
{
	const struct ip_addr *ip = &to->ip;
	node_id_t teller = n->verified || n->by == NODE_ID_NONE ? n->id : n->by;
	size_t host_len = ip->family == 6 ? 8 : 4, net_len = ip->family == 6 ? 6 : 3;
	mono_t now = overlay_now(o);

	return bucket_pass(place(o, o->query_limit->by, &teller, sizeof(teller)), now,
			   ms_ns(REPORTER_MS), REPORTER_BURST * ms_ns(REPORTER_MS)) &&
	       bucket_pass(place(o, o->query_limit->host, ip->b, host_len), now, ms_ns(HOST_MS),
			   HOST_BURST * ms_ns(HOST_MS)) &&
	       bucket_pass(place(o, o->query_limit->net, ip->b, net_len), now, ms_ns(NET_MS),
			   NET_BURST * ms_ns(NET_MS));
}
