// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See metrics.h. A timer reads the samples, because a notification for each sample would cost
 * the workers more than the sample.
 */
#include "daemon/metrics/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "crypto/aead.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "io/clock.h"
#include "fwd/fwd.h"
#include "io/tcp_socket.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/latency/choice.h"
#include "state/latency/one_way.h"
#include "state/tables/flows.h"
#include "state/tables/nodedb.h"

#define TURN_MS 100
/* Limit of a turn, so that samples cannot starve the protocol. */
#define SAMPLES_MAX 20000
/* A collector that restarts needs the templates. */
#define TEMPLATES_MS 10000
/* Time between checks of the own address. */
#define SOURCE_MS 1000

struct flow_export {
	struct leond *d;
	struct flows *flows;
	struct timer *timer;
	int fd; /* -1: none */
	mono_t templates_at, source_at;
	bool failed; /* the failure was reported */
	struct ipfix message;
};

static void report_failure(struct flow_export *x, int error)
{
	struct endpoint to = { .ip = x->d->conf->flow_collector, .port = x->d->conf->flow_port };

	if (!x->failed)
		log_warn("flow-export", "flows cannot be sent to %s: %s", ENDPOINT_TEXT(&to),
			 strerror(error));
	x->failed = true;
}

static void begin(struct flow_export *x)
{
	ipfix_begin(&x->message, x->d->self, (uint32_t)(wall_now_us() / 1000000));
}

static bool send_message(const struct flow_export *x, size_t len)
{
	return send(x->fd, x->message.buf, len, MSG_DONTWAIT) >= 0;
}

/* An ICMP error about an earlier message, such as a refusal, is no failure of this one. */
static void flush(struct flow_export *x)
{
	size_t len = ipfix_end(&x->message);

	if (len && x->fd >= 0) {
		if (send_message(x, len) || send_message(x, len))
			x->failed = false;
		else
			report_failure(x, errno);
	}
	begin(x);
}

/* One way is half of the round trip if the links are symmetric. The difference of the measured
 * variations is known. */
static uint32_t delay_us(struct leond *d, uint16_t slot, const struct path *p)
{
	const struct one_way *w = overlay_one_way(d->overlay, slot);
	int64_t us = p->rtt_us;

	if (w && one_way_is_known(w, loop_now(d->loop)))
		us += w->forward.beyond_us - w->reverse.beyond_us;
	return us > 0 ? (uint32_t)(us / 2) : 0;
}

/* "path=10.0.0.2,10.0.0.3 loss=0.004 rule=better" */
static void describe(struct leond *d, const struct choice *ch, const char *rule, char *out)
{
	const char *before = "path=";
	size_t at = 0;

	for (unsigned i = 0; i < ch->path.n_hops; i++, before = ",")
		at += (size_t)snprintf(out + at, IPFIX_TEXT_MAX - at, "%s%s", before,
				       NODE_ID_TEXT(node_id_at(d, ch->path.hop[i])));
	snprintf(out + at, IPFIX_TEXT_MAX - at, " loss=%u.%03u rule=%s", ch->path.loss_pm / 1000,
		 ch->path.loss_pm % 1000, rule);
}

static void add_path(struct leond *d, const struct sampled_flow *f, struct ipfix_record *r,
		     char *text)
{
	struct nodedb *db = overlay_nodes(d->overlay);
	const struct node *n = f->key.node ? nodedb_find(db, f->key.node) : NULL;
	const struct choice *ch = n ? overlay_choice(d->overlay, n->slot) : NULL;

	r->text = f->key.node ? "rule=no-path" : "rule=flooded";
	if (!ch || !path_works(&ch->path))
		return;
	r->next = node_id_at(d, ch->path.hop[0]);
	r->delay_us = delay_us(d, n->slot, &ch->path);
	describe(d, ch, f->key.critical ? "critical" : choice_texts[ch->chosen_by].name, text);
	r->text = text;
}

