// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel to leond, see accel_report.h. Pure.
 */
#include "wire/accel_report.h"

#include <errno.h>
#include <string.h>

#include "wire/bytes.h"

const char *accel_reason_word(enum accel_reason reason)
{
#define AS_WORD(id, word, sentence) [ACCEL_REASON_##id] = word,
	static const char *const words[] = { ACCEL_REASON_TABLE(AS_WORD) };
#undef AS_WORD

	return reason < ACCEL_N_REASONS ? words[reason] : NULL;
}

const char *accel_reason_sentence(enum accel_reason reason)
{
#define AS_SENTENCE(id, word, sentence) [ACCEL_REASON_##id] = sentence,
	static const char *const sentences[] = { ACCEL_REASON_TABLE(AS_SENTENCE) };
#undef AS_SENTENCE

	return reason < ACCEL_N_REASONS ? sentences[reason] : NULL;
}

const char *accel_misuse_word(enum accel_misuse m)
{
	static const char *const word[] = {
#define AS_WORD(id, word, sentence) word,
		ACCEL_MISUSES(AS_WORD)
#undef AS_WORD
	};

	return word[m];
}

const char *accel_fault_word(enum accel_fault f)
{
	static const char *const word[] = {
#define AS_WORD(id, word, sentence) word,
		ACCEL_FAULTS(AS_WORD)
#undef AS_WORD
	};

	return word[f];
}

/* --- parts --- */

static void put_misuse(struct wbuf *b, const uint64_t n[ACCEL_N_MISUSES])
{
	for (unsigned i = 0; i < ACCEL_N_MISUSES; i++)
		wbuf_u64(b, n[i]);
}

static void take_misuse(struct rbuf *b, uint64_t n[ACCEL_N_MISUSES])
{
	for (unsigned i = 0; i < ACCEL_N_MISUSES; i++)
		n[i] = rbuf_u64(b);
}

static void put_bytes(struct wbuf *b, const struct accel_bytes *n)
{
	wbuf_u64(b, n->out);
	wbuf_u64(b, n->in);
	wbuf_u64(b, n->carried_out);
	wbuf_u64(b, n->carried_in);
}

static struct accel_bytes take_bytes(struct rbuf *b)
{
	struct accel_bytes n;

	n.out = rbuf_u64(b);
	n.in = rbuf_u64(b);
	n.carried_out = rbuf_u64(b);
	n.carried_in = rbuf_u64(b);
	return n;
}

static void put_time(struct wbuf *b, const struct accel_time *t)
{
	wbuf_u64(b, t->with_ms);
	wbuf_u64(b, t->without_ms);
}

static struct accel_time take_time(struct rbuf *b)
{
	struct accel_time t;

	t.with_ms = rbuf_u64(b);
	t.without_ms = rbuf_u64(b);
	return t;
}

/* An IPv4 address is in the first 4 of the 16 bytes. */
static void take_ip(struct rbuf *b, uint8_t family, struct ip_addr *ip)
{
	static const uint8_t zero[12];
	const uint8_t *p = rbuf_take(b, 16);

	*ip = (struct ip_addr){ .family = family };
	if (!p)
		return;
	memcpy(ip->b, p, family == 4 ? 4 : 16);
	if (family == 4)
		b->ok &= memcmp(p + 4, zero, sizeof(zero)) == 0;
}

static bool take_bool(struct rbuf *b)
{
	uint8_t v = rbuf_u8(b);

	b->ok &= v <= 1;
	return v;
}

static void put_totals(struct wbuf *b, const struct accel_totals *t)
{
	wbuf_u32(b, t->tracked);
	wbuf_u32(b, t->intercepted_now);
	for (unsigned i = 0; i < ACCEL_N_REASONS; i++)
		wbuf_u32(b, t->plain[i]);
	wbuf_u64(b, t->held);
	wbuf_u64(b, t->undelivered);
	wbuf_u64(b, t->intercepted);
	wbuf_u64(b, t->returned);
	wbuf_u64(b, t->reset);
	wbuf_u64(b, t->refused);
	wbuf_u64(b, t->queue_full);
	wbuf_u64(b, t->held_dropped);
	put_misuse(b, t->misuse);
	for (unsigned i = 0; i < ACCEL_N_FAULTS; i++)
		wbuf_u64(b, t->fault[i]);
	put_bytes(b, &t->bytes);
	put_time(b, &t->time);
}

static void take_totals(struct rbuf *b, struct accel_totals *t)
{
	t->tracked = rbuf_u32(b);
	t->intercepted_now = rbuf_u32(b);
	for (unsigned i = 0; i < ACCEL_N_REASONS; i++)
		t->plain[i] = rbuf_u32(b);
	t->held = rbuf_u64(b);
	t->undelivered = rbuf_u64(b);
	t->intercepted = rbuf_u64(b);
	t->returned = rbuf_u64(b);
	t->reset = rbuf_u64(b);
	t->refused = rbuf_u64(b);
	t->queue_full = rbuf_u64(b);
	t->held_dropped = rbuf_u64(b);
	take_misuse(b, t->misuse);
	for (unsigned i = 0; i < ACCEL_N_FAULTS; i++)
		t->fault[i] = rbuf_u64(b);
	t->bytes = take_bytes(b);
	t->time = take_time(b);
}

