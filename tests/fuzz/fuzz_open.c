// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A control datagram from header and envelope to opening and message, sealed and in clear, with a
 * fixed secret and session. A datagram that opens once is a replay the second time. A datagram that
 * does not open leaves the session unchanged.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/sample_session.h"
#include "crypto/keys.h"
#include "fuzz_open.h"
#include "wire/datagram/leon.h"
#include "wire/message/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Opens a copy, because opening works in place. session NULL: as HELLO. */
static int open_copy(const struct keyring *k, struct session *s, const uint8_t *data,
		     size_t hdr_len, size_t len)
{
	uint8_t *copy = malloc(len), *text;
	size_t text_len;
	uint32_t secret;
	struct msg m;
	int err;

	if (!copy)
		abort();
	memcpy(copy, data, len);
	if (s)
		err = session_open(s, copy, hdr_len, len, &text, &text_len);
	else
		err = hello_open(k, &secret, copy, hdr_len, len, &text, &text_len);
	if (!err) {
		if (text < copy || text_len > len || text + text_len > copy + len)
			abort();
		msg_decode(text, text_len, &m);
	}
	free(copy);
	return err;
}

static void open_with(const char *secret, const uint8_t *data, size_t hdr_len, size_t len)
{
	struct keyring *k = sample_keyring(secret, OPEN_VNI);
	struct session *s = sample_session(k, OPEN_NODE_B, OPEN_NODE_A, OPEN_VALUE_B, OPEN_VALUE_A);
	uint64_t value;
	int first, second;

	if (envelope_session(data, hdr_len, len, &value) && value == 0) {
		if (open_copy(k, NULL, data, hdr_len, len) !=
		    open_copy(k, NULL, data, hdr_len, len))
			abort();
	}
	first = open_copy(k, s, data, hdr_len, len);
	second = open_copy(k, s, data, hdr_len, len);
	if (second != (first == 0 ? -EALREADY : first))
		abort();
	session_free(s);
	keyring_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct leon_hdr h;
	size_t hdr_len;

	if (leon_decode(data, len, &h, &hdr_len) != LEON_OK)
		return 0;
	open_with(OPEN_SECRET, data, hdr_len, len);
	open_with(NULL, data, hdr_len, len);
	return 0;
}
