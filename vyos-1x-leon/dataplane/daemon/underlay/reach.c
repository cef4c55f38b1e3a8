// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reachability of configured peers with time and reason, in words, for `show peers`, metrics and
 * the events about an unreachable peer and its return. Control thread.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/report/report.h"
#include "daemon/states.h"
#include "daemon/underlay/underlay.h"
#include "state/conf/conf.h"
#include "wire/datagram/leon.h"

#define PATIENCE_MS   30000 /* delay before an unreachable peer is reported */
#define REPORT_BURST  8	    /* limit of such events at once */
#define REPORT_GAP_MS 2000

/* The sentences of SEED_UNREACHABLE and SEED_NOT_SENT depend on the error. */
static const struct {
	const char *name, *text;
} diagnoses[] = {
	[SEED_NOT_QUERIED] = { "not-asked", "no HELLO sent yet" },
	[SEED_SILENT] = { "nothing",
			  "no answer: leond does not run there, a firewall on the path drops UDP, "
			  "or the secret, VNI or trusted-identity differs" },
	[SEED_REFUSED] = { "refused", "the host answers that no program listens at this port" },
	[SEED_UNREACHABLE] = { "unreachable", NULL },
	[SEED_NOT_SENT] = { "not-sent", NULL },
	[SEED_INITIATES] = { "one-way",
			     "HELLOs of the node arrive, but no answer: one direction is blocked, "
			     "or the node does not trust the identity of this node" },
	[SEED_OTHER_SECRET] = { "other-secret",
				"received datagrams cannot be decrypted: the secret differs" },
	[SEED_HAS_NO_SECRET] = { "no-secret-there",
				 "the node has no secret, and this node has a secret" },
	[SEED_HAS_SECRET] = { "no-secret-here",
			      "the node has a secret, and this node has no secret" },
	[SEED_OTHER_VNI] = { "other-vni", "the node belongs to another overlay: the vni differs" },
	[SEED_OTHER_VERSION] = { "other-version",
				 "the node uses another wire version of LEON, or another program "
				 "uses the port" },
	[SEED_OTHER_CURVE] = { "other-curve",
			       "the node has another encryption curve: set one on all nodes" },
	[SEED_NOT_TRUSTED] = { "not-trusted", "trusted-identity of this node does not list the "
					      "identity of the node" },
	[SEED_OTHER_IDENTITY] = { "other-identity", "the node-id belongs to another identity" },
	[SEED_SELF] = { "self", "the address belongs to this node" },
};

const char *reach_diagnosis_name(enum seed_diagnosis f)
{
	return diagnoses[f].name;
}

/* Reason why the local kernel did not send. */
static const char *local_text(int error)
{
	switch (error) {
	case EAFNOSUPPORT:
		return "this node has no source-address of the same address family";
	case EPERM:
	case EACCES:
		return "a firewall of this host, or the guard of IPsec, drops the datagrams";
	case ENETUNREACH:
	case EHOSTUNREACH:
		return "this host has no route to the address";
	case EINVAL:
	case EADDRNOTAVAIL:
		return "this host no longer has the source-address, or no route uses the "
		       "source-address";
	case ENODEV:
	case ENXIO:
		return "the source-interface is gone";
	case ELOOP:
		return "the route to the address leads into this overlay";
	default:
		return strerror(error);
	}
}

static const char *text_of(enum seed_diagnosis f, int error)
{
	if (f == SEED_UNREACHABLE)
		return strerror(error);
	return f == SEED_NOT_SENT ? local_text(error) : diagnoses[f].text;
}

void reach_look(struct leond *d, uint32_t i, struct reach *out)
{
	const struct conf_peer *p = &d->conf->peer[i];
	const struct seed_host *s = seeds_host(d, i);

	*out = (struct reach){ .peer = p,
			       .since = s->since,
			       .resolved_at = s->resolved_at,
			       .resolve_error = s->error,
			       .best = SEED_NOT_QUERIED };
	overlay_seed(d->overlay, i, &out->seed);
	for (unsigned k = 0; k < out->seed.n; k++) {
		if (out->seed.address[k].diagnosis < out->best)
			continue;
		out->best = out->seed.address[k].diagnosis;
		out->error = out->seed.address[k].error;
	}
	if (p->disable)
		out->state = "disabled";
	else if (out->seed.reached)
		out->state = "reached";
	else if (out->seed.n == 0)
		out->state = "unresolved";
	else
		out->state = out->best == SEED_SELF ? "self" : "trying";
}

