// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Diagnosis of a configured peer that is not reached. A node answers no strangers, so a peer with
 * another secret does not respond to HELLOs. Evidence comes from datagrams of the peer, if this
 * node is configured there too, and from ICMP. Address spoofing can forge all evidence, so it is
 * shown to operators and decides nothing. Called by hello.c, rival.c, seed.c and daemon/; control
 * thread.
 */
#include "proto/session/finding.h"

#include <errno.h>
#include <stdio.h>

#include "proto/core.h"
#include "proto/service.h"

#define FRESH_MS 60000 /* lifetime of evidence */

static void put(struct overlay *o, struct finding *f, enum seed_finding what, int error)
{
	f->what = what;
	f->error = error;
	f->at = overlay_now(o);
}

static bool is_fresh(const struct overlay *o, const struct finding *f)
{
	return f->what > SEED_SILENT && mono_sub_ms(overlay_now(o), f->at) <= FRESH_MS;
}

/* "It greets" is less specific than a reason for refusal, or outdated. */
static void put_unless_better(struct overlay *o, struct finding *f, enum seed_finding what)
{
	if (what != SEED_GREETS || !is_fresh(o, f) || f->what < SEED_GREETS)
		put(o, f, what, 0);
}

static bool note_where(struct overlay *o, const struct endpoint *from, bool with_port,
		       enum seed_finding what)
{
	bool any = false;

	for (unsigned i = 0; i < o->seeds.n; i++) {
		for (unsigned k = 0; k < o->seeds.seed[i].n; k++) {
			const struct endpoint *ep = &o->seeds.seed[i].ep[k];

			if (with_port ? !endpoint_equal(ep, from) : !ip_equal(&ep->ip, &from->ip))
				continue;
			put_unless_better(o, &o->seeds.seed[i].found[k], what);
			any = true;
		}
	}
	return any;
}

bool finding_note(struct overlay *o, const struct endpoint *from, enum seed_finding what)
{
	/* A NAT may send from a port other than the forwarded one. */
	return note_where(o, from, true, what) || note_where(o, from, false, what);
}

static const char *words_of(enum seed_finding what)
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
static void note_or_report(struct overlay *o, const struct endpoint *from, enum seed_finding what)
{
	char ep[ENDPOINT_STRLEN], text[ENDPOINT_STRLEN + 64];

	if (finding_note(o, from, what) ||
	    !bucket_pass(&o->stranger_event, overlay_now(o), 60 * NS_PER_S, 60 * NS_PER_S))
		return;
	snprintf(text, sizeof(text), "%s %s", endpoint_format(from, ep, sizeof(ep)),
		 words_of(what));
	overlay_emit(o, EV_STRANGER, NODE_ID_NONE, NODE_ID_NONE, 0, text);
}

void finding_not_opened(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h)
{
	bool sealed = h->flags & LEON_F_SEALED, ours = keyring_sealed(o->keys);

	if (sealed && ours)
		note_or_report(o, from, SEED_OTHER_SECRET);
	else if (sealed != ours)
		note_or_report(o, from, sealed ? SEED_HAS_SECRET : SEED_HAS_NO_SECRET);
}

void finding_asked(struct overlay *o, struct seed *s, unsigned index)
{
	struct finding *f = &s->found[index];

	f->asked++;
	f->asked_at = overlay_now(o);
}

void overlay_seed_error(struct overlay *o, const struct endpoint *to, int error, bool local)
{
	enum seed_finding what = local			 ? SEED_NOT_SENT
				 : error == ECONNREFUSED ? SEED_REFUSED
							 : SEED_UNREACHABLE;

	for (unsigned i = 0; i < o->seeds.n; i++) {
		for (unsigned k = 0; k < o->seeds.seed[i].n; k++) {
			struct finding *f = &o->seeds.seed[i].found[k];

			/* Evidence from the peer itself is more specific than ICMP. */
			if (endpoint_equal(&o->seeds.seed[i].ep[k], to) &&
			    !(is_fresh(o, f) && f->what > SEED_GREETS))
				put(o, f, what, error);
		}
	}
}

void overlay_seed_foreign(struct overlay *o, const struct endpoint *from, enum seed_finding finding)
{
	note_or_report(o, from, finding);
}

struct finding finding_now(const struct overlay *o, const struct finding *f)
{
	struct finding now = *f;

	if (is_fresh(o, f))
		return now;
	now.what = f->asked ? SEED_SILENT : SEED_NOT_ASKED;
	now.at = MONO_NEVER;
	return now;
}
