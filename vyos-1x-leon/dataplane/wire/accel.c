// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages between accelerators, see accel.h. leon-accel calls it for all input of an inter-proxy
 * connection.
 */
#include "wire/accel.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/eth.h"
#include "wire/frame/tcp.h"

#define F_SCALING 0x01
#define F_SACK	  0x02
#define F_FIN	  0x04
#define F_TS	  0x08

#define V6_HDR_LEN 40
#define PROTO_TCP  6

struct ip_addr accel_address(node_id_t id)
{
	static const uint8_t prefix[6] = { 0xfd, 0x6c, 0x65, 0x6f, 0x6e, 0 };
	struct ip_addr a = { .family = 6 };

	memcpy(a.b, prefix, sizeof(prefix));
	put_u32(a.b + 12, id);
	return a;
}

bool accel_is_between(const uint8_t *frame, size_t len, const struct eth_view *v, node_id_t from,
		      node_id_t to)
{
	const struct ip_addr src = accel_address(from), dst = accel_address(to);
	const uint8_t *ip = frame + v->l3_offset;

	if (v->ip_version != 6 || v->ip_proto != PROTO_TCP || v->ip_fragment ||
	    v->l3_offset != ETH_HDR_LEN || v->l4_offset != ETH_HDR_LEN + V6_HDR_LEN ||
	    len < v->l4_offset + (size_t)TCP_HDR_MIN)
		return false;
	return memcmp(ip + 8, src.b, 16) == 0 && memcmp(ip + 24, dst.b, 16) == 0 &&
	       (get_u16(frame + v->l4_offset) == ACCEL_PORT ||
		get_u16(frame + v->l4_offset + 2) == ACCEL_PORT);
}

static void put_ip(struct wbuf *b, const struct ip_addr *ip)
{
	wbuf_bytes(b, ip->b, ip->family == 4 ? 4 : 16);
}

static void get_ip(struct rbuf *b, uint8_t family, struct ip_addr *ip)
{
	const uint8_t *p = rbuf_take(b, family == 4 ? 4 : 16);

	*ip = (struct ip_addr){ .family = family };
	if (p)
		memcpy(ip->b, p, family == 4 ? 4 : 16);
}

static void put_end(struct wbuf *b, const struct accel_end *e)
{
	wbuf_u32(b, e->seq);
	wbuf_u32(b, e->ack);
	wbuf_u32(b, e->ts_val);
	wbuf_u8(b, e->syn.scale);
	wbuf_u8(b, (uint8_t)((e->syn.scaling ? F_SCALING : 0) | (e->syn.sack ? F_SACK : 0) |
			     (e->fin ? F_FIN : 0) | (e->has_ts ? F_TS : 0)));
	wbuf_u16(b, e->syn.mss);
}

static void get_end(struct rbuf *b, struct accel_end *e)
{
	uint8_t flags;

	e->seq = rbuf_u32(b);
	e->ack = rbuf_u32(b);
	e->ts_val = rbuf_u32(b);
	e->syn.scale = rbuf_u8(b);
	flags = rbuf_u8(b);
	e->syn.scaling = flags & F_SCALING;
	e->syn.sack = flags & F_SACK;
	e->fin = flags & F_FIN;
	e->has_ts = flags & F_TS;
	e->syn.mss = rbuf_u16(b);
	b->ok &= (e->syn.scale <= TCP_SCALE_MAX || e->syn.scale == TCP_SCALE_UNKNOWN) &&
		 !(flags & ~(F_SCALING | F_SACK | F_FIN | F_TS));
}

static void put_view(struct wbuf *b, const struct accel_view *v)
{
	put_end(b, &v->near);
	put_end(b, &v->far);
}

static void get_view(struct rbuf *b, struct accel_view *v)
{
	get_end(b, &v->near);
	get_end(b, &v->far);
}

static void put_key(struct wbuf *b, const struct accel_key *k)
{
	wbuf_u16(b, k->vlan);
	wbuf_u8(b, k->near.family);
	put_ip(b, &k->near);
	put_ip(b, &k->far);
	wbuf_u16(b, k->near_port);
	wbuf_u16(b, k->far_port);
}

static void get_key(struct rbuf *b, struct accel_key *k)
{
	uint8_t family;

	k->vlan = rbuf_u16(b);
	family = rbuf_u8(b);
	if (k->vlan > 4094 || (family != 4 && family != 6)) {
		b->ok = false;
		return;
	}
	get_ip(b, family, &k->near);
	get_ip(b, family, &k->far);
	k->near_port = rbuf_u16(b);
	k->far_port = rbuf_u16(b);
}

