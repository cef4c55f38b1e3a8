// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ROW and SHORT-ROW: the latency row of one origin, with fixed fields or with short entries. See
 * msg.h. Called by msg.c, and by state/latency/ to split a row into messages. Pure.
 */
#include "wire/message/msg.h"

#include "base/defs.h"
#include "wire/bytes.h"
#include "wire/message/msg_parts.h"

#define LOSS_MAX     1000
#define ENTRY_UP     0x8000
#define ENTRY_SILENT 0x4000
#define ENTRY_LOSS   0x03ff

/* Entry of SHORT-ROW: four flags and a time. */
#define SHORT_UP       0x8000
#define SHORT_SILENT   0x4000
#define SHORT_LOSS     0x2000 /* a loss follows */
#define SHORT_MTU      0x1000 /* an MTU follows, other than that of the message */
#define SHORT_TIME     0x0fff
#define DIFFERENCE_MAX 127
#define FAR	       (-128) /* no difference: the time follows */

static bool valid_common(const struct msg_row *r, unsigned most)
{
	if (r->origin == NODE_ID_NONE || r->seq == 0 || r->base >= r->seq ||
	    r->incarnation > MSG_INCARNATION_MAX)
		return false;
	if (!are_parts_valid(r->part, r->parts) || r->n > most)
		return false;
	for (size_t i = 0; i < r->n; i++)
		if (r->entry[i].node == NODE_ID_NONE || r->entry[i].link.loss_pm > LOSS_MAX)
			return false;
	return true;
}

static void code_head(struct codec *b, struct msg_row *r)
{
	code_u32(b, &r->origin);
	code_u64(b, &r->incarnation);
	code_u32(b, &r->seq);
	code_u32(b, &r->base);
}

/* --- ROW --- */

bool row_valid(const struct msg *m)
{
	return valid_common(&m->row, MSG_ROW_MAX);
}

static void code_time(struct codec *b, uint32_t *us)
{
	if (b->in)
		*us = rbuf_u24(b->in);
	else
		wbuf_u24(b->out, min_of(*us, U24_MAX));
}

static void code_state(struct codec *b, struct lat_entry *e)
{
	uint16_t state = (uint16_t)((e->up ? ENTRY_UP : 0) |
				    (e->up && e->silent ? ENTRY_SILENT : 0) | e->loss_pm);

	code_u16(b, &state);
	if (!b->in)
		return;
	e->up = state & ENTRY_UP;
	e->silent = e->up && (state & ENTRY_SILENT);
	e->loss_pm = state & ENTRY_LOSS;
}

void row_code(struct codec *b, struct msg *m)
{
	struct msg_row *r = &m->row;

	code_head(b, r);
	code_u16(b, &r->part);
	code_u16(b, &r->parts);
	for (unsigned i = 0, n = code_count16(b, &r->n, MSG_ROW_MAX); i < n; i++) {
		struct lat_entry *e = &r->entry[i].link;

		code_u32(b, &r->entry[i].node);
		code_state(b, e);
		code_time(b, &e->rtt_us);
		code_time(b, &e->long_term_us);
		code_time(b, &e->var_us);
		code_u16(b, &e->mtu);
	}
}

/* --- times of SHORT-ROW: exponent and mantissa, as in a floating-point number --- */

#define TIME_BITS 7
#define TIME_MAX  (17 << TIME_BITS | 127) /* 16.7 s */
#define VAR_BITS  4
#define VAR_MAX	  0xff /* 8.1 s */
#define VAR_UNIT  16   /* us */

/* Returns the nearest number with `bits` of mantissa; the codes are ordered as their values. */
static uint32_t code_of(uint32_t value, unsigned bits, uint32_t most)
{
	unsigned shift = 0;

	value = min_of(value, U24_MAX);
	while (value >> shift >= 2u << bits)
		shift++;
	if (shift)
		value += 1u << (shift - 1);
	if (value >> shift >= 2u << bits)
		shift++;
	value >>= shift;
	if (value < 1u << bits)
		return value;
	return min_of((shift + 1) << bits | (value - (1u << bits)), most);
}

static uint32_t value_of(uint32_t code, unsigned bits)
{
	uint32_t mantissa = code & ((1u << bits) - 1), exponent = code >> bits;

	return exponent ? (mantissa | 1u << bits) << (exponent - 1) : mantissa;
}

static uint32_t time_code(uint32_t us)
{
	return code_of(us, TIME_BITS, TIME_MAX);
}

static uint8_t var_code(uint32_t us)
{
	return (uint8_t)code_of((min_of(us, U24_MAX) + VAR_UNIT / 2) / VAR_UNIT, VAR_BITS, VAR_MAX);
}

/* Returns the difference of the codes, or FAR. */
static int difference(const struct lat_entry *e)
{
	int by = (int)time_code(e->long_term_us) - (int)time_code(e->rtt_us);

	return by < -DIFFERENCE_MAX || by > DIFFERENCE_MAX ? FAR : by;
}

