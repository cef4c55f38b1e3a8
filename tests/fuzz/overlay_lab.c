// SPDX-License-Identifier: GPL-2.0-or-later
/* See overlay_lab.h. */
#include "overlay_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "proto/core.h"
#include "proto/view.h"

/* Replaces the random numbers of libc in the product. */
static uint64_t lab_chance;

ssize_t getrandom(void *out, size_t len, unsigned flags)
{
	uint8_t *p = out;

	(void)flags;
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(hash_mix64(++lab_chance) >> 32);
	return (ssize_t)len;
}

struct endpoint lab_ep(enum overlay_who who)
{
	return (struct endpoint){ .ip = { 4, { 198, 18, 0, (uint8_t)(1 + who) } }, .port = 5366 };
}

node_id_t lab_id(enum overlay_who who)
{
	return OVERLAY_US + who;
}

static void identity_of(enum overlay_who who, uint8_t secret[DH_KEY_LEN])
{
	memset(secret, 1 + (int)who, DH_KEY_LEN);
}

/* The trusted identities, as in the configuration. */
static void write_trusted(FILE *f)
{
	uint8_t secret[DH_KEY_LEN], public[DH_KEY_LEN];

	fprintf(f, ",\"trusted-identity\":[");
	for (enum overlay_who who = US; who <= THEM; who++) {
		identity_of(who, secret);
		sign_public(secret, public);
		fprintf(f, who == US ? "\"" : ",\"");
		for (unsigned i = 0; i < DH_KEY_LEN; i++)
			fprintf(f, "%02x", public[i]);
		fprintf(f, "\"");
	}
	fprintf(f, "]");
}

static void write_conf(FILE *f, uint8_t flags)
{
	fprintf(f,
		"{\"version\":1,\"interface\":\"leon0\",\"vni\":%u,"
		"\"member\":{\"maximum\":5,\"forget-time\":20},\"peer\":{"
		"\"us\":{\"address\":\"198.18.0.1\"},\"them\":{\"address\":\"198.18.0.2\"},"
		"\"new\":{\"address\":\"198.18.0.3\"}},\"authentication\":{",
		OVERLAY_VNI);
	if (!(flags & OVERLAY_CLEAR)) {
		fprintf(f, "\"pre-shared-secret\":\"" OVERLAY_SECRET "\","
			   "\"accept-secret\":[\"" OVERLAY_ACCEPT "\"]");
		if (flags & OVERLAY_TRUST)
			write_trusted(f);
	} else {
		fprintf(f, "\"disable\":true");
	}
	fprintf(f, "}}");
}

const struct conf *lab_conf(uint8_t flags)
{
	static struct conf *made[4];
	char text[1024], err[256];
	FILE *f;

	flags &= OVERLAY_CLEAR | OVERLAY_TRUST;
	if (made[flags])
		return made[flags];
	f = fmemopen(text, sizeof(text), "w");
	if (!f)
		abort();
	write_conf(f, flags);
	fclose(f);
	made[flags] = conf_parse(text, strlen(text), err, sizeof(err));
	if (!made[flags]) {
		fprintf(stderr, "overlay_lab: %s\n", err);
		abort();
	}
	return made[flags];
}

/* The value that is offered to NEW is in a message to NEW. */
static void lab_note_offer(struct lab *l, const void *data, size_t len)
{
	uint8_t copy[LAB_DATAGRAM], *text;
	size_t hdr_len, text_len;
	struct leon_hdr h;
	uint64_t session;
	uint32_t secret;
	struct msg m;

	memcpy(copy, data, len);
	if (leon_decode(copy, len, &h, &hdr_len) == LEON_OK &&
	    envelope_session(copy, hdr_len, len, &session) && session == 0 &&
	    hello_open(overlay_keyring(l->new), &secret, copy, hdr_len, len, &text, &text_len) ==
		    0 &&
	    msg_decode(text, text_len, &m) == 0)
		l->offered = m.hello.session_mine;
}