static int64_t wall_ms(mono_t now, int64_t now_us, mono_t at)
{
	return (now_us - mono_sub_us(now, at)) / 1000;
}

static void on_ended(void *arg, const struct sampled_flow *f, enum flow_end why)
{
	struct flow_export *x = arg;
	mono_t now = mono_now();
	int64_t now_us = wall_now_us();
	char text[IPFIX_TEXT_MAX];
	struct ipfix_record r = { .flow = f,
				  .first_ms = wall_ms(now, now_us, f->first),
				  .last_ms = wall_ms(now, now_us, f->last),
				  .end = why };

	add_path(x->d, f, &r, text);
	if (ipfix_add(&x->message, &r))
		return;
	flush(x);
	ipfix_add(&x->message, &r);
}

static void take_samples(struct flow_export *x)
{
	struct sampled_flow s;

	for (unsigned i = 0; i < SAMPLES_MAX && fwd_next_sample(x->d->fwd, &s); i++)
		flows_add(x->flows, &s);
}

static bool has_source_of(int fd, int other)
{
	struct endpoint a, b;

	return socket_local(fd, &a) == 0 && socket_local(other, &b) == 0 && ip_equal(&a.ip, &b.ip);
}

/* A connected socket keeps its source address, also if the host loses the address. Then each send
 * fails by IPv4, and by IPv6 the datagrams have the lost address. A new socket has the source of
 * the route in use. It replaces the old socket only if the addresses differ, because collectors
 * know an exporter by address and port. */
static void connect_to_collector(struct flow_export *x)
{
	const struct conf *c = x->d->conf;
	const struct tcp_config tc = { .fwmark = c->fwmark };
	const struct endpoint to = { .ip = c->flow_collector, .port = c->flow_port };
	int fd = udp_connect(&tc, &to);

	if (fd < 0) {
		/* The interface or the route of the underlay may come later. */
		report_failure(x, -fd);
		return;
	}
	if (x->fd >= 0 && has_source_of(fd, x->fd)) {
		close(fd);
		return;
	}
	if (x->fd >= 0)
		close(x->fd);
	x->fd = fd;
	x->templates_at = (mono_t){ 0 };
}

static void on_turn(void *arg, mono_t now)
{
	struct flow_export *x = arg;

	timer_set(x->timer, mono_add_ms(now, TURN_MS));
	if (!mono_before(now, x->source_at)) {
		connect_to_collector(x);
		x->source_at = mono_add_ms(now, SOURCE_MS);
	}
	if (x->fd >= 0 && !mono_before(now, x->templates_at)) {
		/* The message is empty, because each turn ends with flush(). */
		ipfix_add_templates(&x->message, x->d->conf->flow_sampling);
		flush(x);
		x->templates_at = mono_add_ms(now, TEMPLATES_MS);
	}
	/* After the templates, because a sample of a new flow may end another flow. */
	take_samples(x);
	flows_expire(x->flows, now);
	flush(x);
}

void flow_export_stop(struct leond *d)
{
	struct flow_export *x = d->states->flow_export;

	if (!x)
		return;
	take_samples(x);
	flows_end_all(x->flows);
	flush(x);
	if (x->fd >= 0)
		close(x->fd);
	timer_free(x->timer);
	flows_free(x->flows);
	x_free(d->states->flow_export);
}

void flow_export_apply_conf(struct leond *d)
{
	struct flow_export *x;
	struct hash_key key;

	flow_export_stop(d);
	if (!d->conf->flow_collector.family)
		return;
	x = d->states->flow_export = x_new(struct flow_export);
	random_bytes(&key, sizeof(key));
	x->d = d;
	x->fd = -1;
	x->flows = flows_new(&key, on_ended, x);
	x->timer = timer_new(d->loop, on_turn, x);
	timer_set(x->timer, loop_now(d->loop));
	begin(x);
}
