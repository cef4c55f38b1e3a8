// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One overlay from the view of one node: start, stop, and the input of the host. overlay_ops.h has
 * the calls to the host, view.h the state and overlay_seeds.h the configured peers. The protocol
 * runs between overlay_input(), timers and the ops. An overlay performs no I/O and reads no clock,
 * so hundreds of overlays run in a test process on virtual time. A function is defined in the
 * module of the subject. Control thread. doc/protocol.md sections 3 to 6.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "state/tables/guard_number.h"

struct conf;
struct id_range;
struct invitations;
struct loop;
struct msg;
struct overlay;
struct overlay_line;
struct overlay_ops;
struct record_lan;

/* `conf` must outlive the overlay or be replaced with overlay_set_conf(). rng_seed 0: seed from the
 * kernel. */
struct overlay *overlay_new(struct loop *loop, const struct conf *conf, node_id_t self,
			    const struct overlay_ops *ops, void *arg, uint64_t rng_seed);
/* Sets the Ed25519 secret of this node, 32 random bytes that persist over restarts. Called before
 * overlay_start(); without a call a new secret is generated. */
void overlay_set_identity(struct overlay *o, const uint8_t secret[32]);
/* Returns the public key of this node. */
const uint8_t *overlay_identity(const struct overlay *o);
void overlay_free(struct overlay *o); /* NULL ok; sends nothing, see overlay_leave */
/* Sets the number of workers that seal and open data. Called before overlay_start(). Without a call
 * there is no data (simulations) and no cost for its keys. */
void overlay_set_workers(struct overlay *o, unsigned n);
void overlay_start(struct overlay *o);
/* Sends a leave to all members. The caller may repeat the call to cover loss. */
void overlay_leave(struct overlay *o);
/* Applies changes of measurement, path, peers, member and record; ignores all others. */
void overlay_set_conf(struct overlay *o, const struct conf *conf);

/* The invitations of this node, owned by the overlay. The host issues, ends and stores invitations.
 * */
struct invitations *overlay_invitations(const struct overlay *o);

/* Sets the addresses of this node known to the host. The record contains observed addresses and as
 * many of the known ones as fit, the first ones first. */
void overlay_set_locators(struct overlay *o, const struct endpoint *ep, unsigned n);
/* Sets the address of this node at a gateway with NAT for the record, or NULL. */
void overlay_set_mapped(struct overlay *o, const struct endpoint *ep);
/* Sets the announced prefixes, sorted, at most MSG_PREFIXES_MAX. Without a call all configured
 * prefixes are announced. */
void overlay_set_prefixes(struct overlay *o, const struct prefix *p, unsigned n);
/* Sets the served segments, at most MSG_SEGMENTS_MAX ranges; NULL, or without a call: all VLANs. */
void overlay_set_segments(struct overlay *o, const struct id_range *served, unsigned n);
/* Sets the loop-guard state of the record: bits of RECORD_LAN_MASK, and the content of
 * RECORD_LAN. */
void overlay_set_lan(struct overlay *o, uint16_t lan_flags, const struct record_lan *lan);
/* Sequence number of the last sent loop-guard frame, for PINGs. */
void overlay_set_guard_number(struct overlay *o, uint64_t number);
/* Valid sequence numbers of loop-guard frames of the node. */
struct guard_bounds overlay_guard_bounds(struct overlay *o, node_id_t node);
/* Sets the announced multicast groups, at most LISTENERS_MAX entries; n 0: this node receives all
 * groups. */
void overlay_set_groups(struct overlay *o, const uint64_t *entry, unsigned n);
/* Announces an accelerator, present or expected. */
void overlay_set_accelerates(struct overlay *o, bool accelerates);
/* Enters a LEON_CONTROL datagram with this node as the last hop. rx: receive time of the kernel.
 * May modify data. */
void overlay_input(struct overlay *o, const struct endpoint *from, uint8_t *data, size_t len,
		   mono_t rx);
/*
 * Transports of a link. The host offers an endpoint of the node: a stream (base/addr.h), or an
 * address of UDP while a stream is in use. The link changes to the endpoint when the node answers
 * there, and the previous endpoint stays the backup.
 */
void overlay_offer_endpoint(struct overlay *o, node_id_t node, const struct endpoint *ep);
/* Sets the lines of this node, before overlay_start(). Default: one line. */
void overlay_set_lines(struct overlay *o, const struct overlay_line *line, unsigned n);
/* The address or interface of a line is missing, or is back. */
void overlay_line_changed(struct overlay *o, uint8_t line, bool lost);
/* The stream ended. */
void overlay_endpoint_ended(struct overlay *o, const struct endpoint *ep);
/* Returns true if a node has the endpoint in use or as a backup. */
bool overlay_uses_endpoint(const struct overlay *o, const struct endpoint *ep);
/* Data was sent directly to `slot` since the last call, so its link is probed at the fast
 * interval. */
void overlay_link_used(struct overlay *o, uint16_t slot);
/* Only some flooded frames were sent. In a large overlay the link is not probed faster. */
void overlay_link_floods(struct overlay *o, uint16_t slot);
/* Sends a PING on the direct link to `slot` now. */
void overlay_probe(struct overlay *o, uint16_t slot);
/* Sets the limit of the line in use that the shaper found, in kbit/s; 0: none. `full`: the limit is
 * used up, so bulk data may use the second line too. */
void overlay_limit_line(struct overlay *o, uint32_t kbits, bool full);
/* The kernel or an ICMP error suggests that the endpoint is dead. The hint triggers a probe and
 * proves nothing. */
void overlay_link_error(struct overlay *o, const struct endpoint *ep);
/* A worker could not relay: sends a path error to `source` (rate-limited). */
void overlay_cannot_forward(struct overlay *o, node_id_t source, node_id_t next,
			    node_id_t destination);

/* Sets the rate limit requested from the node of `slot` for its direct traffic to this node, in
 * kbit/s of IP packets, or 0. Each PONG carries it. */
void overlay_set_share(struct overlay *o, uint16_t slot, uint32_t kbits);

/* Sends a message of a capture to a member. Returns 0 or -errno. */
int overlay_send_capture(struct overlay *o, node_id_t node, const struct msg *m);

/*
 * Sends one ping along exactly these hops (node-ids; the last one answers, back along the reversed
 * list). fn runs once: rtt_us >= 0, -ETIMEDOUT, or -ENOKEY without a session with the last hop.
 */
typedef void (*overlay_ping_fn)(void *arg, int64_t rtt_us);
void overlay_ping(struct overlay *o, const node_id_t *hop, unsigned n_hops, uint16_t size,
		  uint32_t timeout_ms, overlay_ping_fn fn, void *arg);
/* Cancels pending callbacks with `arg`. */
void overlay_ping_cancel(struct overlay *o, void *arg);
