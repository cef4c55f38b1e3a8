// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Size checks, associated data and sealing of control messages, see keys_core.h. Control thread.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "crypto/keys_core.h"
#include "wire/bytes.h"
#include "wire/datagram/leon.h"

/*
 * Builds the associated data: header and envelope, with the nibble that relays change set to zero.
 * Returns its length, at most LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN.
 */
static size_t associate(const uint8_t *buf, size_t hdr_len, size_t envelope_len, uint8_t *aad)
{
	memcpy(aad, buf, hdr_len + envelope_len);
	aad[LEON_HOPS_OFFSET] &= LEON_HOPS_MASK;
	return hdr_len + envelope_len;
}

bool envelope_is_openable(const uint8_t *buf, size_t hdr_len, size_t len, size_t envelope_len,
			  bool sealed)
{
	size_t tag_len = sealed ? AEAD_TAG_LEN : 0;

	if (hdr_len < LEON_HDR_FIXED || hdr_len > LEON_HDR_LEN_MAX ||
	    len < hdr_len + envelope_len + tag_len)
		return false;
	return sealed == !!(buf[LEON_FLAGS_OFFSET] & LEON_F_SEALED);
}

int envelope_sealed_len(size_t hdr_len, size_t envelope_len, size_t msg_len, size_t buf_len,
			bool sealed)
{
	size_t around = hdr_len + envelope_len + (sealed ? AEAD_TAG_LEN : 0);

	if (hdr_len < LEON_HDR_FIXED || hdr_len > LEON_HDR_LEN_MAX || buf_len > INT_MAX ||
	    around > buf_len || msg_len > buf_len - around)
		return -ENOSPC;
	return (int)(around + msg_len);
}

int envelope_seal(struct aead *a, const uint8_t *nonce, uint8_t *buf, size_t hdr_len,
		  size_t envelope_len, size_t msg_len)
{
	uint8_t aad[LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN];
	size_t aad_len = associate(buf, hdr_len, envelope_len, aad);
	uint8_t *text = buf + aad_len;

	return aead_seal(a, nonce, aad, aad_len, text, msg_len, text);
}

int envelope_open(struct aead *a, const uint8_t *nonce, uint8_t *buf, size_t hdr_len,
		  size_t envelope_len, size_t len)
{
	uint8_t aad[LEON_HDR_LEN_MAX + ENVELOPE_HELLO_LEN];
	size_t aad_len = associate(buf, hdr_len, envelope_len, aad);
	uint8_t *text = buf + aad_len;

	return aead_open(a, nonce, aad, aad_len, text, len - aad_len, text);
}

bool envelope_session(const uint8_t *buf, size_t hdr_len, size_t len, uint64_t *session)
{
	if (hdr_len > len || len - hdr_len < 8)
		return false;
	*session = get_u64(buf + hdr_len);
	return true;
}
