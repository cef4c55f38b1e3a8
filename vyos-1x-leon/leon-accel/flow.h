// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One TCP connection between a host behind this node ("near") and one behind another ("far"): what
 * is known of it, and the steps in which it is intercepted and returned (protocol.md 9.1). Knows no
 * sockets: what has to be done is asked for through struct flow_ops, time is a parameter. Owned by
 * the engine; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"
#include "flow_end.h"
#include "wire/accel.h"
#include "wire/eth.h"
#include "wire/tcp.h"

struct flow;

enum flow_state {
	FLOW_PLAIN,	/* frames pass as they are */
	FLOW_OFFERED,	/* drained: this node offered it, and commits */
	FLOW_DRAINING,	/* drained: the other node offered it */
	FLOW_ACCEPTED,	/* drained, and bound: the other node may have committed */
	FLOW_TAKEN,	/* the proxy socket has the connection */
	FLOW_RETURNING, /* it is returned: what is beyond the point is held */
	FLOW_CLOSED,	/* the proxy socket ends by itself, frames of the host still go to it */
	FLOW_STATES,
};

/* How a proxy socket ends. */
enum flow_end_of {
	FLOW_UNUSED,   /* it never became part of the connection */
	FLOW_RETURNED, /* without a word: the hosts go on by themselves */
	FLOW_RESET,    /* with a RST to the host */
};

/* What the kernel knows of the near host from the proxy socket. */
struct flow_proof {
	bool acknowledged; /* data or FIN that was sent */
	bool answered;	   /* an acknowledgement, or data, was accepted */
	unsigned retries;  /* segments that were sent again */
	mono_t sent_at;	   /* the last segment with data */
};

/* A frame in a message of the queue: `room` bytes in front of `data` belong to the message. */
struct flow_frame {
	uint8_t *message;
	size_t message_len;
	uint8_t *data;
	size_t len;
	uint16_t gso_size; /* payload of each segment of a super-frame, 0: it is none */
	const struct eth_view *v;
	const struct tcp_view *t;
};

struct flow_ops {
	/* A message as it came, or a frame that was made here: to the other node, to the host
	 * behind this one, or into the stand-in. */
	void (*to_far)(void *arg, struct flow *f, const struct flow_frame *frame);
	void (*to_near)(void *arg, struct flow *f, const struct flow_frame *frame);
	void (*to_stand_in)(void *arg, struct flow *f, const struct flow_frame *frame);
	/* To the other accelerator. */
	void (*tell)(void *arg, struct flow *f, const struct accel_frame *frame);
	/* Makes the proxy socket for the far host, which is silent until it is started; 0 or
	 * -errno. */
	int (*stand_in)(void *arg, struct flow *f);
	/* Starts it. Needs no memory and no descriptor, so it fails by a mistake of ours only. */
	bool (*start)(void *arg, struct flow *f);
	/* The near host has acknowledged all that the far one sent up to flow_point(far). */
	bool (*is_drained)(void *arg, struct flow *f);
	/* A frame of the far host about a connection that was reset: it is told so. */
	void (*refuse_far)(void *arg, struct flow *f, const struct flow_frame *frame);
	/* And one of the near host: the namespace, where its address is nobody's, says nothing. */
	void (*refuse_near)(void *arg, struct flow *f, const struct flow_frame *frame);
	/* Ends the proxy socket, if there is one. */
	void (*give_up)(void *arg, struct flow *f, enum flow_end_of how);
	/* Sends the near host an old segment, which it answers with an acknowledgement. */
	void (*probe)(void *arg, struct flow *f);
	struct flow_proof (*proof)(void *arg, struct flow *f);
	/* Room for so many bytes more to hold, or (negative) less; false where there is none. */
	bool (*may_hold)(void *arg, int64_t bytes);
};

struct waiting; /* a message that waits */

