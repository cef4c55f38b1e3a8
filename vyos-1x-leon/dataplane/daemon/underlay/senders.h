// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ingress shaping: the arrival rate of each node, and the rate limit requested from it (shaper
 * ingress). Control thread. doc/decisions/039.
 */
#pragma once

#include <stdint.h>

struct leond;

void senders_start(struct leond *d);
void senders_free(struct leond *d);
/* Applies the configuration; called after a reload and before senders_start(). */
void senders_apply_conf(struct leond *d);
/* Direct arrival rate from the node in kbit/s of IP packets; 0 without measurement. */
uint32_t senders_kbits(const struct leond *d, uint16_t slot);
