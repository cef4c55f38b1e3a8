// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processing of a received datagram: first checks, opening, and the table of messages with
 * handlers. Called by daemon/ through overlay.h; control thread. Protocol 3.1, 3.2, 4.
 */
#include <errno.h>

#include "proto/lines/line_pairs.h"
#include "proto/measure/measure.h"
#include "proto/overlay.h"
#include "proto/session/membership.h"
#include "proto/handshake/handshake.h"
#include "proto/share/share.h"
#include "wire/bytes.h"

#define UNREADABLE_EVERY_MS 600000 /* event interval per peer */

/* --- messages --- */

/* PING and PONG carry the peer's digest of records and the sequence of its own row. */
static void compare(struct overlay *o, struct peer *p, uint64_t digest, uint32_t row_seq)
{
	sync_digest(o, p, digest);
	rows_row_seq(o, p, row_seq);
}

/* Passes a PONG to the module that sent the PING. */
static void pong(struct overlay *o, struct peer *p, const struct msg_pong *m,
		 const struct endpoint *direct_from, mono_t rx)
{
	bool direct = direct_from && endpoint_equal(direct_from, &p->ep);

	if (move_proved(o, p, m->id))
		return;
	compare(o, p, m->digest, m->row_seq);
	if (direct_from && lines_pong(o, p, direct_from, m, rx))
		return;
	if (probe_pong(o, p, m, direct, rx))
		lines_tick(o, p, overlay_now(o)); /* before paths avoid a link with data loss */
	else if (!path_probe_pong(o, p, m, rx))
		ping_pong(o, p, m, rx);
}

static void dispatch(struct overlay *o, struct peer *p, const struct msg *m,
		     const struct endpoint *from, const struct leon_hdr *h, size_t len, mono_t rx)
{
	struct via back;

	switch ((enum msg_type)m->type) {
	case MSG_SUMMARY_REQ:
		sync_summary_request(o, p);
		return;
	case MSG_SUMMARY:
		sync_summary(o, p, &m->summary);
		return;
	case MSG_FETCH:
		answer_fetch(o, p, &m->fetch);
		return;
	case MSG_RECORD:
		member_record(o, p, &m->record);
		return;
	case MSG_ROW:
	case MSG_SHORT_ROW:
		rows_take(o, p, &m->row);
		return;
	case MSG_PING:
		if (!via_back(o, from, h, &back))
			return;
		probe_ping(o, p, &m->ping, &back, len, rx);
		guard_stated_ping(o, p, &m->ping);
		compare(o, p, m->ping.digest, m->ping.row_seq);
		return;
	case MSG_PONG:
		pong(o, p, &m->pong, h->n_hops == 1 ? from : NULL, rx);
		return;
	case MSG_NOTICE:
		paths_notice(o, p, &m->notice);
		return;
	case MSG_SECRETS:
		rekey_secrets(o, p, &m->secrets);
		return;
	case MSG_CONFLICT:
		duplicate_conflict(o, p, &m->conflict);
		return;
	case MSG_GROUPS:
		multicast_take(o, p, &m->groups);
		return;
	case MSG_GROUPS_ACK:
		multicast_acked(o, p, &m->groups_ack);
		return;
	case MSG_CAPTURE_START:
	case MSG_CAPTURE_READ:
	case MSG_CAPTURE_DATA:
	case MSG_CAPTURE_LOOKUP:
	case MSG_CAPTURE_SEEN:
		if (o->ops.capture)
			o->ops.capture(o->arg, p->id, m);
		return;
	case MSG_TYPES:
	case MSG_HELLO: /* not valid inside a session */
		break;
	}
	o->count.rx_malformed++;
}

/* --- sessions --- */

static int open_any(struct overlay *o, struct peer *p, uint64_t value,
		    const struct endpoint *direct, uint8_t *data, size_t hdr_len, size_t len,
		    uint8_t **msg, size_t *msg_len)
{
	int err;

	if (p->cur && session_mine(p->cur) == value) {
		err = session_open(p->cur, data, hdr_len, len, msg, msg_len);
		if (!err && !p->cur_received)
			rekey_confirmed(o, p);
		return err;
	}
	if (p->prev && session_mine(p->prev) == value) {
		err = session_open(p->prev, data, hdr_len, len, msg, msg_len);
		if (!err)
			rekey_prev_used(o, p);
		return err;
	}
	if (p->handshake.value == value)
		return hello_open_offered(o, p, direct, data, hdr_len, len, msg, msg_len);
	return -ENOKEY;
}

/*
 * An unreadable message in a session is from a member that runs another release. If the PONGs of
 * the member are unreadable, the member has links and paths to this node, but not vice versa. An
 * event reports the reason to the operator.
 */
