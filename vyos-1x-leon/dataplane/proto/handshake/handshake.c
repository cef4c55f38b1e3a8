// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The session value on offer to a peer, with its key: creation, answer, transmission, withdrawal. A
 * session is created when the peer has shown the value. Control thread. Protocol 3.2.
 */
#include "proto/handshake/handshake.h"

#include "base/mem.h"

/* A HELLO repeats a value of up to PENDING_MS, and its answer needs as much time. */
#define OFFER_MS (2 * PENDING_MS)

void handshake_cancel(struct handshake *f)
{
	session_free(f->session);
	x_wipe(f, sizeof(*f));
}

void handshake_expire(struct overlay *o, mono_t now)
{
	for (struct peer *p = NULL; (p = peer_next(o, p));)
		if (p->handshake.value && mono_sub_ms(now, p->handshake.at) > OFFER_MS)
			handshake_cancel(&p->handshake);
}

/* Data of the previous and the current session differ by their epoch, so our part of it changes. */
static bool is_same_epoch(const struct overlay *o, const struct peer *p, uint64_t value)
{
	uint64_t differs = p->cur ? value ^ session_mine(p->cur) : UINT64_MAX;

	return !(differs & session_epoch_mask(o->self, p->id));
}

/* Returns the value on offer; creates a new value if there is none or the value is old. */
struct handshake *handshake_of(struct overlay *o, struct peer *p)
{
	struct handshake *f = &p->handshake;
	mono_t now = overlay_now(o);

	if (f->value && mono_sub_ms(now, f->at) <= PENDING_MS)
		return f;
	handshake_cancel(f);
	do
		f->value = random_u64_nonzero();
	while (is_same_epoch(o, p, f->value));
	f->at = now;
	if (keyring_sealed(o->keys))
		ephemeral_new(&f->key, keyring_curve(o->keys));
	return f;
}

/* The peer sent another request: the value on offer answers this one now. */
void handshake_answers(struct overlay *o, struct handshake *f, const struct rx_hello *h)
{
	if (f->answers.session_mine != h->m->session_mine) {
		session_free(f->session);
		f->session = NULL;
	}
	f->answers = *h->m;
	f->secret = h->secret;
	f->to = h->to;
	f->answered = overlay_now(o);
}

/* Records the destination of a value on offer. */
void handshake_sent(struct handshake *f, const struct via *v)
{
	if (!f->sent_to.ip.family && v->n_hops == 1)
		f->sent_to = v->to;
	else if (v->n_hops > 1 || !endpoint_equal(&f->sent_to, &v->to))
		f->sent_elsewhere = true;
}

bool handshake_returned(const struct handshake *f, const struct endpoint *direct)
{
	return direct && f->value && !f->sent_elsewhere && endpoint_equal(&f->sent_to, direct);
}