/* --- numbers of variable length: 7 bits an octet, the first octets with 0x80 --- */

static void write_number(struct wbuf *b, uint32_t v)
{
	for (unsigned shift = 28; shift; shift -= 7)
		if (v >> shift)
			wbuf_u8(b, (uint8_t)(0x80 | v >> shift));
	wbuf_u8(b, v & 0x7f);
}

/* Refuses 0, a number above 32 bits, and a longer form than necessary. */
static uint32_t read_number(struct rbuf *b)
{
	uint64_t v = 0;
	uint8_t octet;

	do {
		octet = rbuf_u8(b);
		v = v << 7 | (octet & 0x7f);
		b->ok = b->ok && v && v <= UINT32_MAX;
	} while (b->ok && octet & 0x80);
	return (uint32_t)v;
}

/* --- SHORT-ROW --- */

static bool valid_short_entry(const struct msg_row *r, size_t i)
{
	const struct row_entry *e = &r->entry[i];

	return (!i || e->node > r->entry[i - 1].node) && (e->link.up || !e->link.silent);
}

bool short_row_valid(const struct msg *m)
{
	if (!valid_common(&m->row, MSG_SHORT_ROW_MAX))
		return false;
	for (size_t i = 0; i < m->row.n; i++)
		if (!valid_short_entry(&m->row, i))
			return false;
	return true;
}

/* Refuses an entry in another form than that of write_entry(). */
static void read_entry(struct rbuf *b, const struct msg_row *r, node_id_t before,
		       struct row_entry *entry)
{
	struct lat_entry *e = &entry->link;
	uint32_t step = read_number(b);
	uint16_t word = rbuf_u16(b);
	uint32_t code = word & SHORT_TIME, long_term;
	int by = (int8_t)rbuf_u8(b);

	b->ok = b->ok && step <= UINT32_MAX - before && code <= TIME_MAX;
	entry->node = before + step;
	e->up = word & SHORT_UP;
	e->silent = word & SHORT_SILENT;
	e->rtt_us = value_of(min_of(code, (uint32_t)TIME_MAX), TIME_BITS);
	long_term = by == FAR ? rbuf_u16(b) : (uint32_t)((int)code + by);
	b->ok = b->ok && long_term <= TIME_MAX;
	e->long_term_us = value_of(min_of(long_term, (uint32_t)TIME_MAX), TIME_BITS);
	b->ok = b->ok && difference(e) == by;
	e->var_us = value_of(rbuf_u8(b), VAR_BITS) * VAR_UNIT;
	e->loss_pm = word & SHORT_LOSS ? rbuf_u16(b) : 0;
	e->mtu = word & SHORT_MTU ? rbuf_u16(b) : r->mtu;
	b->ok = b->ok && (!(word & SHORT_LOSS) || e->loss_pm) &&
		(!(word & SHORT_MTU) || e->mtu != r->mtu);
}

static void write_entry(struct wbuf *b, uint16_t mtu, node_id_t before,
			const struct row_entry *entry)
{
	const struct lat_entry *e = &entry->link;
	int by = difference(e);

	write_number(b, entry->node - before);
	wbuf_u16(b, (uint16_t)((e->up ? SHORT_UP : 0) | (e->silent ? SHORT_SILENT : 0) |
			       (e->loss_pm ? SHORT_LOSS : 0) | (e->mtu != mtu ? SHORT_MTU : 0) |
			       time_code(e->rtt_us)));
	wbuf_u8(b, (uint8_t)by);
	if (by == FAR)
		wbuf_u16(b, (uint16_t)time_code(e->long_term_us));
	wbuf_u8(b, var_code(e->var_us));
	if (e->loss_pm)
		wbuf_u16(b, e->loss_pm);
	if (e->mtu != mtu)
		wbuf_u16(b, e->mtu);
}

unsigned short_row_entry_len(const struct row_entry *e, node_id_t before, uint16_t mtu)
{
	uint8_t buf[SHORT_ENTRY_MAX];
	struct wbuf b = wbuf_of(buf, sizeof(buf));

	write_entry(&b, mtu, before, e);
	return (unsigned)wbuf_len(&b);
}

/* SHORT-ROW has 8 bits of some numbers. */
static void code_octet(struct codec *b, uint16_t *v)
{
	uint8_t octet = (uint8_t)*v;

	code_u8(b, &octet);
	if (b->in)
		*v = octet;
}

void short_row_code(struct codec *b, struct msg *m)
{
	struct msg_row *r = &m->row;

	code_head(b, r);
	code_octet(b, &r->part);
	code_octet(b, &r->parts);
	code_u16(b, &r->set);
	code_u16(b, &r->mtu);
	code_octet(b, &r->n);
	for (unsigned i = 0, n = code_fits(b, r->n, MSG_SHORT_ROW_MAX); i < n; i++) {
		node_id_t before = i ? r->entry[i - 1].node : 0;

		if (b->in)
			read_entry(b->in, r, before, &r->entry[i]);
		else
			write_entry(b->out, r->mtu, before, &r->entry[i]);
	}
}
