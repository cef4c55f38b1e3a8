// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Joining tokens, see token.h. Called by `leonctl invite` in the daemon and by `leonctl join`.
 */
#include "wire/message/token.h"

#include <string.h>

#include "base/defs.h"
#include "base/text.h"
#include "wire/bytes.h"

#define PREFIX_LEN (sizeof(TOKEN_PREFIX) - 1)
#define CRC_LEN	   4
#define VNI_MAX	   0xffffff
/* Payload: expiry, VNI, number of seeds, each with port and length, secret with length, checksum. A
 * value is shorter than the longest secret. */
#define PAYLOAD_MAX                                                                                \
	(4 + 3 + 1 + TOKEN_SEEDS_MAX * (2 + 1 + TOKEN_HOST_MAX) + 1 + TOKEN_SECRET_MAX + CRC_LEN)

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* CRC-32 of Ethernet and zlib over the prefix and the payload. */
static uint32_t crc_add(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

static uint32_t checksum(const char *prefix, const uint8_t *payload, size_t len)
{
	return ~crc_add(crc_add(UINT32_MAX, prefix, PREFIX_LEN), payload, len);
}

/* --- base64url without padding (RFC 4648 section 5) --- */

static int digit_value(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Returns the number of bytes, or -1 for an invalid character or leftover bits. */
static int decode64(const char *text, size_t len, uint8_t *out)
{
	uint32_t bits = 0;
	unsigned n_bits = 0;
	int n = 0;

	for (size_t i = 0; i < len; i++) {
		int value = digit_value(text[i]);

		if (value < 0)
			return -1;
		bits = bits << 6 | (uint32_t)value;
		n_bits += 6;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		out[n++] = (uint8_t)(bits >> n_bits);
		bits &= (1u << n_bits) - 1;
	}
	return bits == 0 && n_bits < 6 ? n : -1;
}

static void encode64(const uint8_t *in, size_t len, char *text)
{
	uint32_t bits = 0;
	unsigned n_bits = 0;

	for (size_t i = 0; i < len; i++) {
		bits = bits << 8 | in[i];
		for (n_bits += 8; n_bits >= 6; n_bits -= 6)
			*text++ = digits[bits >> (n_bits - 6) & 63];
	}
	if (n_bits)
		*text++ = digits[bits << (6 - n_bits) & 63];
	*text = '\0';
}

/* --- payload --- */

static bool is_host(const char *s, size_t len)
{
	return len > 0 && len <= TOKEN_HOST_MAX && ascii_is_word(s, len);
}

/* Checks for printable characters, because the value becomes a string of a configuration. */
bool token_is_secret(const char *s, size_t len)
{
	const char *end = s + len;

	if (len < TOKEN_SECRET_MIN || len > TOKEN_SECRET_MAX)
		return false;
	while (s < end) {
		size_t n = *s ? utf8_len(s, end) : 0;

		if (n == 0)
			return false;
		s += n;
	}
	return true;
}

static bool is_whole(const struct token *t)
{
	if (t->vni > VNI_MAX || t->n_seeds == 0 || t->n_seeds > TOKEN_SEEDS_MAX)
		return false;
	for (unsigned i = 0; i < t->n_seeds; i++)
		if (!is_host(t->seed[i].host, strlen(t->seed[i].host)) || t->seed[i].port == 0)
			return false;
	return t->one_time || token_is_secret(t->secret, strlen(t->secret));
}

/* Text behind its length. When reading, the text is zero at first. */
static void code_text(struct codec *b, char *text, size_t max)
{
	uint8_t len = (uint8_t)strlen(text);

	len = (uint8_t)code_count(b, &len, max);
	code_bytes(b, (uint8_t *)text, len);
	if (b->in)
		b->in->ok &= strlen(text) == len;
}

/* A one-time token without an end has the expiry 0. */
static void code_payload(struct codec *b, const char *prefix, struct token *t)
{
	uint8_t n_seeds = (uint8_t)t->n_seeds;

	if (strcmp(prefix, TOKEN_PREFIX) != 0)
		code_u32(b, &t->expires);
	code_u24(b, &t->vni);
	for (unsigned i = 0, n = code_count(b, &n_seeds, TOKEN_SEEDS_MAX); i < n; i++) {
		code_u16(b, &t->seed[i].port);
		code_text(b, t->seed[i].host, TOKEN_HOST_MAX);
	}
	if (b->in)
		t->n_seeds = n_seeds;
	if (t->one_time)
		code_bytes(b, t->value, TOKEN_VALUE_LEN);
	else
		code_text(b, t->secret, TOKEN_SECRET_MAX);
}

static bool read_payload(struct rbuf *b, const char *prefix, struct token *t)
{
	t->p256 = strcmp(prefix, TOKEN_P256) == 0;
	t->one_time = t->p256 || strcmp(prefix, TOKEN_ONE_TIME) == 0;
	code_payload(&(struct codec){ .in = b }, prefix, t);
	return b->ok && rbuf_left(b) == 0 && is_whole(t) &&
	       (t->expires || strcmp(prefix, TOKEN_EXPIRING) != 0);
}

static const char *decode_payload(const char *prefix, const uint8_t *payload, int len,
				  struct token *out)
{
	struct rbuf b;
	struct token t = { 0 };

	if (len < CRC_LEN ||
	    checksum(prefix, payload, (size_t)len - CRC_LEN) != get_u32(payload + len - CRC_LEN))
		return "the token is damaged or truncated; copy the whole token again";
	b = rbuf_of(payload, (size_t)len - CRC_LEN);
	if (!read_payload(&b, prefix, &t))
		return "leonctl did not make the token; make a new token with `leonctl invite`";
	*out = t;
	return NULL;
}

/* --- text --- */

bool token_is_one(const char *text)
{
	return strncmp(text, "leon", 4) == 0 && text[4] >= '0' && text[4] <= '9' &&
	       strspn(text + 4, "0123456789") < 4 &&
	       text[4 + strspn(text + 4, "0123456789")] == '.';
}

/* Removes white space and terminates the text; returns false if it is too long or contains a
 * NUL. */
static bool squeeze(const char *text, size_t len, char out[TOKEN_TEXT_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] && strchr(" \t\r\n", text[i]))
			continue;
		if (!text[i] || n == TOKEN_TEXT_MAX - 1)
			return false;
		out[n++] = text[i];
	}
	out[n] = '\0';
	return true;
}

