// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Datagrams that redeem an invitation, see invitation.h.
 */
#include "crypto/invitation.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

#define ID_SALT	 "LEON 1"
#define ID_LABEL "invitation"

void invitation_id(const uint8_t value[TOKEN_VALUE_LEN], uint8_t id[INVITATION_ID_LEN])
{
	kdf(value, TOKEN_VALUE_LEN, ID_SALT, strlen(ID_SALT), ID_LABEL, strlen(ID_LABEL), id,
	    INVITATION_ID_LEN);
}

/* --- text of the answer: status (8), derivation (8), length (8), secret, zeros --- */

static void encode_text(const struct invitation_text *t, uint8_t out[INVITATION_TEXT_LEN])
{
	size_t len = strlen(t->secret);

	memset(out, 0, INVITATION_TEXT_LEN);
	out[0] = (uint8_t)t->status;
	out[1] = t->pbkdf2;
	out[2] = (uint8_t)len;
	memcpy(out + 3, t->secret, len);
}

static bool decode_text(const uint8_t in[INVITATION_TEXT_LEN], struct invitation_text *t)
{
	*t = (struct invitation_text){ .status = INVITATION_USED_UP };
	if (in[0] == INVITATION_USED_UP)
		return true;
	if (in[0] != INVITATION_GRANTED || in[1] > 1 ||
	    !token_is_secret((const char *)in + 3, in[2]))
		return false;
	t->status = INVITATION_GRANTED;
	t->pbkdf2 = in[1];
	memcpy(t->secret, in + 3, in[2]);
	return true;
}

/* --- the joining machine --- */

/* A source for the answer only, because the machine has no session and sends no frames. */
static node_id_t draw_source(void)
{
	node_id_t id = (node_id_t)random_u64_nonzero() | 1;

	return id == NODE_ID_ANY ? 1 : id;
}

static enum dh_curve curve_of(const struct token *t)
{
	return t->p256 ? DH_P256 : DH_X25519;
}

void invitation_request(struct invitation_request *r, const struct token *t)
{
	static const uint8_t text[INVITATION_TEXT_LEN];
	const struct leon_hdr h = { .kind = LEON_INVITATION,
				    .n_hops = 1,
				    .vni = t->vni,
				    .source = draw_source(),
				    .hop = { NODE_ID_ANY } };

	leon_encode(&h, r->datagram);
	invitation_id(t->value, r->datagram + INVITATION_AT_ID);
	ephemeral_new(&r->own, curve_of(t));
	noise_begin(&r->noise, curve_of(t), t->value, r->datagram, INVITATION_AT_NOISE);
	noise_request(&r->noise, &r->own, text, sizeof(text), r->datagram + INVITATION_AT_NOISE);
}

int invitation_open_answer(struct invitation_request *r, const uint8_t *data, size_t len,
			   struct invitation_text *out)
{
	uint8_t text[INVITATION_TEXT_LEN];
	int err = -EBADMSG;

	if (len == INVITATION_LEN &&
	    memcmp(data + INVITATION_AT_ID, r->datagram + INVITATION_AT_ID, INVITATION_ID_LEN) == 0)
		err = noise_open_answer(&r->noise, &r->own, data + INVITATION_AT_NOISE,
					len - INVITATION_AT_NOISE, text);
	if (err == 0 && !decode_text(text, out))
		err = -EBADMSG;
	x_wipe(text, sizeof(text));
	return err;
}

/* --- the inviting member --- */

/* The text of a request has room for later releases and no meaning now. */
int invitation_open_request(struct noise *n, enum dh_curve curve,
			    const uint8_t value[TOKEN_VALUE_LEN], const uint8_t *data)
{
	uint8_t text[INVITATION_TEXT_LEN];

	noise_begin(n, curve, value, data, INVITATION_AT_NOISE);
	return noise_open_request(n, data + INVITATION_AT_NOISE,
				  INVITATION_LEN - INVITATION_AT_NOISE, text);
}

/* A new ephemeral key for each answer. Two answers to one request never share a key, so their texts
 * may differ. No secret key stays in memory. */
int invitation_answer(struct noise *n, node_id_t self, const uint8_t *request,
		      const struct invitation_text *t, uint8_t out[INVITATION_LEN])
{
	uint8_t text[INVITATION_TEXT_LEN];
	struct leon_hdr h;
	struct ephemeral own;
	size_t hdr_len;
	int r;

	if (leon_decode(request, INVITATION_LEN, &h, &hdr_len) != LEON_OK)
		return -EBADMSG;
	h = (struct leon_hdr){ .kind = LEON_INVITATION,
			       .n_hops = 1,
			       .vni = h.vni,
			       .source = self,
			       .hop = { h.source } };
	leon_encode(&h, out);
	memcpy(out + INVITATION_AT_ID, request + INVITATION_AT_ID, INVITATION_ID_LEN);
	encode_text(t, text);
	ephemeral_new(&own, n->curve);
	r = noise_answer(n, &own, invitation_key(request), text, sizeof(text),
			 out + INVITATION_AT_NOISE);
	ephemeral_wipe(&own);
	x_wipe(text, sizeof(text));
	return r;
}
