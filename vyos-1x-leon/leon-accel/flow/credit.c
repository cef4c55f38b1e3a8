// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Credit and buffers of a connection, see credit.h.
 */
#include "flow/credit.h"

#include "base/defs.h"
#include "conn/conn_state.h"
#include "flow/proxy_sock.h"

/* Undelivered bytes are in the proxy socket of the sender, in transit, and in the proxy socket of
 * the receiver. The credit bounds the bytes in transit. Most parts of the limit belong to the
 * credit, because it limits the bytes of a round trip. */
#define UNDELIVERED_PARTS 16
#define CREDIT_PARTS	  12
#define RECEIVE_PARTS	  1
#define RECEIVE_PARTS_MAX 3
#define SEND_PARTS	  1
#define PORTIONS	  16 /* of a share. The credit of the last portion is unused. */

static uint32_t credit_of_one(const struct engine *e)
{
	uint32_t share = CREDIT_ALL / max_of(e->n_intercepted, 1u);

	share = min_of(share, e->settings.undelivered / UNDELIVERED_PARTS * CREDIT_PARTS);
	return max_of(share, CREDIT_MIN);
}

uint32_t credit_due(const struct conn *c)
{
	uint32_t share = credit_of_one(c->e), has = c->window.given + (uint32_t)c->in.len;
	int64_t left = max_of((int64_t)CREDIT_ALL - c->e->promised, (int64_t)0);
	uint32_t least = CREDIT_MIN > has ? CREDIT_MIN - has : 0;
	uint32_t due = share > has ? share - has : 0;
	uint32_t portion = left > share ? share / PORTIONS : 0;

	if (due > left)
		due = max_of((uint32_t)left, min_of(least, due));
	/* Credit is granted in large portions. */
	return due < max_of(portion, (uint32_t)CREDIT_MIN / 4) ? 0 : due;
}

uint32_t credit_receive_window(const struct conn *c)
{
	const struct flow *f = &c->flow;
	uint32_t part = c->e->settings.undelivered / UNDELIVERED_PARTS;

	return min_of(part * RECEIVE_PARTS + 2 * flow_held(f), part * RECEIVE_PARTS_MAX);
}

uint32_t credit_send_buffer(const struct conn *c)
{
	return c->e->settings.undelivered / UNDELIVERED_PARTS * SEND_PARTS;
}

uint64_t conn_undelivered(const struct conn *c)
{
	uint64_t to_far = c->window.largest - min_of(c->window.largest, c->window.may_send);

	if (c->socket.fd < 0)
		return 0;
	return proxy_sock_unread(c->socket.fd) + to_far + c->in.len +
	       proxy_sock_unacknowledged(c->socket.fd);
}
