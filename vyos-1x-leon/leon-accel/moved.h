// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hosts that were seen to move to another node, as leond says: the latest, as many as there is room
 * for. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

#define MOVED_MAX 4096

struct moved_host;
struct moved {
	struct moved_host *hosts; /* the latest last */
};

void moved_add(struct moved *m, uint16_t vlan, struct mac mac);
bool moved_has(const struct moved *m, uint16_t vlan, struct mac mac);
void moved_free(struct moved *m);
