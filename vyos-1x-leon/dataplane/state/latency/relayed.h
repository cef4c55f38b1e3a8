// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times of datagrams that were relayed during a capture, by source, destination and nonce, in fixed
 * memory. A full bucket forgets its oldest datagram. Pure; control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

#define RELAYED_BUCKETS 16384u
#define RELAYED_WAYS	4u

struct relayed;

struct relayed *relayed_new(void);
void relayed_free(struct relayed *t); /* NULL ok */
void relayed_add(struct relayed *t, node_id_t source, node_id_t destination, uint64_t nonce,
		 uint32_t at_us);
bool relayed_find(const struct relayed *t, node_id_t source, node_id_t destination, uint64_t nonce,
		  uint32_t *at_us);
