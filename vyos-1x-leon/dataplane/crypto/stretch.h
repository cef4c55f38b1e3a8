// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Derives the master key from the secret by scrypt or PBKDF2 (protocol 3.1). An attacker with one
 * recorded datagram or loop-guard frame can test a few secrets per second and core instead of
 * millions. A stretcher caches its results, so a reload costs nothing. No secret is kept in clear.
 * Control thread.
 */
#pragma once

#include <stdint.h>

#include "crypto/aead.h"

#define MASTER_KEY_LEN 32

/* Computes the key without the cache: about 80 ms for scrypt, 200 ms for PBKDF2. */
void stretch_secret(enum stretch_kind kind, const char *secret, uint32_t vni,
		    uint8_t master[MASTER_KEY_LEN]);

struct stretcher;
struct stretcher *stretcher_new(void);
void stretcher_free(struct stretcher *s); /* NULL ok; wipes */
/* Returns the key of a secret and VNI from the cache; computes it on first use. */
void stretcher_master(struct stretcher *s, enum stretch_kind kind, const char *secret, uint32_t vni,
		      uint8_t master[MASTER_KEY_LEN]);
