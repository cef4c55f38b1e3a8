// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages of the accelerator of another node, see peer.h.
 */
#include "base/log.h"
#include "conn/conn.h"
#include "conn/conn_state.h"
#include "engine.h"
#include "peer/pack.h"
#include "peer/peer.h"
#include "peer/streams.h"

#define PACK_LEVEL 1

static bool take_hello(struct accel_peer *p, const struct accel_frame *f, mono_t now)
{
	if (p->state != PEER_GREETING || f->hello.version != ACCEL_VERSION ||
	    f->hello.node != p->id || f->hello.window_log > PACK_WINDOW_MAX ||
	    (f->hello.window_log && f->hello.window_log < PACK_WINDOW_MIN))
		return false;
	p->window_log = p->reserved < f->hello.window_log ? p->reserved : f->hello.window_log;
	if (p->window_log)
		p->packer = packer_new(p->window_log, PACK_LEVEL);
	p->state = PEER_UP;
	p->ponged = now;
	p->counted.reached = true;
	log_notice("accel", "inter-proxy connection is up node=%s", NODE_ID_TEXT(p->id));
	return true;
}

/* DATA of an unknown stream has no receiver, because an orderly end follows the FIN of both hosts.
 * RESET answers no other message of an unknown stream: after an orderly end, the other end may
 * still deliver data to its host. RESET itself has no answer. */
static bool take_data(struct accel_peer *p, const struct accel_frame *f)
{
	const struct accel_frame reset = { .type = ACCEL_RESET, .stream = f->stream };
	static uint8_t unpacked[ACCEL_DATA_MAX + 1]; /* single-threaded */
	struct stream *s;
	const uint8_t *data = f->data.data;
	size_t len = f->data.len;

	peer_use(p, SAVED_IN, ACCEL_HDR_LEN + len);
	p->e->counters.bytes.carried_in += ACCEL_HDR_LEN + len;
	if (f->type == ACCEL_PACKED) {
		if (!p->unpacker)
			return false;
		/* Data of ended streams is unpacked, too, because later data may refer to it. */
		len = unpacker_run(p->unpacker, data, len, unpacked, sizeof(unpacked));
		data = unpacked;
	}
	if (!len || len > ACCEL_DATA_MAX)
		return false;
	p->e->counters.bytes.in += len;
	s = streams_find(&p->streams, f->stream);
	if (!s)
		peer_notify(p, &reset);
	if (!s || conn_data(s->conn, data, len, ACCEL_HDR_LEN + f->data.len))
		return true;
	peer_misuse(p, ACCEL_BEYOND_CREDIT);
	return false;
}

/* The sender is bound until the answer, so an ACCEPT of an ended stream has one, too. */
static bool take_accept(struct accel_peer *p, const struct accel_frame *f, mono_t now)
{
	const struct accel_frame no = { .type = ACCEL_REFUSE,
					.stream = f->stream,
					.refuse = { ACCEL_NOT_NOW } };
	struct stream *s = streams_find(&p->streams, f->stream);

	if (s)
		return conn_message(s->conn, f, now);
	peer_notify(p, &no);
	return true;
}

/* Notes a refusal of the node, or a sign of a free place: OFFER or ACCEPT. */
static void learn_of_places(struct accel_peer *p, const struct accel_frame *f, mono_t now)
{
	if (f->type == ACCEL_REFUSE &&
	    (f->refuse.reason == ACCEL_NO_PLACE || f->refuse.reason == ACCEL_NOT_WITH_YOU)) {
		p->refuses = true;
		p->refusal = eligibility_of_refusal(f->refuse.reason);
		p->not_before = mono_add_ms(now, PEER_REFUSED_MS);
	} else if (f->type == ACCEL_OFFER || f->type == ACCEL_ACCEPT || f->type == ACCEL_TAKE) {
		p->refuses = false;
		p->not_before = now;
	}
}

static bool take(struct accel_peer *p, const struct accel_frame *f, mono_t now)
{
	struct accel_frame pong = { .type = ACCEL_PONG, .ping = f->ping };
	struct stream *s;

	if (f->type == ACCEL_HELLO)
		return take_hello(p, f, now);
	if (p->state != PEER_UP)
		return false;
	learn_of_places(p, f, now);
	/* The other node may still deliver data of a stream that has ended here. */
	if (f->stream)
		p->needed = now;
	switch (f->type) {
	case ACCEL_DATA:
	case ACCEL_PACKED:
		return take_data(p, f);
	case ACCEL_PING:
		p->far_room = f->ping.value;
		peer_notify(p, &pong);
		return true;
	case ACCEL_PONG:
		p->ponged = now;
		return true;
	case ACCEL_OFFER:
		if (f->stream == ACCEL_FOLLOWERS ||
		    peer_leads(p) != (f->stream > ACCEL_FOLLOWERS) ||
		    streams_find(&p->streams, f->stream))
			return false;
		conn_offered(p->e, p, f, now);
		return true;
	case ACCEL_FOUND:
	case ACCEL_FORWARD:
		s = streams_find(&p->streams, f->stream);
		if (s)
			migrated_forwarded(s->conn, f, now);
		return true;
	case ACCEL_ACCEPT:
		return take_accept(p, f, now);
	default:
		/* A stream that ended here while the message was in transit. */
		s = streams_find(&p->streams, f->stream);
		return !s || conn_message(s->conn, f, now);
	}
}

const struct peer_ops peer_frames_ops = {
	.take = take,
	.send = conn_send,
	.turn_over = conn_turn_over,
	.gone = conn_interproxy_gone,
};
