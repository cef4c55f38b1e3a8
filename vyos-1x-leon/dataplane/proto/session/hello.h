// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The handshake that opens a session: HELLOs that arrive, and taking a session into use. Control
 * thread. Protocol 3.2.
 */
#pragma once

#include "proto/core.h"

void hello_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		 const struct leon_hdr *h, size_t hdr_len);
/* A datagram names the value on offer: opens it with that, and takes the session into use. */
int hello_open_offered(struct overlay *o, struct peer *p, const struct endpoint *direct,
		       uint8_t *data, size_t hdr_len, size_t len, uint8_t **msg, size_t *msg_len);
