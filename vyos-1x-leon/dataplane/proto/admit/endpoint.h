// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limits for addresses known only from records. Control thread.
 */
#pragma once

#include "proto/core.h"

void endpoint_init(struct overlay *o);
/* Returns true if a datagram may be sent to an address of the node's record. */
bool endpoint_may_send(struct overlay *o, const struct node *n, const struct endpoint *to);