struct flow {
	const struct flow_ops *ops;
	void *arg;
	bool leader; /* of the two nodes, this one decides when it is returned */
	enum flow_state state;
	struct accel_key key;
	uint32_t stream; /* 0: none */
	struct flow_end near, far;
	bool foreign; /* not for one in the middle: an option, or urgent data */
	/* While it is drained or returned. */
	uint32_t near_point, far_point;
	struct accel_view theirs; /* DRAINING: of the offer */
	bool far_point_known, near_ready, far_ready;
	mono_t since;	   /* of the state */
	mono_t not_before; /* of another offer of this node */
	unsigned failed;   /* tries, one after the other */
	/* TAKEN: does the near host acknowledge the proxy socket? */
	bool proved, probed;
	uint8_t unproved; /* seconds in which it spoke, and the kernel accepted nothing of that */
	unsigned retries; /* that were looked at */
	mono_t watched, spoke;
	/* Where the last stand-in began. */
	uint32_t near_start, far_start;
	struct waiting *held, **held_end;
	unsigned n_held;
	bool blind;	/* not plain, and its frames went past for a while */
	bool was_reset; /* FLOW_CLOSED: by force */
	mono_t last;	/* a frame was seen */
};

/* The widest window that a host stated, in bytes. Where its scale is unknown, 64 KiB or what was
 * proved, if that is more. 0: it stated none. */
uint32_t flow_widest(const struct flow *f, const struct flow_end *e);

/* The same where it bounds what is under way to that host; 0: unknown. Where a scale is unknown,
 * a window that is full says nothing, unless it was never seen to be scaled. */
uint32_t flow_window(const struct flow *f, const struct flow_end *e);

void flow_init(struct flow *f, const struct flow_ops *ops, void *arg, bool leader,
	       const struct accel_key *key, mono_t now);
/* Bytes of the near host that are held, as far as they reach beyond the point. */
uint32_t flow_held(const struct flow *f);
/* Frees what is held. */
void flow_fini(struct flow *f);

/* A frame of the near host, and one of the far host that came as an ordinary one. */
void flow_from_near(struct flow *f, const struct flow_frame *frame, mono_t now);
void flow_from_far(struct flow *f, const struct flow_frame *frame, mono_t now);

/* Can it be intercepted, as far as it is known here? */
bool flow_can_be_taken(const struct flow *f);
/* It is drained, whichever node began. */
bool flow_is_draining(const struct flow *f);

/* Not now: this node may offer it later. */
void flow_wait(struct flow *f, mono_t now);

/* Offers it. The stream is new. */
void flow_offer(struct flow *f, uint32_t stream, mono_t now);
/* An OFFER came for it. `f->stream` is that of the offer afterwards, if it is drained. */
void flow_offered(struct flow *f, const struct accel_frame *offer, mono_t now);
/* Another message of its stream, but for those about data. False: it makes no sense. */
bool flow_message(struct flow *f, const struct accel_frame *m, mono_t now);
/* Leader: gives it back. */
void flow_release(struct flow *f, mono_t now);
/* Called off, if it is drained and this node is not bound. */
void flow_call_off(struct flow *f, mono_t now);
/* Plain or reset: the far host is behind another node, and this one leads or not. What the hosts
 * said in their SYNs stays true; what was reset is so there as well. False where it is neither. */
bool flow_other_node(struct flow *f, bool leader);
/* Frames of it may have gone past: where it is plain its numbers are learned anew. */
void flow_unseen(struct flow *f, mono_t now);
/* Looks whether a step is due that nothing else reports; rtt_ms of the path. */
void flow_tick(struct flow *f, int64_t rtt_ms, mono_t now);
/* Once a second: resets it if its host and the proxy socket do not fit. True: it did. */
bool flow_watch(struct flow *f, int64_t rtt_ms, mono_t now);
/* The carrier is gone. */
void flow_carrier_gone(struct flow *f, mono_t now);
/* The stand-in failed, or the far one did (told: the other side knows). */
void flow_reset(struct flow *f, bool told, mono_t now);
/* It was taken by a process that is dead: whatever comes of it is refused. */
void flow_bury(struct flow *f, mono_t now);
/* Both hosts are done: the stand-in ends by itself. */
void flow_closed(struct flow *f, mono_t now);
