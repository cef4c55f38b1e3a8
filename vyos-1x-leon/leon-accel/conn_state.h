// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a connection that is followed consists of, for conn.c (its stand-in and its bytes) and
 * conns.c (the table of all, and time). One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conn.h"
#include "engine.h"
#include "fifo.h"
#include "flow.h"
#include "here.h"
#include "meter.h"
#include "peer.h"
#include "saving.h"
#include "share.h"

struct conn {
	struct engine *e;
	struct accel_peer *peer;
	struct share_link link;
	struct flow flow;
	unsigned hash;
	node_id_t far_at; /* the far host is there now, not behind the peer; 0: it is */
	bool near_away;	  /* the near host is behind another node now */
	mono_t met;	  /* since when it is there */
	struct here together;
	uint8_t finds;	/* so many times more both are asked where they are */
	uint32_t bound; /* stream that the peer knows this by; 0: none */
	/* Of the stand-in. */
	int fd;		/* -1: none */
	bool started;	/* it is part of the connection */
	mono_t made;	/* the proxy socket */
	int remembered; /* in the file; -1: not */
	uint8_t asks;	/* so many more of a host that may not know that it was reset */
	bool asks_both; /* the far one too */
	uint32_t watched;
	struct fifo in;	       /* for the near host */
	uint32_t written;      /* bytes of the far host that the stand-in has, modulo 2^32 */
	uint32_t may_send;     /* credit */
	uint32_t credit;       /* the most that it was: bytes that the other end may have */
	uint32_t given;	       /* credit that the other end has not used */
	uint32_t freed;	       /* of it that was used, and not given anew yet */
	bool far_fin, fin_out; /* the far host has no more; the stand-in was told */
	bool near_eof;
	bool lingers; /* both are done, and the near host has not read all */
	/* While it was taken. */
	struct accel_bytes bytes;
	struct saving saving;
	struct meter through[2]; /* by direction: what the stand-in gave and got */
	mono_t gained;		 /* when it last brought what it would not bring by itself */
	uint64_t serial;
	uint16_t times; /* it was taken */
	/* While it is plain. */
	struct meter plain[2]; /* by direction */
	bool calm;	       /* it was given back while it brought little */
	uint8_t why;	       /* enum accel_why, at its last frame */
	uint8_t refused;       /* enum accel_why: of the last REFUSE for it; 0: there was none */
};

extern const struct flow_ops conn_ops;
/* Forgets stand-in and stream; the descriptor stays open. */
void conn_detach(struct conn *c);
/* Bytes a round trip in that direction: more than it would bring by itself at once? */
bool conn_is_worth_keeping(const struct conn *c, enum saving_direction d, uint64_t flow);
/* It is taken, and gained nothing by that for some seconds. */
bool conn_is_calm(const struct conn *c, mono_t now);
/* Bytes that were acknowledged to a host and that the other host may lack. Both directions. */
uint64_t conn_undelivered(const struct conn *c);
/* Gives it back, or asks the other end to. */
void conn_release(struct conn *c, mono_t now);
/* Both are done, and it has what it lacked: then it is closed. */
void conn_end_where_done(struct conn *c);
/* What the flow has ended the peer need not know. */
void conn_sync_stream(struct conn *c);
