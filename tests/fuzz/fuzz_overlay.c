// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The complete control protocol: datagrams of strangers, forged and recorded ones, HELLOs of a node
 * with the secret, and any messages of a member. The target supplies correct cryptography where the
 * fuzzer could not (fuzz_overlay.h is the language). A stranger changes nothing: with a secret, no
 * step of strangers ends the session, makes a member, or gets an answer larger than its datagram.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "overlay_lab.h"
#include "proto/core.h"
#include "proto/handshake/handshake.h"
#include "proto/view.h"
#include "wire/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct step {
	uint8_t what;
	const uint8_t *p;
	size_t len;
};

/* Space for the envelope and a message of any length. */
#define TEXT_MAX (LAB_DATAGRAM - LEON_HDR_LEN_MAX - ENVELOPE_HELLO_LEN - AEAD_TAG_LEN)

static size_t header(const struct lab *l, const struct step *s, enum overlay_who from, uint8_t *out)
{
	struct leon_hdr h = {
		.kind = LEON_CONTROL,
		.flags = keyring_sealed(l->us.o->keys) ? LEON_F_SEALED : 0,
		.n_hops = 1,
		.vni = OVERLAY_VNI,
		.source = lab_id(from),
		.hop = { lab_id(US) },
	};

	if (s->what & STEP_RELAYED) {
		h.n_hops = 2;
		h.at = 1;
		h.hop[0] = lab_id(from == THEM ? NEW : THEM);
		h.hop[1] = lab_id(US);
	}
	return leon_encode(&h, out);
}

static void echo(struct lab *l, enum overlay_who from, struct msg_hello *h)
{
	const struct session *s = lab_session(l);

	if (from == NEW) {
		h->session_yours = l->offered;
		return;
	}
	h->session_yours = s ? session_mine(s) : 0;
	h->incarnation = nodedb_at(l->them.o->nodes, SLOT_SELF)->rec.incarnation;
}

/* Writes the text of a message to `out`, corrected as the step requests. Returns its length. */
static size_t text_of(struct lab *l, const struct step *s, enum overlay_who from, uint8_t *out)
{
	struct overlay *signer = from == THEM ? l->them.o : l->new;
	struct msg_record *own, kept;
	struct msg m;
	int len = -1;

	if (msg_decode(s->p, s->len, &m) == 0 && m.type == MSG_HELLO) {
		if (s->what & STEP_ECHO)
			echo(l, from, &m.hello);
		if (s->what & STEP_SIGN)
			sign_hello(signer, &m.hello, lab_id(US));
		len = msg_encode(&m, out, TEXT_MAX);
	} else if (s->len && s->p[0] == MSG_RECORD && (s->what & STEP_SIGN) &&
		   msg_decode(s->p, s->len, &m) == 0) {
		if (m.record.origin != lab_id(THEM) || (s->what & STEP_OTHER))
			signer = l->new;
		own = &nodedb_at(signer->nodes, SLOT_SELF)->rec;
		kept = *own;
		*own = m.record;
		sign_own(signer);
		m.record = *own;
		*own = kept;
		len = msg_encode(&m, out, TEXT_MAX);
	}
	if (len > 0)
		return (size_t)len;
	memcpy(out, s->p, s->len);
	return s->len;
}

static void step_hello(struct lab *l, const struct step *s)
{
	enum overlay_who from = s->what & STEP_AS_THEM ? THEM : NEW;
	uint8_t buf[LAB_DATAGRAM] = { 0 };
	size_t hdr_len = header(l, s, from, buf);
	size_t len = text_of(l, s, from, buf + hdr_len + ENVELOPE_HELLO_LEN);
	uint32_t id[SECRETS_MAX] = { 0 };
	int total;

	keyring_ids(l->new->keys, id);
	total = hello_seal(l->new->keys, s->what & STEP_OTHER ? id[1] : 0, buf, hdr_len,
			   max_of(len, (size_t)MSG_HELLO_LEN), sizeof(buf));
	if (total > 0)
		lab_input(l, l->us.o, s->what & STEP_RELAYED && from == NEW ? THEM : from, buf,
			  (size_t)total);
}

