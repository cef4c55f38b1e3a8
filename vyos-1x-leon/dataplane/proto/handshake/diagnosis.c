// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Diagnosis of a configured peer that is not reached. A node answers no strangers, so a peer with
 * another secret does not respond to HELLOs. Evidence comes from datagrams of the peer, if this
 * node is configured there too, and from ICMP. Address spoofing can forge all evidence, so it is
 * shown to operators and decides nothing. Called by hello.c, duplicate.c, seed.c and daemon/;
 * control thread.
 */
#include "proto/handshake/handshake.h"

#include <errno.h>
#include <stdio.h>

#define FRESH_MS 60000 /* lifetime of evidence */

static void put(struct overlay *o, struct diagnosis *f, enum seed_diagnosis what, int error)
{
	f->what = what;
	f->error = error;
	f->at = overlay_now(o);
}

static bool is_fresh(const struct overlay *o, const struct diagnosis *f)
{
	return f->what > SEED_SILENT && mono_sub_ms(overlay_now(o), f->at) <= FRESH_MS;
}

/* "It greets" is less specific than a reason for refusal, or outdated. */
static void put_unless_better(struct overlay *o, struct diagnosis *f, enum seed_diagnosis what,
			      int error)
{
	if (what != SEED_INITIATES || !is_fresh(o, f) || f->what < SEED_INITIATES)
		put(o, f, what, error);
}

static bool note_where(struct overlay *o, const struct endpoint *from, bool with_port,
		       enum seed_diagnosis what, int error)
{
	bool any = false;

	for (unsigned i = 0; i < o->seeds.n; i++) {
		for (unsigned k = 0; k < o->seeds.seed[i].n; k++) {
			const struct endpoint *ep = &o->seeds.seed[i].ep[k];

			if (with_port ? !endpoint_same_address(ep, from)
				      : !ip_equal(&ep->ip, &from->ip))
				continue;
			put_unless_better(o, &o->seeds.seed[i].found[k], what, error);
			any = true;
		}
	}
	return any;
}

static bool note(struct overlay *o, const struct endpoint *from, enum seed_diagnosis what,
		 int error)
{
	/* A NAT may send from a port other than the forwarded one. */
	return note_where(o, from, true, what, error) || note_where(o, from, false, what, error);
}

bool diagnosis_note(struct overlay *o, const struct endpoint *from, enum seed_diagnosis what)
{
	return note(o, from, what, 0);
}

static const char *words_of(enum seed_diagnosis what)
{
	switch (what) {
	case SEED_OTHER_SECRET:
		return "cannot be decrypted: the pre-shared-secret differs";
	case SEED_HAS_NO_SECRET:
		return "are not encrypted: the sender has no pre-shared-secret";
	case SEED_HAS_SECRET:
		return "are encrypted, and this node has no pre-shared-secret";
	case SEED_OTHER_VNI:
		return "belong to another vni";
	default:
		return "have another wire version, or come from another program";
	}
}

/* Notes the evidence at the configured peer of this address. The operator of a member is the only
 * one who can learn why another address is refused, because that address gets no answer. */
static void note_or_report(struct overlay *o, const struct endpoint *from, enum seed_diagnosis what,
			   int error)
{
	const char *ep = ENDPOINT_TEXT(from);
	char text[ENDPOINT_STRLEN + 64];

	if (note(o, from, what, error) || !overlay_once_a_minute(o, &o->stranger_event))
		return;
	snprintf(text, sizeof(text), "%s %s", ep, words_of(what));
	if (what == SEED_OTHER_VERSION && error)
		snprintf(text, sizeof(text), "%s have another wire version: %d, here %d", ep, error,
			 LEON_VERSION);
	overlay_emit(o, EV_STRANGER, NODE_ID_NONE, NODE_ID_NONE, 0, text);
}

void diagnosis_not_opened(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h)
{
	bool sealed = h->flags & LEON_F_SEALED, ours = keyring_sealed(o->keys);

	if (sealed && ours)
		note_or_report(o, from, SEED_OTHER_SECRET, 0);
	else if (sealed != ours)
		note_or_report(o, from, sealed ? SEED_HAS_SECRET : SEED_HAS_NO_SECRET, 0);
}

/* The sender has the secret of the overlay, so it is no stranger. */
void diagnosis_other_curve(struct overlay *o, const struct endpoint *from, node_id_t source)
{
	note(o, from, SEED_OTHER_CURVE, 0);
	if (overlay_once_a_minute(o, &o->curve_event))
		overlay_emit(o, EV_OTHER_CURVE, source, NODE_ID_NONE, 0, ENDPOINT_TEXT(from));
}

void diagnosis_requested(struct overlay *o, struct seed *s, unsigned index)
{
	struct diagnosis *f = &s->found[index];

	f->requested++;
	f->requested_at = overlay_now(o);
}

void overlay_seed_error(struct overlay *o, const struct endpoint *to, int error, bool local)
{
	enum seed_diagnosis what = local		   ? SEED_NOT_SENT
				   : error == ECONNREFUSED ? SEED_REFUSED
							   : SEED_UNREACHABLE;

	for (unsigned i = 0; i < o->seeds.n; i++) {
		for (unsigned k = 0; k < o->seeds.seed[i].n; k++) {
			struct diagnosis *f = &o->seeds.seed[i].found[k];

			/* Evidence from the peer itself is more specific than ICMP. */
			if (endpoint_same_address(&o->seeds.seed[i].ep[k], to) &&
			    !(is_fresh(o, f) && f->what > SEED_INITIATES))
				put(o, f, what, error);
		}
	}
}

/* Returns true if a configured peer without a session has this IP address. */
static bool is_missing(const struct overlay *o, const struct endpoint *from)
{
	for (unsigned i = 0; i < o->seeds.n; i++)
		for (unsigned k = 0; k < o->seeds.seed[i].n && !o->seeds.seed[i].alive; k++)
			if (ip_equal(&o->seeds.seed[i].ep[k].ip, &from->ip))
				return true;
	return false;
}

/* Reports a configured peer with another wire version. A peer in session has the version of this
 * node, so its address was spoofed. */
static void report_wire(struct overlay *o, const struct endpoint *from, uint8_t wire)
{
	char text[ENDPOINT_STRLEN + 48];

	if (!is_missing(o, from) || !overlay_once_a_minute(o, &o->wire_event))
		return;
	snprintf(text, sizeof(text), "%s uses wire %u, this node %u", ENDPOINT_TEXT(from), wire,
		 LEON_VERSION);
	overlay_emit(o, EV_OTHER_WIRE, NODE_ID_NONE, NODE_ID_NONE, wire, text);
}

void overlay_seed_foreign(struct overlay *o, const struct endpoint *from,
			  enum seed_diagnosis diagnosis, uint8_t wire)
{
	if (diagnosis == SEED_OTHER_VERSION && wire)
		report_wire(o, from, wire);
	note_or_report(o, from, diagnosis, wire);
}

struct diagnosis diagnosis_now(const struct overlay *o, const struct diagnosis *f)
{
	struct diagnosis now = *f;

	if (is_fresh(o, f))
		return now;
	now.what = f->requested ? SEED_SILENT : SEED_NOT_QUERIED;
	now.at = MONO_NEVER;
	return now;
}
