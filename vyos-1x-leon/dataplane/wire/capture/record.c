// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See record.h.
 */
#include "wire/capture/record.h"

#include <errno.h>

#include "wire/bytes.h"

const char *capture_place_name(uint8_t place)
{
	static const char *const name[CAPTURE_PLACES] = { [CAPTURE_FROM_TAP] = "from-tap",
							  [CAPTURE_SENT] = "sent",
							  [CAPTURE_RELAYED] = "relayed",
							  [CAPTURE_TO_TAP] = "to-tap" };

	return place < CAPTURE_PLACES && name[place] ? name[place] : "unknown";
}

size_t capture_record_write(const struct capture_record *r, const uint8_t *bytes, uint8_t *out,
			    size_t out_len)
{
	struct wbuf b = wbuf_of(out, out_len);

	wbuf_u32(&b, r->at_us);
	wbuf_u8(&b, r->place);
	wbuf_u8(&b, r->flags);
	wbuf_u8(&b, r->n_hops);
	wbuf_u32(&b, r->source);
	for (unsigned i = 0; i < r->n_hops; i++)
		wbuf_u32(&b, r->hop[i]);
	if (r->flags & CAPTURE_SEALED)
		wbuf_u64(&b, r->nonce);
	wbuf_u32(&b, r->len);
	wbuf_u16(&b, r->n);
	wbuf_bytes(&b, bytes, r->n);
	return b.ok ? wbuf_len(&b) : 0;
}

int capture_record_read(const uint8_t *stream, size_t len, struct capture_record *r,
			const uint8_t **bytes)
{
	struct rbuf b = rbuf_of(stream, len);

	*r = (struct capture_record){ .at_us = rbuf_u32(&b) };
	r->place = rbuf_u8(&b);
	r->flags = rbuf_u8(&b);
	r->n_hops = rbuf_u8(&b);
	if (!b.ok)
		return 0;
	if (!r->place || r->place >= CAPTURE_PLACES || r->n_hops > LEON_HOPS_MAX)
		return -EBADMSG;
	r->source = rbuf_u32(&b);
	for (unsigned i = 0; i < r->n_hops; i++)
		r->hop[i] = rbuf_u32(&b);
	if (r->flags & CAPTURE_SEALED)
		r->nonce = rbuf_u64(&b);
	r->len = rbuf_u32(&b);
	r->n = rbuf_u16(&b);
	if (b.ok && (r->n > CAPTURE_SNAP_MAX || r->n > r->len))
		return -EBADMSG;
	*bytes = rbuf_take(&b, r->n);
	return b.ok ? (int)(len - rbuf_left(&b)) : 0;
}
