// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shares of the table of tracked connections, see share.h.
 */
#include "peer/share.h"

#include <utlist.h>

#include "conn/conn_state.h"
#include "wire/frame/tcp.h"

bool share_is_used(const struct node_share *s, unsigned all, unsigned maximum)
{
	return all >= maximum || s->n >= maximum - all;
}

bool share_hold(struct node_share *s, int64_t bytes, int64_t all, int64_t maximum)
{
	if (bytes > 0 && s->held + bytes > maximum - all)
		return false;
	s->held += bytes;
	return true;
}

static void unlist(struct node_share *s, struct conn *c)
{
	if (!c->link.is_listed)
		return;
	DL_DELETE2(s->oldest, c, link.older, link.newer);
	c->link.is_listed = false;
}

void share_add(struct node_share *s, struct conn *c)
{
	struct share_link *l = &c->link;

	s->n++;
	if (l->near_acked && l->far_acked)
		return;
	DL_APPEND2(s->oldest, c, link.older, link.newer);
	l->is_listed = true;
}

void share_remove(struct node_share *s, struct conn *c)
{
	s->n--;
	unlist(s, c);
}

void share_note(struct node_share *s, struct conn *c, bool from_near, uint8_t flags)
{
	/* A refusal has RST, too, and ends the connection. */
	if ((flags & (TCP_ACK | TCP_RST)) != TCP_ACK)
		return;
	*(from_near ? &c->link.near_acked : &c->link.far_acked) = true;
	if (c->link.near_acked && c->link.far_acked)
		unlist(s, c);
}

struct conn *share_oldest(struct node_share *s)
{
	/* Each connection that is not plain leaves the list for good, so the loop is short. */
	while (s->oldest && s->oldest->flow.state != FLOW_PLAIN)
		unlist(s, s->oldest);
	return s->oldest;
}
