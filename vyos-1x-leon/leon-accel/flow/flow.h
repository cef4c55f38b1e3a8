// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One TCP connection between a host behind this node ("near") and a host behind another node
 * ("far"). Contains the known state, and the steps of interception and release (protocol.md 10.1).
 * Uses no sockets: requests actions through struct flow_ops, and time is a parameter. Owned by the
 * engine; single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/accel.h"
#include "wire/frame/eth.h"
#include "wire/frame/tcp.h"

/* --- flow_end.c ---
 * The state of a host of a connection, as seen in frames: numbers, windows, timestamps, options.
 */

struct flow_end {
	bool seen;	    /* A segment with ACK was seen, so the fields below are valid. */
	bool began;	    /* The SYN of the host was seen. */
	uint32_t start;	    /* Sequence number behind the SYN. */
	uint32_t next;	    /* Sequence number behind the last byte or FIN. */
	uint32_t acked;	    /* Last acknowledgement of the host. */
	uint16_t window;    /* Last window, as in the header. */
	uint16_t widest;    /* Largest window, not scaled. */
	uint8_t scale_seen; /* Lower bound of its window scale, from the bytes in flight. */
	bool has_ts;
	/* The latest timestamp, and the first timestamp of the comparison. */
	uint32_t ts_val, ts_first;
	mono_t ts_at, ts_first_at;
	/* ts_val is of a proxy socket, and the far host has not reached it since the release. */
	bool ts_raised;
	struct accel_options syn; /* Options of the SYN, from either node. */
	bool sack_seen;
	uint16_t largest;  /* Payload of the largest segment in bytes. */
	bool fin;	   /* The host has sent FIN. */
	uint32_t segments; /* Number of segments with data. */
	uint32_t recent;   /* Number of recent segments with data, halved now and then. */
	uint32_t again;	   /* Number of recent retransmissions, halved together with `recent`. */
	struct mac mac;	   /* MAC address in frames of the near LAN. */
};

/* Sets the state to unknown. */
void flow_end_begin(struct flow_end *e);
/* The host sent a SYN, with or without ACK. */
void flow_end_syn(struct flow_end *e, const struct tcp_view *t, mono_t now);
/* Notes the header of a segment. Its payload counts with the next segment. */
void flow_end_receive(struct flow_end *e, const struct tcp_view *t, mono_t now);
/* A segment of the host was passed on. gso_size as in struct flow_frame. */
void flow_end_took(struct flow_end *e, const struct tcp_view *t, uint16_t gso_size);
/* The near host permitted the bytes in flight, which gives a lower bound of the window scale. */
void flow_end_see_window(struct flow_end *near, const struct flow_end *far);
/*
 * Window scale of a near host without an observed SYN. It is the larger of the lower bound and the
 * shift that makes the widest window at most 64 KiB. A host that scales states such a window for an
 * empty buffer. With a shift of 0, its 64 KiB would be some hundred bytes, less than a segment, and
 * the kernel would send that number at each timeout. A host that does not scale discards data
 * beyond its window, and the kernel repeats the data.
 */
uint8_t flow_end_scale(const struct flow_end *e);
/*
 * Reports whether the timestamps count milliseconds, like those of a proxy socket. If a connection
 * is released to a host with a slower clock, the other host discards all its segments as old (PAWS,
 * RFC 7323). A much faster clock is ahead by half of all numbers after a while, with the same
 * effect.
 */
bool flow_end_clock_fits(const struct flow_end *e);

struct flow;

enum flow_state {
	FLOW_PLAIN,	  /* Frames pass unchanged. */
	FLOW_OFFERED,	  /* Drained after an offer of this node, which commits. */
	FLOW_DRAINING,	  /* Drained after an offer of the other node. */
	FLOW_ACCEPTED,	  /* Drained and bound. The other node may have committed. */
	FLOW_INTERCEPTED, /* The proxy socket has the connection. */
	FLOW_RELEASING,	  /* Being released. Bytes beyond the point are held. */
	/* The proxy socket is closing, and still receives the frames of the host. */
	FLOW_CLOSED,
	FLOW_STATES,
};

