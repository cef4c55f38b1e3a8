// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shaping to the rate of a line: one virtual-time account (GCRA) for all workers. Sent bytes occupy
 * the line until `paid_ns`; queued frames wait for this time. Traffic that does not wait (relayed
 * datagrams, floods, second copies) can keep this time in the future. Queued frames therefore wait
 * at most until `least_ns`, a second account at a sixteenth of the rate. Pure except for the
 * atomics; any worker.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

struct shaper {
	_Atomic int64_t paid_ns, least_ns;
};

/* End of the transmission of all charged bytes. */
static inline mono_t shaper_paid(const struct shaper *s)
{
	return (mono_t){ atomic_load_explicit(&s->paid_ns, memory_order_relaxed) };
}

/* Queued bytes that may be sent now; 0: none yet. `sparse`: a sparse flow is next, which need not
 * wait for recent transmissions of other workers. */
size_t shaper_room(const struct shaper *s, uint32_t kbits, bool sparse, mono_t now);
/* Time at which queued bytes may be sent. */
mono_t shaper_due(const struct shaper *s, bool sparse);
/* Charges sent bytes (IP packets). */
void shaper_pay(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now);
/* Notes that queued bytes were sent; they are charged in addition. */
void shaper_served(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now);
/* Adds microseconds to the backlog, which stays at least 0. Control thread. */
void shaper_correct(struct shaper *s, int64_t us, mono_t now);
