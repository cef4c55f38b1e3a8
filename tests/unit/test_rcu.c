// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RCU: the time at which an object may be freed, step by step, and then readers in threads against
 * a fast writer. A freed object is poisoned first, so that a reader fails even without a sanitizer.
 * TSan and ASan report the access itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rcu.h"
#include "expect_bug.h"

#define N_READERS   3
#define N_PUBLISHED 20000u
#define ALIVE	    0x600dU
#define DEAD	    0xdeadU

static unsigned n_freed;

static void count_free(void *p)
{
	(void)p;
	n_freed++;
}

static int reset(void **state)
{
	(void)state;
	n_freed = 0;
	return 0;
}

static void all_offline_frees_at_once(void **state)
{
	struct rcu *r = rcu_new(4);

	(void)state;
	assert_int_equal(rcu_reclaim(r), 0);
	rcu_retire(r, NULL, count_free);
	assert_int_equal(n_freed, 0);
	assert_int_equal(rcu_reclaim(r), 0);
	assert_int_equal(n_freed, 1);
	rcu_free(r);
}

static void waits_for_every_online_reader(void **state)
{
	struct rcu *r = rcu_new(3);

	(void)state;
	rcu_online(r, 0);
	rcu_online(r, 2);
	rcu_retire(r, NULL, count_free);
	assert_int_equal(rcu_reclaim(r), 1);
	rcu_quiescent(r, 0);
	assert_int_equal(rcu_reclaim(r), 1);
	rcu_quiescent(r, 2);
	assert_int_equal(rcu_reclaim(r), 0);
	assert_int_equal(n_freed, 1);
	/* Going offline has an equal effect. */
	rcu_retire(r, NULL, count_free);
	rcu_offline(r, 0);
	assert_int_equal(rcu_reclaim(r), 1);
	rcu_offline(r, 2);
	assert_int_equal(rcu_reclaim(r), 0);
	rcu_free(r);
}

static void reader_that_came_later_does_not_count(void **state)
{
	struct rcu *r = rcu_new(1);

	(void)state;
	rcu_retire(r, NULL, count_free);
	rcu_online(r, 0);
	assert_int_equal(rcu_reclaim(r), 0);
	assert_int_equal(n_freed, 1);
	rcu_free(r);
}

static void frees_in_order_what_it_can(void **state)
{
	struct rcu *r = rcu_new(1);

	(void)state;
	rcu_online(r, 0);
	rcu_retire(r, NULL, count_free);
	rcu_quiescent(r, 0);
	rcu_retire(r, NULL, count_free);
	rcu_retire(r, NULL, count_free);
	assert_int_equal(rcu_reclaim(r), 2);
	assert_int_equal(n_freed, 1);
	rcu_free(r);
	assert_int_equal(n_freed, 3);
	rcu_free(NULL);
}

static void retire_again(void *p)
{
	n_freed++;
	rcu_retire(p, NULL, count_free);
}

static void destructor_may_retire(void **state)
{
	struct rcu *r = rcu_new(1);

	(void)state;
	rcu_retire(r, r, retire_again);
	assert_int_equal(rcu_reclaim(r), 1);
	assert_int_equal(n_freed, 1);
	assert_int_equal(rcu_reclaim(r), 0);
	assert_int_equal(n_freed, 2);
	rcu_free(r);
}

struct object {
	unsigned state;
	unsigned number;
};

struct shared {
	struct rcu *rcu;
	_Atomic(struct object *) current;
	_Atomic bool stop;
	_Atomic unsigned n_bad;
	_Atomic unsigned n_started;
};

struct reader {
	struct shared *shared;
	unsigned index;
};

static void poison_and_free(void *p)
{
	struct object *o = p;

	o->state = DEAD;
	free(o);
}

static void *reader_main(void *arg)
{
	struct reader *self = arg;
	struct shared *sh = self->shared;
	unsigned last = 0;

	atomic_fetch_add(&sh->n_started, 1);
	for (unsigned i = 0; !atomic_load(&sh->stop); i++) {
		struct object *o;

		/* The reader sometimes acts as an idle worker, and mostly as a busy one. */
		if (i % 16 == 0) {
			if (i)
				rcu_offline(sh->rcu, self->index);
			sched_yield();
			rcu_online(sh->rcu, self->index);
		}
		o = atomic_load_explicit(&sh->current, memory_order_acquire);
		if (o->state != ALIVE || o->number < last)
			atomic_fetch_add(&sh->n_bad, 1);
		last = o->number;
		if (o->state != ALIVE)
			atomic_fetch_add(&sh->n_bad, 1);
		rcu_quiescent(sh->rcu, self->index);
	}
	rcu_offline(sh->rcu, self->index);
	return NULL;
}

static struct object *object_new(unsigned number)
{
	struct object *o = x_new(struct object);

	o->state = ALIVE;
	o->number = number;
	return o;
}

static void readers_and_writer(void **state)
{
	struct shared sh = { .rcu = rcu_new(N_READERS) };
	struct reader readers[N_READERS];
	pthread_t threads[N_READERS];

	(void)state;
	atomic_init(&sh.current, object_new(0));
	for (unsigned i = 0; i < N_READERS; i++) {
		readers[i] = (struct reader){ &sh, i };
		assert_int_equal(pthread_create(&threads[i], NULL, reader_main, &readers[i]), 0);
	}
	while (atomic_load(&sh.n_started) < N_READERS)
		sched_yield();
	for (unsigned i = 1; i <= N_PUBLISHED; i++) {
		struct object *old =
			atomic_exchange_explicit(&sh.current, object_new(i), memory_order_acq_rel);

		rcu_retire(sh.rcu, old, poison_and_free);
		/* The number of retired objects is limited, so that the writer meets the
		 * readers. */
		while (rcu_reclaim(sh.rcu) > 64)
			sched_yield();
	}
	atomic_store(&sh.stop, true);
	for (unsigned i = 0; i < N_READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(rcu_reclaim(sh.rcu), 0);
	assert_int_equal(atomic_load(&sh.n_bad), 0);
	rcu_free(sh.rcu);
	free(atomic_load(&sh.current));
}

static void no_readers(void *arg)
{
	(void)arg;
	rcu_new(0);
}

static void too_many_readers(void *arg)
{
	(void)arg;
	rcu_new(RCU_READERS_MAX + 1);
}

static void misuse_aborts(void **state)
{
	(void)state;
	assert_true(ends_in_bug(no_readers, NULL));
	assert_true(ends_in_bug(too_many_readers, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_offline_frees_at_once, reset),
		cmocka_unit_test_setup(waits_for_every_online_reader, reset),
		cmocka_unit_test_setup(reader_that_came_later_does_not_count, reset),
		cmocka_unit_test_setup(frees_in_order_what_it_can, reset),
		cmocka_unit_test_setup(destructor_may_retire, reset),
		cmocka_unit_test(misuse_aborts),
		cmocka_unit_test(readers_and_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