static void put_node(struct wbuf *b, const struct accel_node *n)
{
	wbuf_u32(b, n->id);
	wbuf_u8(b, n->reached);
	wbuf_u32(b, n->intercepted_now);
	wbuf_u64(b, n->intercepted);
	wbuf_u64(b, n->returned);
	wbuf_u64(b, n->reset);
	wbuf_u64(b, n->refused);
	put_misuse(b, n->misuse);
}

static void take_node(struct rbuf *b, struct accel_node *n)
{
	n->id = rbuf_u32(b);
	n->reached = take_bool(b);
	n->intercepted_now = rbuf_u32(b);
	n->intercepted = rbuf_u64(b);
	n->returned = rbuf_u64(b);
	n->reset = rbuf_u64(b);
	n->refused = rbuf_u64(b);
	take_misuse(b, n->misuse);
}

static void put_conn(struct wbuf *b, const struct accel_conn *c)
{
	wbuf_u64(b, c->serial);
	wbuf_u16(b, c->vlan);
	wbuf_u8(b, c->near.family);
	wbuf_bytes(b, c->near.b, 16);
	wbuf_bytes(b, c->far.b, 16);
	wbuf_u16(b, c->near_port);
	wbuf_u16(b, c->far_port);
	wbuf_u32(b, c->node);
	wbuf_u8(b, c->state);
	wbuf_u32(b, c->since_ms);
	wbuf_u32(b, c->held);
	wbuf_u64(b, c->undelivered);
	wbuf_u16(b, c->times);
	wbuf_u8(b, c->reason);
	put_bytes(b, &c->bytes);
	put_time(b, &c->time);
}

static void take_conn(struct rbuf *b, struct accel_conn *c)
{
	uint8_t family;

	c->serial = rbuf_u64(b);
	c->vlan = rbuf_u16(b);
	family = rbuf_u8(b);
	b->ok &= family == 4 || family == 6;
	take_ip(b, family, &c->near);
	take_ip(b, family, &c->far);
	c->near_port = rbuf_u16(b);
	c->far_port = rbuf_u16(b);
	c->node = rbuf_u32(b);
	c->state = rbuf_u8(b);
	b->ok &= c->state < ACCEL_CONN_STATES;
	c->since_ms = rbuf_u32(b);
	c->held = rbuf_u32(b);
	c->undelivered = rbuf_u64(b);
	c->times = rbuf_u16(b);
	c->reason = rbuf_u8(b);
	b->ok &= c->reason < ACCEL_N_REASONS;
	c->bytes = take_bytes(b);
	c->time = take_time(b);
}

static void put_page(struct wbuf *b, const struct accel_page *p)
{
	wbuf_u32(b, p->ask);
	wbuf_u8(b, p->more);
	wbuf_u8(b, p->n);
	for (unsigned i = 0; i < p->n; i++)
		put_conn(b, &p->conn[i]);
}

static void take_page(struct rbuf *b, struct accel_page *p)
{
	p->ask = rbuf_u32(b);
	p->more = take_bool(b);
	p->n = rbuf_u8(b);
	b->ok &= p->n <= ACCEL_PAGE_CONNS;
	/* A page with successors is not empty, because its last connection is the start of the next
	 * page. */
	b->ok &= !p->more || p->n;
	for (unsigned i = 0; b->ok && i < p->n; i++)
		take_conn(b, &p->conn[i]);
}

bool accel_paging_goes_on(struct accel_paging *p, const struct accel_page *page)
{
	uint64_t last = page->conn[page->n - 1].serial;

	if (last <= p->behind || ++p->n > ACCEL_PAGES_MAX)
		return false;
	p->behind = last;
	return true;
}

/* --- messages --- */

size_t accel_report_encode(const struct accel_report *r, uint8_t out[ACCEL_REPORT_MAX])
{
	struct wbuf b = wbuf_of(out, ACCEL_REPORT_MAX);

	wbuf_u8(&b, r->what);
	switch (r->what) {
	case ACCEL_REPORT_TOTALS:
		put_totals(&b, &r->totals);
		break;
	case ACCEL_REPORT_NODE:
		put_node(&b, &r->node);
		break;
	case ACCEL_REPORT_PAGE:
		put_page(&b, &r->page);
		break;
	case ACCEL_REQUEST_PAGE:
		wbuf_u32(&b, r->ask.ask);
		wbuf_u64(&b, r->ask.behind);
		break;
	default:
		break;
	}
	return wbuf_len(&b);
}

int accel_report_decode(const void *data, size_t len, struct accel_report *r)
{
	struct rbuf b = rbuf_of(data, len);

	memset(r, 0, sizeof(*r));
	r->what = rbuf_u8(&b);
	switch (r->what) {
	case ACCEL_REPORT_TOTALS:
		take_totals(&b, &r->totals);
		break;
	case ACCEL_REPORT_NODE:
		take_node(&b, &r->node);
		break;
	case ACCEL_REPORT_PAGE:
		take_page(&b, &r->page);
		break;
	case ACCEL_REQUEST_PAGE:
		r->ask.ask = rbuf_u32(&b);
		r->ask.behind = rbuf_u64(&b);
		break;
	case ACCEL_REQUEST_RETURN:
		break;
	default:
		return -EBADMSG;
	}
	return b.ok && !rbuf_left(&b) ? 0 : -EBADMSG;
}
