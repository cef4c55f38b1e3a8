// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Publication of immutable data to a fixed set of reader threads (quiescent-state based).
 * The control thread publishes a pointer and retires the old one; each worker announces between
 * two batches that it holds no pointer. C11 atomics only, no locks.
 * Writer side: control thread only. Reader side: worker `i` calls with its own index.
 */
#pragma once

#include <stdatomic.h>

#define RCU_READERS_MAX 64

struct rcu;

struct rcu *rcu_new(unsigned n_readers); /* 1..RCU_READERS_MAX */
void rcu_free(struct rcu *r); /* NULL ok; readers must have stopped; frees everything retired */

/* Reader: about to use published pointers. */
void rcu_online(struct rcu *r, unsigned reader);
/* Reader: holds no published pointer until rcu_online(); called before blocking. */
void rcu_offline(struct rcu *r, unsigned reader);
/* Reader: holds no pointer at this instant, stays online. */
void rcu_quiescent(struct rcu *r, unsigned reader);

/* Writer: fn(p) runs in a later rcu_reclaim() once no reader can hold p. */
void rcu_retire(struct rcu *r, void *p, void (*fn)(void *));
/* Writer: frees reclaimable objects; returns the number of objects still retired. */
unsigned rcu_reclaim(struct rcu *r);
