// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The snapshot for workers. Control thread.
 */
#pragma once

#include <stdint.h>

struct leond;

void snapshot_publish(struct leond *d);
/* Replaces the FDB by one of this capacity and publishes. */
void snapshot_replace_fdb(struct leond *d, uint32_t maximum);
void snapshot_replace_neigh(struct leond *d, uint32_t maximum); /* likewise */
