// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages between accelerators, see accel.h. leon-accel calls it for all input of an inter-proxy
 * connection.
 */
#include "wire/accel.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/frame/eth.h"
#include "wire/frame/ip.h"
#include "wire/frame/tcp.h"

#define F_SCALING 0x01
#define F_SACK	  0x02
#define F_FIN	  0x04
#define F_TS	  0x08

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
	return memcmp(ip + V6_SRC, src.b, V6_LEN) == 0 && memcmp(ip + V6_DST, dst.b, V6_LEN) == 0 &&
	       (get_u16(frame + v->l4_offset) == ACCEL_PORT ||
		get_u16(frame + v->l4_offset + 2) == ACCEL_PORT);
}

static void code_ip(struct codec *b, uint8_t family, struct ip_addr *ip)
{
	if (b->in)
		*ip = (struct ip_addr){ .family = family };
	code_bytes(b, ip->b, family == 4 ? 4 : 16);
}

static void code_flags(struct codec *b, struct accel_end *e)
{
	uint8_t flags = (uint8_t)((e->syn.scaling ? F_SCALING : 0) | (e->syn.sack ? F_SACK : 0) |
				  (e->fin ? F_FIN : 0) | (e->has_ts ? F_TS : 0));

	code_u8(b, &flags);
	if (!b->in)
		return;
	e->syn.scaling = flags & F_SCALING;
	e->syn.sack = flags & F_SACK;
	e->fin = flags & F_FIN;
	e->has_ts = flags & F_TS;
	b->in->ok &= !(flags & ~(F_SCALING | F_SACK | F_FIN | F_TS));
}

static void code_end(struct codec *b, struct accel_end *e)
{
	code_u32(b, &e->seq);
	code_u32(b, &e->ack);
	code_u32(b, &e->ts_val);
	code_u8(b, &e->syn.scale);
	if (b->in)
		b->in->ok &= e->syn.scale <= TCP_SCALE_MAX || e->syn.scale == TCP_SCALE_UNKNOWN;
	code_flags(b, e);
	code_u16(b, &e->syn.mss);
}

static void code_view(struct codec *b, struct accel_view *v)
{
	code_end(b, &v->near);
	code_end(b, &v->far);
}

static void code_key(struct codec *b, struct accel_key *k)
{
	uint8_t family = k->near.family;

	code_u16(b, &k->vlan);
	code_u8(b, &family);
	if (b->in && (k->vlan > 4094 || (family != 4 && family != 6))) {
		b->in->ok = false;
		return;
	}
	code_ip(b, family, &k->near);
	code_ip(b, family, &k->far);
	code_u16(b, &k->near_port);
	code_u16(b, &k->far_port);
}

static void code_body(struct codec *b, struct accel_frame *f)
{
	switch (f->type) {
	case ACCEL_HELLO:
		code_u8(b, &f->hello.version);
		code_u32(b, &f->hello.node);
		code_u8(b, &f->hello.window_log);
		break;
	case ACCEL_OFFER:
		code_key(b, &f->offer.key);
		code_view(b, &f->offer.view);
		break;
	case ACCEL_ACCEPT:
		code_view(b, &f->offer.view);
		break;
	case ACCEL_RELEASE:
	case ACCEL_RELEASED:
		code_u32(b, &f->at.point);
		break;
	case ACCEL_REFUSE:
		code_u8(b, &f->refuse.reason);
		break;
	case ACCEL_CREDIT:
		code_u32(b, &f->credit.bytes);
		break;
	case ACCEL_PING:
	case ACCEL_PONG:
		code_u64(b, &f->ping.value);
		break;
	default: /* types without a body or with data */
		break;
	}
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

/* Decodes the body of a message. Returns false if it does not match the type. */
static bool read_body(const uint8_t *body, size_t len, struct accel_frame *f)
{
	struct rbuf b = rbuf_of(body, len);

	if (accel_has_data(f->type)) {
		f->data.data = body;
		f->data.len = len;
		return len > 0;
	}
	code_body(&(struct codec){ .in = &b }, f);
	return b.ok && !rbuf_left(&b);
}

enum accel_parse accel_decode(const void *data, size_t len, struct accel_frame *f, size_t *used)
{
	const uint8_t *p = data;
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
	if (!read_body(p + ACCEL_HDR_LEN, body_len, f))
		return ACCEL_BAD;
	*used = ACCEL_HDR_LEN + body_len;
	return ACCEL_OK;
}

size_t accel_encode(const struct accel_frame *f, void *out)
{
	struct wbuf b = wbuf_of(out, ACCEL_SMALL_MAX);
	bool has_data = accel_has_data(f->type);
	size_t body_len;

	wbuf_u8(&b, f->type);
	wbuf_u32(&b, f->stream);
	wbuf_u24(&b, 0);
	/* A codec that writes does not change the frame. */
	code_body(&(struct codec){ .out = &b }, (struct accel_frame *)f);
	body_len = has_data ? f->data.len : wbuf_len(&b) - ACCEL_HDR_LEN;
	put_u24((uint8_t *)out + 5, (uint32_t)body_len);
	return wbuf_len(&b);
}