static void lab_send(void *arg, const struct endpoint *to, const void *data, size_t len)
{
	struct lab_side *side = arg;
	struct lab *l = side->lab;
	struct lab_datagram *d, *r;

	if (len > LAB_DATAGRAM)
		return;
	for (enum overlay_who who = US; who <= STRANGER; who++) {
		struct endpoint ep = lab_ep(who);

		if (who == side->who || !endpoint_equal(&ep, to))
			continue;
		if (who == NEW && side->who == US)
			lab_note_offer(l, data, len);
		if (who == STRANGER)
			l->stranger_got += len;
		if (who > THEM || l->cut || l->n_queue == LAB_QUEUE)
			continue;
		d = &l->queue[l->n_queue++];
		*d = (struct lab_datagram){ .from = side->who, .to = who, .len = len };
		memcpy(d->data, data, len);
		r = &l->recorded[l->n_recorded++ % LAB_RECORDED];
		*r = *d;
	}
}

/* A copy of exact size, so that a read beyond its end is detected. */
void lab_input(struct lab *l, struct overlay *o, enum overlay_who from, const void *data,
	       size_t len)
{
	struct endpoint ep = lab_ep(from);
	uint8_t *copy = x_calloc(1, len ? len : 1);

	if (len)
		memcpy(copy, data, len);
	if (from == STRANGER)
		l->stranger_sent += len;
	overlay_input(o, &ep, copy, len, loop_now(l->loop));
	free(copy);
}

void lab_deliver(struct lab *l)
{
	for (unsigned i = 0; i < l->n_queue; i++) {
		struct lab_datagram d = l->queue[i];

		lab_input(l, d.to == US ? l->us.o : l->them.o, d.from, d.data, d.len);
	}
	l->n_queue = 0;
}

void lab_run(struct lab *l, unsigned ms)
{
	for (unsigned step_ms; ms; ms -= step_ms) {
		step_ms = min_of(ms, 20u);
		loop_sim_run_until(l->loop, mono_add_ms(loop_now(l->loop), step_ms));
		lab_deliver(l);
	}
}

static uint64_t lab_wall_us(void *arg)
{
	const struct lab_side *side = arg;

	return 1700000000000000ULL + (uint64_t)(loop_now(side->lab->loop).ns / NS_PER_US);
}

static void lab_nothing(void *arg)
{
	(void)arg;
}

static void lab_purge(void *arg, const struct slot_set *gone)
{
	(void)arg;
	(void)gone;
}

static void lab_master_key(void *arg, enum stretch_kind kind, const char *secret, uint32_t vni,
			   uint8_t out[MASTER_KEY_LEN])
{
	static struct stretcher *stretcher;

	(void)arg;
	if (!stretcher)
		stretcher = stretcher_new();
	stretcher_master(stretcher, kind, secret, vni, out);
}

static struct overlay *lab_node(struct lab *l, struct lab_side *side, enum overlay_who who,
				uint8_t flags)
{
	static const struct overlay_ops ops = { .send = lab_send,
						.snapshot_changed = lab_nothing,
						.purge = lab_purge,
						.wall_us = lab_wall_us,
						.master_key = lab_master_key };
	uint8_t identity[DH_KEY_LEN];
	struct endpoint ep = lab_ep(who);
	struct overlay *o =
		overlay_new(l->loop, lab_conf(flags), lab_id(who), &ops, side, 1 + (uint64_t)who);

	identity_of(who, identity);
	overlay_set_identity(o, identity);
	/* With workers, sessions have keys for data. */
	overlay_set_workers(o, 1);
	overlay_set_locators(o, &ep, 1);
	return o;
}

const struct session *lab_session(struct lab *l)
{
	struct peer *p = peer_find(l->us.o, lab_id(THEM));

	return p ? p->cur : NULL;
}

static void silent(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	(void)text;
}

struct lab *lab_new(uint8_t flags)
{
	struct lab *l = x_new(struct lab);

	log_set_sink(silent, NULL);
	lab_chance = 0;
	l->loop = loop_sim_new();
	l->us = (struct lab_side){ .lab = l, .who = US };
	l->them = (struct lab_side){ .lab = l, .who = THEM };
	l->us.o = lab_node(l, &l->us, US, flags);
	l->them.o = lab_node(l, &l->them, THEM, flags);
	l->new = lab_node(l, NULL, NEW, flags);
	overlay_start(l->us.o);
	overlay_start(l->them.o);
	lab_run(l, 1500);
	if (!lab_session(l) || nodedb_members(overlay_nodes(l->us.o)) != 2)
		abort();
	return l;
}

void lab_free(struct lab *l)
{
	overlay_free(l->us.o);
	overlay_free(l->them.o);
	overlay_free(l->new);
	loop_free(l->loop);
	free(l);
}
