// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers machines that redeem an invitation of this node. Called by dispatch.c on the control
 * thread. Protocol 8.2.
 */
#pragma once

#include "proto/core.h"
#include "wire/datagram/leon.h"

void redeem_input(struct overlay *o, const struct endpoint *from, const uint8_t *data, size_t len,
		  const struct leon_hdr *h);