static void step_member(struct lab *l, const struct step *s)
{
	struct peer *p = peer_find(l->them.o, lab_id(US));
	uint8_t buf[LAB_DATAGRAM] = { 0 };
	size_t hdr_len = header(l, s, THEM, buf);
	size_t len = text_of(l, s, THEM, buf + hdr_len + ENVELOPE_LEN);
	int total = p && p->cur ? session_seal(p->cur, buf, hdr_len, len, sizeof(buf)) : -1;

	if (total <= 0)
		return;
	if ((s->what & STEP_RELAYED) && (s->what & STEP_OTHER) &&
	    (size_t)total + LEON_LINK_LEN <= sizeof(buf))
		total = (int)leon_insert_link(buf, (size_t)total, 2, 1);
	lab_input(l, l->us.o, s->what & (STEP_RELAYED | STEP_AS_THEM) ? NEW : THEM, buf,
		  (size_t)total);
}

static void step_replay(struct lab *l, const struct step *s)
{
	unsigned kept = min_of(l->n_recorded, (unsigned)LAB_RECORDED);
	struct rbuf b = rbuf_of(s->p, s->len);
	uint8_t index = rbuf_u8(&b);
	uint16_t at = rbuf_u16(&b);
	struct lab_datagram d;

	if (!kept)
		return;
	d = l->recorded[index % kept];
	if (at < d.len)
		d.data[at] ^= rbuf_u8(&b);
	lab_input(l, s->what & STEP_ECHO ? l->them.o : l->us.o,
		  s->what & STEP_RELAYED ? STRANGER : d.from, d.data, d.len);
}

static void step_outsider(struct lab *l, const struct step *s, enum overlay_who from)
{
	unsigned n = s->what & STEP_OTHER && !l->flooded ? OVERLAY_FLOOD : 1;

	l->flooded = l->flooded || n > 1;
	while (n--)
		lab_input(l, l->us.o, from, s->p, s->len);
}

static void take(struct lab *l, const struct step *s, unsigned *ms)
{
	struct rbuf b = rbuf_of(s->p, s->len);
	unsigned more_ms;

	switch (s->what & STEP_KIND) {
	case STEP_STRANGER:
		step_outsider(l, s, STRANGER);
		break;
	case STEP_FORGED:
		step_outsider(l, s, s->what & STEP_RELAYED ? NEW : THEM);
		break;
	case STEP_REPLAY:
		step_replay(l, s);
		break;
	case STEP_TIME:
	case STEP_SILENCE:
		l->cut = (s->what & STEP_KIND) == STEP_SILENCE;
		more_ms = min_of((unsigned)rbuf_u16(&b), OVERLAY_TIME_MS - *ms);
		lab_run(l, more_ms);
		l->cut = false;
		*ms += more_ms;
		break;
	case STEP_HELLO:
		step_hello(l, s);
		break;
	case STEP_MEMBER:
		step_member(l, s);
		break;
	default:
		break;
	}
}

/* Runs all steps. Returns true if no step needed the secret. */
static bool run(struct lab *l, struct rbuf *b)
{
	bool strangers = true;
	unsigned ms = 0;

	for (unsigned i = 0; i < OVERLAY_STEPS && rbuf_left(b); i++) {
		struct step s = { .what = rbuf_u8(b) };

		s.len = rbuf_u16(b);
		if (!b->ok)
			break;
		s.len = min_of(s.len, rbuf_left(b));
		s.len = min_of(s.len, (size_t)TEXT_MAX);
		s.p = rbuf_take(b, s.len);
		take(l, &s, &ms);
		lab_deliver(l);
		strangers = strangers && (s.what & STEP_KIND) < STEP_HELLO;
	}
	lab_run(l, 300);
	return strangers;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rbuf b = rbuf_of(data, len);
	uint8_t flags = rbuf_u8(&b);
	bool strangers;
	const struct session *before;
	struct lab *l;

	l = lab_new(flags);
	before = lab_session(l);
	strangers = run(l, &b);
	if (strangers && !(flags & OVERLAY_CLEAR) &&
	    (lab_session(l) != before || nodedb_members(overlay_nodes(l->us.o)) != 2 ||
	     l->stranger_got > l->stranger_sent))
		abort();
	lab_free(l);
	return 0;
}
