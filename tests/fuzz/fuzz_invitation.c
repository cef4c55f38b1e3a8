// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target of one-time tokens. The first byte selects a request or answer of a stranger, any
 * text of an authentic answer, or the file of the inviting member. Nothing opens without its key,
 * and a secret of an answer is a valid secret. A file that is read is written as the same list.
 */
#include <stdlib.h>
#include <string.h>

#include "state/invitations.h"

#define VNI 1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct token token = { .vni = VNI, .one_time = true, .value = { 1, 2, 3 } };

static void open_foreign_request(const uint8_t *data, size_t len)
{
	uint8_t request[INVITATION_LEN] = { 0 };
	struct noise n;

	memcpy(request, data, len < sizeof(request) ? len : sizeof(request));
	if (invitation_open_request(&n, DH_X25519, token.value, request) == 0)
		abort();
}

/* The text of the answer replaces the sealed text, and the target seals it. */
static void open_answer(const uint8_t *data, size_t len)
{
	uint8_t text[INVITATION_TEXT_LEN] = { 0 }, answer[INVITATION_LEN];
	struct invitation_request r;
	struct invitation_text out;
	struct ephemeral own;
	struct noise n;

	memcpy(text, data, len < sizeof(text) ? len : sizeof(text));
	invitation_request(&r, &token);
	if (invitation_open_request(&n, DH_X25519, token.value, r.datagram))
		abort();
	memcpy(answer, r.datagram, INVITATION_AT_NOISE);
	ephemeral_new(&own, DH_X25519);
	if (noise_answer(&n, &own, invitation_key(r.datagram), text, sizeof(text),
			 answer + INVITATION_AT_NOISE))
		abort();
	if (invitation_open_answer(&r, answer, sizeof(answer), &out))
		return;
	if (out.status == INVITATION_GRANTED && !token_is_secret(out.secret, strlen(out.secret)))
		abort();
	if (out.status == INVITATION_USED_UP && out.secret[0])
		abort();
}

static void open_foreign_answer(const uint8_t *data, size_t len)
{
	struct invitation_request r;
	struct invitation_text out;

	invitation_request(&r, &token);
	if (invitation_open_answer(&r, data, len, &out) == 0)
		abort();
}

static void read_file(const uint8_t *data, size_t len)
{
	struct invitations *l = invitations_new(), *back = invitations_new();
	struct jsonw *w = jsonw_new(), *again = jsonw_new();
	const char *text;
	char err[160];

	if (invitations_parse(l, (const char *)data, len, VNI, err, sizeof(err)) == 0) {
		invitations_write(l, VNI, w);
		text = jsonw_text(w, &len);
		if (invitations_parse(back, text, len, VNI, err, sizeof(err)))
			abort();
		invitations_write(back, VNI, again);
		if (strcmp(jsonw_text(again, &len), text) != 0)
			abort();
	} else if (!err[0] || invitations_next(l, NULL)) {
		abort();
	}
	jsonw_free(w);
	jsonw_free(again);
	invitations_free(l);
	invitations_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static void (*const target[])(const uint8_t *data,
				      size_t len) = { open_foreign_request, open_answer,
						      open_foreign_answer, read_file };

	if (len)
		target[data[0] % 4](data + 1, len - 1);
	return 0;
}
