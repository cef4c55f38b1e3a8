// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UDP segmentation of data on a direct link: supplies the inputs of gso_trial.h and applies its
 * results. A link is on trial only if data is lost, probes pass, and trains were
 * sent. Owns `segmentation` of the peer. Control thread.
 */
#include "proto/measure/measure.h"

#include "proto/core.h"

/* The host switches segmentation. In a trial, the first PING of the period follows soon. */
static void apply(struct overlay *o, struct peer *p)
{
	struct segmentation *s = &p->segmentation;

	if (s->trial.state == GSO_TRIAL_RUNS)
		p->due[DUE_PROBE] = mono_earlier(
			p->due[DUE_PROBE], mono_add_ms(overlay_now(o), GSO_TRIAL_WAIT_MS + 1));
	if (s->off == s->trial.off)
		return;
	s->off = s->trial.off;
	if (o->ops.segmentation)
		o->ops.segmentation(o->arg, p->slot, !s->off);
}

void segmentation_ping(const struct overlay *o, const struct peer *p, struct probe *q)
{
	struct overlay_traffic t;

	q->phase = gso_trial_phase(&p->segmentation.trial, overlay_now(o));
	if (!q->phase)
		return;
	t = overlay_traffic_of(o, p->slot);
	q->data_now = (uint32_t)(t.link_tx - t.refused);
	q->trains = (uint32_t)t.trains;
}

/* Starts a trial if the latest comparison of counters shows loss. */
static void look_for_loss(struct overlay *o, struct peer *p)
{
	struct segmentation *s = &p->segmentation;
	const struct loss_meas *l = &p->loss.link;
	uint32_t trains, before = s->trains;

	if (l->sent == s->compared)
		return;
	s->compared = l->sent;
	trains = (uint32_t)overlay_traffic_of(o, p->slot).trains;
	s->trains = trains;
	if (trains == before || l->loss_pm < GSO_TRIAL_LOSS_PM || !p->probe.up || p->probe.silent)
		return;
	if (gso_trial_start(&s->trial, overlay_random(o) & 1, overlay_now(o)))
		apply(o, p);
}

bool segmentation_answer(struct overlay *o, struct peer *p, const struct probe *q,
			 const struct msg_pong *m)
{
	struct gso_trial *t = &p->segmentation.trial;
	struct gso_reading r = { .at = q->sent,
				 .phase = q->phase,
				 .sent = q->data_now,
				 .trains = q->trains,
				 .epoch = m->epoch,
				 .received = m->link_rx };
	bool coin = overlay_random(o) & 1;

	look_for_loss(o, p);
	if (gso_trial_add(t, &r, coin, overlay_now(o)) == GSO_TRIAL_OPEN)
		return false;
	apply(o, p);
	if (t->state != GSO_TRIAL_BROKEN)
		return false;
	overlay_emit(o, EV_OFFLOAD_BROKEN, p->id, NODE_ID_NONE, 0, NULL);
	return true;
}

bool segmentation_is_on_trial(const struct peer *p)
{
	return p->segmentation.trial.state == GSO_TRIAL_RUNS;
}

void segmentation_expire(struct overlay *o, struct peer *p)
{
	if (gso_trial_expire(&p->segmentation.trial, overlay_now(o)))
		apply(o, p);
}

void segmentation_link_up(struct overlay *o, const struct peer *p)
{
	if (o->ops.segmentation)
		o->ops.segmentation(o->arg, p->slot, !p->segmentation.off);
}

void segmentation_link_down(struct overlay *o, struct peer *p)
{
	if (!segmentation_is_on_trial(p))
		return;
	gso_trial_reset(&p->segmentation.trial);
	apply(o, p);
}

void segmentation_configure(struct overlay *o, const struct conf *old)
{
	if (old->udp_segmentation_disable == o->conf->udp_segmentation_disable)
		return;
	for (struct peer *p = NULL; (p = peer_next(o, p));) {
		gso_trial_reset(&p->segmentation.trial);
		apply(o, p);
	}
}