const char *reach_diagnosis_text(enum seed_diagnosis f, int error, char buf[REACH_TEXT_LEN])
{
	if (f != SEED_OTHER_VERSION || !error)
		return text_of(f, error);
	snprintf(buf, REACH_TEXT_LEN,
		 "the node uses wire %d, this node %d: upgrade the older of the two", error,
		 LEON_VERSION);
	return buf;
}

bool reach_is_impossible(struct leond *d, uint32_t i, char buf[REACH_TEXT_LEN])
{
	struct reach r;

	reach_look(d, i, &r);
	if (r.peer->disable || r.seed.reached)
		return false;
	if (r.best == SEED_OTHER_CURVE) {
		snprintf(buf, REACH_TEXT_LEN, "peer %s: %s", r.peer->name, text_of(r.best, 0));
		return true;
	}
	if (r.best != SEED_OTHER_VERSION || !r.error)
		return false;
	snprintf(buf, REACH_TEXT_LEN,
		 "peer %s uses wire %d, this node %d: upgrade the older of the two", r.peer->name,
		 r.error, LEON_VERSION);
	return true;
}

/* Returns NULL if there is nothing to explain. */
const char *reach_reason(const struct reach *r, char buf[REACH_TEXT_LEN])
{
	if (r->peer->disable || r->seed.reached)
		return NULL;
	if (r->seed.n)
		return reach_diagnosis_text(r->best, r->error, buf);
	if (!r->resolve_error[0])
		return "the name is being resolved";
	snprintf(buf, REACH_TEXT_LEN, "the name cannot be resolved: %s", r->resolve_error);
	return buf;
}

static void report_unreached(struct leond *d, const struct reach *r, mono_t now)
{
	const struct conf_peer *p = r->peer;
	char buf[REACH_TEXT_LEN];

	report_event(d, FACTS(EV_PEER_UNREACHED, .detail = reach_diagnosis_name(r->best)),
		     "peer %s (%.80s, port %u) is not reached for %lld s: %s", p->name, p->host,
		     p->ep.port, (long long)mono_sub_ms(now, r->since) / 1000,
		     reach_reason(r, buf));
}

static void report_reached(struct leond *d, const struct reach *r)
{
	report_event(d, FACTS(EV_PEER_REACHED, .node = r->seed.node),
		     "peer %s (%.80s, port %u) is reached: node %s", r->peer->name, r->peer->host,
		     r->peer->ep.port, NODE_LABEL(d, r->seed.node));
}

/* Reports a few peers at once and the others later. */
static bool may_notify(struct leond *d, mono_t now)
{
	if (mono_is_never(d->states->reach_at) ||
	    mono_sub_ms(now, d->states->reach_at) > REPORT_BURST * REPORT_GAP_MS)
		d->states->reach_at = mono_add_ms(now, -REPORT_BURST * REPORT_GAP_MS);
	if (mono_sub_ms(now, d->states->reach_at) < REPORT_GAP_MS)
		return false;
	d->states->reach_at = mono_add_ms(d->states->reach_at, REPORT_GAP_MS);
	return true;
}

static void watch(struct leond *d, uint32_t i, mono_t now)
{
	struct seed_host *s = seeds_host(d, i);
	struct reach r;

	reach_look(d, i, &r);
	if (r.seed.reached != s->reached) {
		s->reached = r.seed.reached;
		s->since = r.since = now;
	}
	if (r.peer->disable)
		return;
	if (s->reached ? !s->reported : s->reported || mono_sub_ms(now, s->since) < PATIENCE_MS)
		return;
	if (!may_notify(d, now))
		return;
	s->reported = !s->reached;
	if (s->reached)
		report_reached(d, &r);
	else
		report_unreached(d, &r, now);
}

void reach_run(struct leond *d, mono_t now)
{
	for (uint32_t i = 0; i < d->conf->n_configured_peers; i++)
		watch(d, i, now);
}