static void get_hello(struct rbuf *b, struct accel_frame *f)
{
	f->hello.version = rbuf_u8(b);
	f->hello.node = rbuf_u32(b);
	f->hello.window_log = rbuf_u8(b);
}

/* Decodes the body of a message. Returns false if it does not match the type. */
static bool get_body(struct rbuf *b, struct accel_frame *f)
{
	switch (f->type) {
	case ACCEL_HELLO:
		get_hello(b, f);
		break;
	case ACCEL_OFFER:
		get_key(b, &f->offer.key);
		get_view(b, &f->offer.view);
		break;
	case ACCEL_ACCEPT:
		get_view(b, &f->offer.view);
		break;
	case ACCEL_RELEASE:
	case ACCEL_RELEASED:
		f->at.point = rbuf_u32(b);
		break;
	case ACCEL_REFUSE:
		f->refuse.reason = rbuf_u8(b);
		break;
	case ACCEL_CREDIT:
		f->credit.bytes = rbuf_u32(b);
		break;
	case ACCEL_PING:
	case ACCEL_PONG:
		f->ping.value = rbuf_u64(b);
		break;
	case ACCEL_DATA:
	case ACCEL_PACKED:
	case ACCEL_FOUND:
	case ACCEL_FORWARD:
		f->data.len = rbuf_left(b);
		f->data.data = rbuf_take(b, f->data.len);
		return f->data.len > 0;
	default: /* types without a body */
		break;
	}
	return b->ok && !rbuf_left(b);
}

static bool belongs_to_stream(uint8_t type)
{
	return type != ACCEL_HELLO && type != ACCEL_PING && type != ACCEL_PONG;
}

bool accel_has_data(uint8_t type)
{
	return type == ACCEL_DATA || type == ACCEL_PACKED || type == ACCEL_FOUND ||
	       type == ACCEL_FORWARD;
}

enum accel_parse accel_decode(const void *data, size_t len, struct accel_frame *f, size_t *used)
{
	const uint8_t *p = data;
	struct rbuf body;
	size_t body_len;

	if (len < ACCEL_HDR_LEN)
		return ACCEL_MORE;
	*f = (struct accel_frame){ .type = p[0], .stream = get_u32(p + 1) };
	body_len = get_u24(p + 5);
	if (!f->type || f->type >= ACCEL_TYPES || body_len > ACCEL_BODY_MAX ||
	    belongs_to_stream(f->type) != (f->stream != 0))
		return ACCEL_BAD;
	if (len - ACCEL_HDR_LEN < body_len)
		return ACCEL_MORE;
	body = rbuf_of(p + ACCEL_HDR_LEN, body_len);
	if (!get_body(&body, f))
		return ACCEL_BAD;
	*used = ACCEL_HDR_LEN + body_len;
	return ACCEL_OK;
}

static void put_body(struct wbuf *b, const struct accel_frame *f)
{
	switch (f->type) {
	case ACCEL_HELLO:
		wbuf_u8(b, f->hello.version);
		wbuf_u32(b, f->hello.node);
		wbuf_u8(b, f->hello.window_log);
		break;
	case ACCEL_OFFER:
		put_key(b, &f->offer.key);
		put_view(b, &f->offer.view);
		break;
	case ACCEL_ACCEPT:
		put_view(b, &f->offer.view);
		break;
	case ACCEL_RELEASE:
	case ACCEL_RELEASED:
		wbuf_u32(b, f->at.point);
		break;
	case ACCEL_REFUSE:
		wbuf_u8(b, f->refuse.reason);
		break;
	case ACCEL_CREDIT:
		wbuf_u32(b, f->credit.bytes);
		break;
	case ACCEL_PING:
	case ACCEL_PONG:
		wbuf_u64(b, f->ping.value);
		break;
	default:
		break;
	}
}

size_t accel_encode(const struct accel_frame *f, void *out)
{
	struct wbuf b = wbuf_of(out, ACCEL_SMALL_MAX);
	bool has_data = accel_has_data(f->type);
	size_t body_len;

	wbuf_u8(&b, f->type);
	wbuf_u32(&b, f->stream);
	wbuf_u24(&b, 0);
	put_body(&b, f);
	body_len = has_data ? f->data.len : wbuf_len(&b) - ACCEL_HDR_LEN;
	put_u24((uint8_t *)out + 5, (uint32_t)body_len);
	return wbuf_len(&b);
}