/* The end of a proxy socket. */
enum flow_end_of {
	FLOW_UNUSED,   /* Never a part of the connection. */
	FLOW_RELEASED, /* Without a segment. The hosts continue directly. */
	FLOW_RESET,    /* With a RST to the host. */
};

/* Facts about the near host that the kernel has from the proxy socket. */
struct flow_proof {
	bool acknowledged; /* Sent data or FIN was acknowledged. */
	bool answered;	   /* An acknowledgement or data was accepted. */
	unsigned retries;  /* Number of retransmitted segments. */
	mono_t sent_at;	   /* Time of the last segment with data. */
	uint32_t ts_val;   /* Present TSval of the proxy socket. 0: without timestamps. */
};

/* A frame in a message of the queue. `room` bytes in front of `data` belong to the message. */
struct flow_frame {
	uint8_t *message;
	size_t message_len;
	uint8_t *data;
	size_t len;
	uint16_t gso_size; /* Payload of each segment of a super-frame. 0: no super-frame. */
	const struct eth_view *v;
	const struct tcp_view *t;
};

struct flow_ops {
	/* Reports whether this node is the leader, which decides on the release. */
	bool (*leads)(const struct flow *f);
	/* Sends an unchanged message, or a frame that was made here: to the other node, to the near
	 * host, or to the proxy socket. */
	void (*to_far)(struct flow *f, const struct flow_frame *frame);
	void (*to_near)(struct flow *f, const struct flow_frame *frame);
	void (*to_proxy_sock)(struct flow *f, const struct flow_frame *frame);
	/* The stream of the flow has ended, or another one replaces it. */
	void (*stream_ended)(struct flow *f, uint32_t stream);
	/* Sends a message to the other accelerator. */
	void (*notify)(struct flow *f, const struct accel_frame *frame);
	/* Makes the proxy socket for the far host. The socket is silent before the start. Returns 0
	 * or -errno. */
	int (*proxy_sock)(struct flow *f);
	/* Starts the proxy socket. Needs no memory and no descriptor, so it fails only by a
	 * defect. */
	bool (*start)(struct flow *f);
	/* Reports whether the near host has acknowledged all data of the far host up to
	 * flow_point(far). */
	bool (*is_drained)(struct flow *f);
	/* Reports whether the other node was sent all data of the near host up to
	 * flow_point(near). */
	bool (*is_sent)(struct flow *f);
	/* Resets the connection of the far host, which sent a frame after a reset. */
	void (*refuse_far)(struct flow *f, const struct flow_frame *frame);
	/* Resets the connection of the near host, which sent a frame after a reset. The namespace
	 * does not, because its address is unassigned there. */
	void (*refuse_near)(struct flow *f, const struct flow_frame *frame);
	/* Ends the proxy socket, if present. */
	void (*give_up)(struct flow *f, enum flow_end_of how);
	/* Sends the near host an old segment, which the host answers with an acknowledgement. */
	void (*probe)(struct flow *f);
	struct flow_proof (*proof)(struct flow *f);
	/* Reserves memory for held bytes, or frees memory (negative). Returns false at the
	 * limit. */
	bool (*may_hold)(struct flow *f, int64_t bytes);
};

struct waiting; /* A held message. */

/* State during a drain or a release. */
struct flow_drain {
	uint32_t near_point, far_point;
	struct accel_view theirs; /* DRAINING: the view in the offer. */
	bool far_point_known, near_ready, far_ready;
};

/* TAKEN: acknowledgements of the near host for the proxy socket. */
struct flow_check {
	bool proved;
	uint8_t unproved; /* Seconds in which the host sent frames and the kernel accepted none. */
	unsigned retries; /* Number of retransmissions at the last check. */
	mono_t watched;	  /* Time of the last check. 0: no check yet. */
	mono_t spoke;	  /* Time of the last acknowledgement of the host. */
};

/* Attempts of this node. */
struct flow_retry {
	mono_t not_before; /* Earliest time of another offer or release of this node. */
	unsigned failed;   /* Number of consecutive failed attempts. */
};

