// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether addresses may be asked that only a record names. Decides and counts; control thread.
 */
#pragma once

#include "proto/core.h"

/* May one datagram go to this address, which the node's record names? */
bool endpoint_may_ask(struct overlay *o, const struct node *n, const struct endpoint *to);
