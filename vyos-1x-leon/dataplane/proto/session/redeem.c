// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The inviting side of protocol 8.2. A datagram costs a lookup of its id. Only a known id costs key
 * derivations and one AES-GCM pass, within the budgets of HELLOs. Only a sender with the value of
 * the invitation, or a replay of such a sender, costs a DH operation and gets an answer. The answer
 * is as long as the request. A use is stored before its answer leaves this node, so a restart does
 * not permit it twice.
 */
#include "proto/session/membership.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "crypto/invitation.h"
#include "proto/handshake/handshake.h"
#include "proto/core.h"
#include "state/invitations.h"

static void report(struct overlay *o, enum event_kind kind, const struct invitation *i,
		   const struct endpoint *from)
{
	char id[HEX_LEN(INVITATION_ID_LEN) + 1], address[ENDPOINT_STRLEN];
	char text[sizeof(id) + sizeof(address) + 8];

	snprintf(text, sizeof(text), "%s by %s", hex_format(i->id, INVITATION_ID_LEN, id),
		 endpoint_format(from, address, sizeof(address)));
	overlay_emit(o, kind, NODE_ID_NONE, NODE_ID_NONE, i->uses - i->n_used, text);
}

/* Returns false if the use cannot be stored, or there is no secret. The machine gets no answer and
 * repeats its request. */
static bool admit(struct overlay *o, struct invitation *i, const uint8_t *key,
		  const struct endpoint *from, int64_t now_s, struct invitation_text *t)
{
	enum claim claim;

	if (!o->conf->secret)
		return false;
	claim = invitation_claim(i, key, from, now_s);
	if (claim == CLAIM_USED_UP) {
		o->count.rx_invitation_refused++;
		if (overlay_once_a_minute(o, &o->invitation_event))
			report(o, EV_INVITATION_REFUSED, i, from);
		t->status = INVITATION_USED_UP;
		return true;
	}
	if (claim == CLAIM_NEW && o->ops.store_invitations && !o->ops.store_invitations(o->arg)) {
		invitation_unclaim(i);
		return false;
	}
	if (claim == CLAIM_NEW)
		report(o, EV_INVITATION_CLAIMED, i, from);
	t->status = INVITATION_GRANTED;
	t->pbkdf2 = o->conf->derivation == STRETCH_PBKDF2;
	snprintf(t->secret, sizeof(t->secret), "%s", o->conf->secret);
	return true;
}

static void answer(struct overlay *o, struct noise *n, const uint8_t *request,
		   const struct endpoint *from, const struct invitation_text *t)
{
	uint8_t out[INVITATION_LEN];

	o->count.key_exchanges++;
	if (invitation_answer(n, o->self, request, t, out) < 0) {
		o->count.rx_malformed++;
		return;
	}
	o->count.tx_msgs++;
	o->count.tx_bytes += sizeof(out);
	o->ops.send(o->arg, from, out, sizeof(out));
}

void redeem_input(struct overlay *o, const struct endpoint *from, const uint8_t *data, size_t len,
		  const struct leon_hdr *h)
{
	struct invitation_text t = { 0 };
	struct invitation *i;
	struct noise n;
	int64_t now_s;

	if (len != INVITATION_LEN || h->n_hops != 1 || h->flags) {
		o->count.rx_malformed++;
		return;
	}
	now_s = (int64_t)(o->ops.wall_us(o->arg) / 1000000);
	i = invitations_find(o->invitations, data + INVITATION_AT_ID, now_s);
	if (!i) {
		o->count.rx_invitation_refused++;
		return;
	}
	if (!limit_may_open(o, from)) {
		o->count.rx_rate_limited++;
		return;
	}
	if (invitation_open_request(&n, o->conf->curve, i->value, data) < 0)
		o->count.rx_not_authentic++;
	else if (!limit_may_answer(o, from))
		o->count.rx_rate_limited++;
	else if (admit(o, i, invitation_key(data), from, now_s, &t))
		answer(o, &n, data, from, &t);
	x_wipe(&t, sizeof(t));
	x_wipe(&n, sizeof(n));
}