struct flow {
	const struct flow_ops *ops;
	enum flow_state state;
	struct accel_key key;
	uint32_t stream; /* 0: none. */
	struct flow_end near, far;
	bool foreign; /* It cannot be intercepted, because of an option or urgent data. */
	struct flow_drain drain;
	mono_t since; /* Start of the state. */
	struct flow_retry retry;
	struct flow_check proof;
	/* First sequence numbers of the last proxy socket. */
	uint32_t near_start, far_start;
	struct waiting *held; /* Frames of the near host. */
	bool blind;	      /* Not plain, with a temporary bypass of leon-accel. */
	bool was_reset;	      /* FLOW_CLOSED: after a reset. */
	mono_t last;	      /* Time of the last frame. */
};

/* Reports whether the window scales of both hosts are known. */
static inline bool flow_knows_scales(const struct flow *f)
{
	return f->near.syn.scale != TCP_SCALE_UNKNOWN && f->far.syn.scale != TCP_SCALE_UNKNOWN;
}

/* The largest stated window of a host in bytes. With an unknown scale: the larger of 64 KiB and the
 * verified size. 0: no window is known. */
uint32_t flow_widest(const struct flow *f, const struct flow_end *e);

/* The largest window, as a limit of the bytes in flight to the host. 0: unknown. If a scale is
 * unknown, a full window proves nothing, unless no scaled window was ever seen. */
uint32_t flow_window(const struct flow *f, const struct flow_end *e);

void flow_init(struct flow *f, const struct flow_ops *ops, const struct accel_key *key, mono_t now);
/* Number of held bytes of the near host beyond the point. */
uint32_t flow_held(const struct flow *f);
/* Number of held frames. */
unsigned flow_n_held(const struct flow *f);
/* Changes or ends the stream without a message. 0: none. */
void flow_set_stream(struct flow *f, uint32_t stream);
/* Ends the stream, and frees the held frames. */
void flow_fini(struct flow *f);

/* Handles a frame of the near host, and an ordinary frame of the far host. */
void flow_from_near(struct flow *f, const struct flow_frame *frame, mono_t now);
void flow_from_far(struct flow *f, const struct flow_frame *frame, mono_t now);
/* Bytes that the segment of the far host acknowledges first, while the connection is plain. */
uint32_t flow_acknowledges(const struct flow *f, const struct tcp_view *t);

/* Reports whether the connection is drained, for either node. */
bool flow_is_draining(const struct flow *f);

/* Postpones an offer of this node. */
void flow_wait(struct flow *f, mono_t now);
/* An attempt failed before its offer. Postpones the next one, with each failure for longer. */
void flow_failed(struct flow *f, mono_t now);

/* Offers the connection. The stream is new. */
void flow_offer(struct flow *f, uint32_t stream, mono_t now);
/* Handles an OFFER. If the connection is then drained, `f->stream` is the stream of the offer. */
void flow_offered(struct flow *f, const struct accel_frame *offer, mono_t now);
/* Handles a message of its stream other than data. Returns false if the message is invalid. */
bool flow_message(struct flow *f, const struct accel_frame *m, mono_t now);
/* Leader: releases the connection. */
void flow_release(struct flow *f, mono_t now);
/* Cancels the attempt, if the connection is drained and this node is not bound. */
void flow_cancel(struct flow *f, mono_t now);
/* Moves a plain or reset connection to another node of the far host. The options of the SYNs stay
 * valid, and a reset connection stays reset. Returns false in other states. */
bool flow_other_node(struct flow *f);
/* Frames may have bypassed leon-accel. A plain connection learns the sequence numbers again. */
void flow_unseen(struct flow *f, mono_t now);
/* Checks for steps that no other call reports. rtt_ms is the RTT of the path. */
void flow_tick(struct flow *f, int64_t rtt_ms, mono_t now);
/* Called once a second. Resets the connection if the host and the proxy socket do not match, and
 * returns true. */
bool flow_watch(struct flow *f, int64_t rtt_ms, mono_t now);
/* The inter-proxy connection has ended. */
void flow_interproxy_gone(struct flow *f, mono_t now);
/* The near proxy socket failed, or the far one failed (notified: the other node knows). */
void flow_reset(struct flow *f, bool notified, mono_t now);
/* A dead process had intercepted the connection, so all its frames are answered with RST. */
void flow_quench(struct flow *f, mono_t now);
/* Both hosts have sent FIN, so the proxy socket closes by itself. */
void flow_closed(struct flow *f, mono_t now);
