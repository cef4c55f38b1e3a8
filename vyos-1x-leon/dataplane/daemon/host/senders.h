// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What comes in from each node, and what each is asked to keep below (shaper ingress). Control
 * thread. doc/decisions/052.
 */
#pragma once

#include "daemon/leond.h"

void senders_start(struct leond *d);
void senders_free(struct leond *d);
/* After a reload, and before senders_start(): what the configuration says is in force. */
void senders_apply_conf(struct leond *d);
/* What comes straight from the node, in kbit/s of IP packets; 0 where nobody measures. */
uint32_t senders_kbits(const struct leond *d, uint16_t slot);
