// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See relayed.h.
 */
#include "state/latency/relayed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct relayed_one {
	node_id_t source, destination; /* source NODE_ID_NONE: free */
	uint64_t nonce;
	uint32_t at_us;
};

struct relayed {
	/* Of each bucket the newest datagram is first. */
	struct relayed_one datagram[RELAYED_BUCKETS][RELAYED_WAYS];
};

struct relayed *relayed_new(void)
{
	return x_new(struct relayed);
}

void relayed_free(struct relayed *t)
{
	free(t);
}

/* Nodes choose the keys. The worst choice displaces the datagrams of a bucket, and a capture then
 * lacks a time. */
static unsigned bucket_of(node_id_t source, node_id_t destination, uint64_t nonce)
{
	uint64_t pair = (uint64_t)source << 32 | destination;

	return (unsigned)(hash_mix64(nonce ^ hash_mix64(pair)) % RELAYED_BUCKETS);
}

void relayed_add(struct relayed *t, node_id_t source, node_id_t destination, uint64_t nonce,
		 uint32_t at_us)
{
	struct relayed_one *b = t->datagram[bucket_of(source, destination, nonce)];

	memmove(b + 1, b, (RELAYED_WAYS - 1) * sizeof(*b));
	b[0] = (struct relayed_one){ source, destination, nonce, at_us };
}

bool relayed_find(const struct relayed *t, node_id_t source, node_id_t destination, uint64_t nonce,
		  uint32_t *at_us)
{
	const struct relayed_one *b = t->datagram[bucket_of(source, destination, nonce)];

	for (unsigned i = 0; i < RELAYED_WAYS; i++)
		if (b[i].source == source && b[i].destination == destination &&
		    b[i].nonce == nonce) {
			*at_us = b[i].at_us;
			return true;
		}
	return false;
}
