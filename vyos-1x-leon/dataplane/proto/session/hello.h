// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The receiving half of the handshake: received HELLOs and the start of a session. Control thread.
 * Protocol 3.2.
 */
#pragma once

#include "proto/core.h"

void hello_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		 const struct leon_hdr *h, size_t hdr_len);
/* A datagram names the value on offer: opens it with the offered session and starts that
 * session. */
int hello_open_offered(struct overlay *o, struct peer *p, const struct endpoint *direct,
		       uint8_t *data, size_t hdr_len, size_t len, uint8_t **msg, size_t *msg_len);