static void unreadable(struct overlay *o, struct peer *p, const uint8_t *msg, size_t len)
{
	mono_t now = overlay_now(o);

	o->count.rx_malformed++;
	if (mono_is_recent(p->unreadable_at, UNREADABLE_EVERY_MS, now))
		return;
	if (!bucket_pass(&o->unreadable_event, now, 10 * NS_PER_S, 60 * NS_PER_S))
		return;
	p->unreadable_at = now;
	overlay_emit(o, EV_UNREADABLE, p->id, NODE_ID_NONE, 0, len ? msg_type_name(msg[0]) : "");
}

static void session_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
			  const struct leon_hdr *h, size_t hdr_len, mono_t rx)
{
	struct rbuf envelope = rbuf_of(data + hdr_len, len - hdr_len);
	const struct endpoint *direct = h->n_hops == 1 ? from : NULL;
	uint64_t value = rbuf_u64(&envelope), counter = rbuf_u64(&envelope);
	struct peer *p = peer_find(o, h->source);
	size_t msg_len;
	bool returns;
	struct msg m;
	uint8_t *msg;
	int err = p ? open_any(o, p, value, direct, data, hdr_len, len, &msg, &msg_len) : -ENOKEY;

	if (err) {
		o->count.rx_no_session += err == -ENOKEY;
		o->count.rx_replayed += err == -EALREADY;
		o->count.rx_not_authentic += err != -ENOKEY && err != -EALREADY;
		/* The peer may not have noticed our restart. A rate-limited HELLO requests a new
		 * session. */
		if (err == -ENOKEY && p && p->slot != SLOT_NONE && !p->cur &&
		    mono_sub_ms(overlay_now(o), p->initiator.sent_at) > 1000)
			schedule_hello(o, p, 200);
		return;
	}
	if (p->slot == SLOT_NONE) /* authentic, but the node table is full */
		return;
	returns = p->unreceived;
	peer_received(o, p);
	/* Its copy of the own row is outdated. Many nodes would fetch the row after a
	 * partition. */
	if (returns)
		rows_session_up(o, p);
	if (!p->probe.up && mono_is_never(p->due[DUE_PROBE]))
		schedule_probe(o, p);
	err = msg_decode(msg, msg_len, &m);
	/* Counters of the previous session have no order relative to the current one. */
	if (direct && p->cur && session_mine(p->cur) == value &&
	    (err || m.type != MSG_PING || !lines_ping(o, p, from, &m.ping, counter)))
		move_received(o, p, from, counter);
	if (err) {
		/* Ignores unknown types, which a newer release may send. */
		if (err != -ENOMSG)
			unreadable(o, p, msg, msg_len);
		return;
	}
	o->count.rx_by_type[m.type % array_size(o->count.rx_by_type)]++;
	o->count.rx_bytes_by_type[m.type % array_size(o->count.rx_by_type)] += len;
	dispatch(o, p, &m, from, h, len, rx);
	if (p->slot != SLOT_NONE)
		schedule_arm(p);
}

/* --- entry point --- */

void overlay_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		   mono_t rx)
{
	struct leon_hdr h;
	size_t hdr_len;
	uint64_t session;

	peer_free_dropped(o);
	if (!o->started || o->leaving)
		return;
	o->count.rx_msgs++;
	o->count.rx_bytes += len;
	if (leon_decode(data, len, &h, &hdr_len) != LEON_OK ||
	    (h.kind != LEON_CONTROL && h.kind != LEON_INVITATION) || h.vni != o->vni ||
	    !leon_is_last(&h) || !leon_is_for(&h, o->self) || h.source == NODE_ID_ANY) {
		o->count.rx_malformed++;
		return;
	}
	if (h.kind == LEON_INVITATION) {
		redeem_input(o, from, data, len, &h);
		return;
	}
	if (h.flags & LEON_F_LINK_VALUE) {
		/* The datagram is addressed to relays. */
		data = leon_remove_link(data, h.n_hops);
		len -= LEON_LINK_LEN;
		hdr_len -= LEON_LINK_LEN;
	}
	if (!envelope_session(data, hdr_len, len, &session) ||
	    (session != 0 && h.source == o->self)) {
		o->count.rx_malformed++;
		return;
	}
	if (session == 0)
		hello_input(o, from, data, len, &h, hdr_len);
	else
		session_input(o, from, data, len, &h, hdr_len, rx);
	peer_free_dropped(o);
}

/* --- messages of the host --- */

int overlay_send_capture(struct overlay *o, node_id_t node, const struct msg *m)
{
	struct peer *p = peer_find(o, node);

	return p && p->slot != SLOT_NONE ? peer_send(o, p, m) : -ENOENT;
}
