// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target of wire/message/token: any text, and any bytes with a correct checksum, because
 * mutated text rarely has one. An accepted token is written as a token of equal content.
 */
#include <stdlib.h>
#include <string.h>

#include "wire/message/token.h"

#define PAYLOAD_MAX 2100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const char *text, size_t len)
{
	char again[TOKEN_TEXT_MAX];
	struct token t, back;

	if (token_decode(text, len, &t))
		return;
	if (!token_encode(&t, again) || token_decode(again, strlen(again), &back) ||
	    back.vni != t.vni || back.n_seeds != t.n_seeds || back.expires != t.expires ||
	    back.one_time != t.one_time || back.p256 != t.p256 ||
	    memcmp(back.value, t.value, TOKEN_VALUE_LEN) != 0 ||
	    strcmp(back.secret, t.secret) != 0 || (t.one_time && t.secret[0]))
		abort();
}

static uint32_t crc_of(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len * 8; i++)
		crc = crc >> 1 ^ ((crc ^ p[i / 8] >> (i % 8)) & 1 ? 0xedb88320u : 0);
	return crc;
}

static void check_payload(const char *prefix, const uint8_t *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t payload[PAYLOAD_MAX + 4 + 2] = { 0 };
	char text[TOKEN_TEXT_MAX] = { 0 };
	uint32_t crc;
	size_t n = strlen(TOKEN_PREFIX);

	if (len > PAYLOAD_MAX)
		return;
	memcpy(payload, data, len);
	memcpy(text, prefix, n);
	crc = ~crc_of(crc_of(UINT32_MAX, prefix, n), payload, len);
	for (int i = 0; i < 4; i++)
		payload[len++] = (uint8_t)(crc >> (24 - 8 * i));
	for (size_t bit = 0; bit < len * 8; bit += 6) {
		unsigned two = (unsigned)payload[bit / 8] << 8 | payload[bit / 8 + 1];

		text[n++] = digits[two >> (10 - bit % 8) & 63];
	}
	check(text, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const prefix[] = { TOKEN_PREFIX, TOKEN_EXPIRING, TOKEN_ONE_TIME,
					      TOKEN_P256 };

	if (len && data[0] & 1)
		check_payload(prefix[(data[0] >> 1) % 4], data + 1, len - 1);
	else if (len)
		check((const char *)data + 1, len - 1);
	return 0;
}
