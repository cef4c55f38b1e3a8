// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The public key of a chosen secret key. The product draws both together, and vectors have the
 * secret key.
 */
#pragma once

#include "base/log.h"
#include "crypto/public_key.h"

/* Multiplies the base point of the curve: x = 9 (RFC 7748), and x of G (SP 800-186). */
static inline void sample_public(enum dh_curve curve, const uint8_t secret[DH_KEY_LEN],
				 uint8_t out[DH_KEY_LEN])
{
	static const uint8_t base[][DH_KEY_LEN] = {
		[DH_X25519] = { 9 },
		[DH_P256] = { 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6,
			      0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb,
			      0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96 },
	};

	if (dh_shared(curve, secret, base[curve], out))
		bug("no public key");
}