/* Returns the prefix of a form that this release reads, or NULL. */
static const char *prefix_of(const char *text)
{
	static const char *const known[] = { TOKEN_PREFIX, TOKEN_EXPIRING, TOKEN_ONE_TIME,
					     TOKEN_P256 };

	for (size_t i = 0; i < array_size(known); i++)
		if (strncmp(text, known[i], PREFIX_LEN) == 0)
			return known[i];
	return NULL;
}

static const char *decode_text(const char *text, struct token *out)
{
	uint8_t payload[TOKEN_TEXT_MAX];
	size_t len = strlen(text);
	const char *error, *prefix = prefix_of(text);
	int n;

	if (len == 0)
		return "there is no token";
	if (!token_is_one(text))
		return "the text is no token; a token begins with \"" TOKEN_ONE_TIME "\"";
	if (!prefix)
		return "the token is of another version than this leond reads (" TOKEN_ONE_TIME
		       "...); make the token with the older release, or upgrade this release";
	n = decode64(text + PREFIX_LEN, len - PREFIX_LEN, payload);
	error = decode_payload(prefix, payload, n, out);
	explicit_bzero(payload, sizeof(payload));
	return error;
}

const char *token_decode(const char *text, size_t len, struct token *out)
{
	char squeezed[TOKEN_TEXT_MAX];
	const char *error = "the text is too long for a token, or has invalid characters";

	if (squeeze(text, len, squeezed))
		error = decode_text(squeezed, out);
	explicit_bzero(squeezed, sizeof(squeezed));
	return error;
}

bool token_encode(const struct token *t, char text[TOKEN_TEXT_MAX])
{
	const char *prefix = !t->one_time ? (t->expires ? TOKEN_EXPIRING : TOKEN_PREFIX)
			     : t->p256	  ? TOKEN_P256
					  : TOKEN_ONE_TIME;
	uint8_t payload[PAYLOAD_MAX];
	struct wbuf b = wbuf_of(payload, sizeof(payload));

	if (!is_whole(t))
		return false;
	/* A codec that writes does not change the token. */
	code_payload(&(struct codec){ .out = &b }, prefix, (struct token *)t);
	wbuf_u32(&b, checksum(prefix, payload, wbuf_len(&b)));
	memcpy(text, prefix, PREFIX_LEN);
	encode64(payload, wbuf_len(&b), text + PREFIX_LEN);
	explicit_bzero(payload, sizeof(payload));
	return true;
}
