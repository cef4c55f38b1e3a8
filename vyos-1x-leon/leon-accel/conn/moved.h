// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moved hosts, as reported by leond. The list has a fixed size and drops the oldest host.
 * Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

#define MOVED_MAX 4096

struct moved_host;
struct moved {
	struct moved_host *hosts; /* The last element is the latest. */
};

void moved_add(struct moved *m, uint16_t vlan, struct mac mac);
bool moved_has(const struct moved *m, uint16_t vlan, struct mac mac);
void moved_free(struct moved *m);
