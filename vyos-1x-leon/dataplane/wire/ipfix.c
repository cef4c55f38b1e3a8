// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes IPFIX messages, see ipfix.h. Pure.
 */
#include "wire/ipfix.h"

#include "base/defs.h"

#define VERSION	      10
#define SET_HDR	      4
#define RECORD_MAX    (94 + IPFIX_TEXT_MAX)
#define RANDOM_N_OF_N 3 /* random n-out-of-N sampling (RFC 5477 section 8.2.1) */

enum set_id { SET_TEMPLATE = 2, SET_OPTIONS = 3, SET_V4 = 256, SET_V6 = 257, SET_SAMPLING = 258 };

struct field {
	uint16_t id, len;
};

/* Fields of a flow behind the addresses, in the order of write_flow(). */
static const struct field flow_fields[] = {
	{ 7, 2 },		/* sourceTransportPort */
	{ 11, 2 },		/* destinationTransportPort */
	{ 4, 1 },		/* protocolIdentifier */
	{ 58, 2 },		/* vlanId */
	{ 56, 6 },		/* sourceMacAddress */
	{ 1, 8 },		/* octetDeltaCount */
	{ 2, 8 },		/* packetDeltaCount */
	{ 152, 8 },		/* flowStartMilliseconds */
	{ 153, 8 },		/* flowEndMilliseconds */
	{ 136, 1 },		/* flowEndReason */
	{ 10, 4 },		/* ingressInterface: node-id of the source */
	{ 14, 4 },		/* egressInterface: node-id of the destination */
	{ 15, 4 },		/* ipNextHopIPv4Address: node-id of the first hop */
	{ 530, 4 },		/* pathDelayMeanDeltaMicroseconds */
	{ 83, IPFIX_TEXT_MAX }, /* interfaceDescription: path, loss and rule */
};

/* The first field is the scope. The last three repeat the sampling for collectors that do not know
 * samplingPopulation. */
static const struct field sampling_fields[] = {
	{ 302, 4 }, /* selectorId */
	{ 304, 2 }, /* selectorAlgorithm */
	{ 309, 4 }, /* samplingSize */
	{ 310, 4 }, /* samplingPopulation */
	{ 34, 4 },  /* samplingInterval */
	{ 305, 4 }, /* samplingPacketInterval */
	{ 306, 4 }, /* samplingPacketSpace */
};

static void close_set(struct ipfix *x)
{
	if (x->set)
		put_u16(x->set + 2, (uint16_t)(x->w.p - x->set));
	x->set = NULL;
}

static void open_set(struct ipfix *x, uint16_t id)
{
	if (x->set && x->set_id == id)
		return;
	close_set(x);
	x->set = x->w.p;
	x->set_id = id;
	wbuf_u16(&x->w, id);
	wbuf_u16(&x->w, 0);
}

void ipfix_begin(struct ipfix *x, node_id_t domain, uint32_t now_s)
{
	x->w = wbuf_of(x->buf, sizeof(x->buf));
	x->set = NULL;
	x->records = 0;
	x->domain = domain;
	wbuf_u16(&x->w, VERSION);
	wbuf_u16(&x->w, 0); /* length */
	wbuf_u32(&x->w, now_s);
	wbuf_u32(&x->w, x->sequence);
	wbuf_u32(&x->w, domain);
}

static void write_fields(struct wbuf *w, const struct field *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		wbuf_u16(w, f[i].id);
		wbuf_u16(w, f[i].len);
	}
}

static void write_template(struct wbuf *w, uint16_t id, const struct field addresses[2])
{
	wbuf_u16(w, id);
	wbuf_u16(w, 2 + array_size(flow_fields));
	write_fields(w, addresses, 2);
	write_fields(w, flow_fields, array_size(flow_fields));
}

bool ipfix_add_templates(struct ipfix *x, uint32_t population)
{
	static const struct field v4[] = { { 8, 4 }, { 12, 4 } }, v6[] = { { 27, 16 }, { 28, 16 } };
	struct wbuf *w = &x->w;

	if (x->set)
		return false;
	open_set(x, SET_TEMPLATE);
	write_template(w, SET_V4, v4);
	write_template(w, SET_V6, v6);
	open_set(x, SET_OPTIONS);
	wbuf_u16(w, SET_SAMPLING);
	wbuf_u16(w, array_size(sampling_fields));
	wbuf_u16(w, 1); /* fields of the scope */
	write_fields(w, sampling_fields, array_size(sampling_fields));
	open_set(x, SET_SAMPLING);
	wbuf_u32(w, 0);
	wbuf_u16(w, RANDOM_N_OF_N);
	wbuf_u32(w, 1);
	wbuf_u32(w, population);
	wbuf_u32(w, population);
	wbuf_u32(w, 1);
	wbuf_u32(w, population - 1);
	x->records++;
	return true;
}

static void write_flow(struct wbuf *w, node_id_t self, const struct ipfix_record *r)
{
	const struct sampled_flow *f = r->flow;
	const struct flow_key *k = &f->key;
	size_t n = k->version == 4 ? 4 : 16, len = strnlen(r->text, IPFIX_TEXT_MAX);

	wbuf_bytes(w, k->src, n);
	wbuf_bytes(w, k->dst, n);
	wbuf_u16(w, k->src_port);
	wbuf_u16(w, k->dst_port);
	wbuf_u8(w, k->protocol);
	wbuf_u16(w, k->vlan);
	wbuf_bytes(w, f->src.b, sizeof(f->src.b));
	wbuf_u64(w, f->octets);
	wbuf_u64(w, f->packets);
	wbuf_u64(w, (uint64_t)r->first_ms);
	wbuf_u64(w, (uint64_t)r->last_ms);
	wbuf_u8(w, (uint8_t)r->end);
	wbuf_u32(w, self);
	wbuf_u32(w, k->node);
	wbuf_u32(w, r->next);
	wbuf_u32(w, r->delay_us);
	wbuf_bytes(w, r->text, len);
	for (; len < IPFIX_TEXT_MAX; len++)
		wbuf_u8(w, 0);
}

bool ipfix_add(struct ipfix *x, const struct ipfix_record *r)
{
	if (wbuf_left(&x->w) < SET_HDR + RECORD_MAX)
		return false;
	open_set(x, r->flow->key.version == 4 ? SET_V4 : SET_V6);
	write_flow(&x->w, x->domain, r);
	x->records++;
	return true;
}

size_t ipfix_end(struct ipfix *x)
{
	size_t len = wbuf_len(&x->w);

	if (!x->set)
		return 0;
	close_set(x);
	put_u16(x->buf + 2, (uint16_t)len);
	x->sequence += x->records;
	return len;
}
