// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the pre-shared secret, which people choose, to a master key, for which each guess costs as
 * much as knowing it (protocol 3.1): whoever records one datagram or one loop-guard frame can try
 * secrets a few times a second and core instead of millions of times. A stretcher remembers what it
 * has computed, so that a reload costs nothing; it keeps no secret in clear. Control thread.
 */
#pragma once

#include <stdint.h>

#define MASTER_KEY_LEN 32

/* Each time anew: some 80 ms. */
void stretch_secret(const char *secret, uint32_t vni, uint8_t master[MASTER_KEY_LEN]);

struct stretcher;
struct stretcher *stretcher_new(void);
void stretcher_free(struct stretcher *s); /* NULL ok; wipes */
/* Computed at the first time for each secret and VNI. */
void stretcher_master(struct stretcher *s, const char *secret, uint32_t vni,
		      uint8_t master[MASTER_KEY_LEN]);
