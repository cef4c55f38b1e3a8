// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measurement of links and paths: PINGs and answers, the state of direct links, path MTU, lost
 * data, own load, rates. Control thread. Protocol 4.7, 6.
 */
#pragma once

#include "proto/core.h"

/* --- probe.c: probes of direct links, evaluation of answers and misses --- */

/* Initialises the state of measure/ for a new peer. */
void probe_init(struct overlay *o, struct peer *p);
void probe_session_up(struct overlay *o, struct peer *p);
void probe_periodic(struct overlay *o, mono_t now);
void probe_tick(struct overlay *o, struct peer *p, mono_t now);
uint32_t probe_interval_ms(const struct overlay *o, const struct peer *p, mono_t now);
void probe_ping(struct overlay *o, struct peer *p, const struct msg_ping *m, const struct via *back,
		size_t len, mono_t rx);
/* Returns true if the answer belongs to a PING of the direct link. */
bool probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, bool direct,
		mono_t rx);
/* Data flows over the link. */
void probe_used(struct overlay *o, struct peer *p);

/* --- link.c: common parts of the measurements of a direct link, for all senders of PINGs --- */

/* Data flows, or flowed in the last seconds. */
bool link_is_used(const struct overlay *o, const struct peer *p);
/* Sends a PING along v. size: datagram length with padding; 0: no padding. */
void link_ping(struct overlay *o, struct peer *p, const struct via *v, uint32_t id, uint16_t size);
/* Registers a PING of the link as unanswered; size 0: a plain one. */
void link_remember(struct overlay *o, struct peer *p, uint32_t id, uint16_t size);
/* Time after which a PING counts as unanswered. */
int64_t link_timeout_us(const struct link_filter *f);
/* More probes in a row are unanswered than chance explains. */
bool link_misses_many(const struct overlay *o, const struct peer *p);
/* Sets the number of PINGs unanswered in a row. */
void link_set_misses(struct overlay *o, struct peer *p, uint32_t n);
/* The set of unanswered PINGs changed. */
void link_expect(struct peer *p);
/* Stages the link's entry in the latency database and schedules the consequences. */
void link_store(struct overlay *o, struct peer *p);

/* --- link_state.c: state of direct links, also after a change of transport or lines --- */

/* Longest silence of a link that is up, with any configuration and history. */
#define SILENCE_MAX_MS 30000

void link_state_up(struct overlay *o, struct peer *p);
/* Probes in a row are unanswered; the first is `age_us` old. The link may go down. */
void link_state_silent(struct overlay *o, struct peer *p, int64_t age_us);
/* The first answer after unanswered probes. */
void link_state_responds(struct overlay *o, struct peer *p);
/* Data loss of the link starts or ends. */
void link_state_loss_changed(struct overlay *o, struct peer *p);
/* The link changed the transport. Each transport has separate measurements. rtt_us: round-trip time
 * of the new transport; 0: unknown. */
void link_state_transport_changed(struct overlay *o, struct peer *p, uint32_t rtt_us);
/* The link uses another pair of lines with these measurements and path MTU. Stores the measurements
 * of the previous pair in `before`, and returns its path MTU. */
uint16_t link_state_line_changed(struct overlay *o, struct peer *p,
				 const struct link_filter *filter, uint16_t mtu,
				 struct link_filter *before);
void link_state_lost(struct overlay *o, struct peer *p); /* the peer goes away */

/* --- rtt.c: round-trip times of PINGs, with answers that a member may forge --- */

uint32_t rtt_new_id(void); /* id of a PING, never 0 */
/* Round-trip time from send and receive time; 0 if invalid. */
uint32_t rtt_us(const struct overlay *o, mono_t sent, mono_t rx, uint32_t held_ns);
/* One-way values of the same PING and answer. */
void rtt_one_way(const struct overlay *o, struct one_way *w, mono_t sent, mono_t rx,
		 const struct msg_pong *m);
/* Round-trip time as a sample for the link's filter; 0: no sample. */
uint32_t rtt_sample_us(const struct overlay *o, struct peer *p, mono_t sent, mono_t rx,
		       uint32_t held_ns);

/* --- lazy.c: links with few PINGs (decision 081) --- */

/* Returns true if the overlay is large enough for lazy links. */
bool lazy_permitted(const struct overlay *o);
/* Sets probing.lazy of all links. Call every second. */
void lazy_choose(struct overlay *o, mono_t now);
/* Returns the interval of PINGs on the link while it is idle and answers. */
int64_t lazy_idle_ms(const struct overlay *o, const struct peer *p);

/* --- pmtu.c: path MTU of each direct link --- */

void pmtu_reset(struct overlay *o, struct peer *p);
/* Continues with the MTU of the other transport; 0: unknown. Returns the MTU of this one. */
uint16_t pmtu_transport_changed(struct overlay *o, struct peer *p, uint16_t mtu);
void pmtu_tick(struct overlay *o, struct peer *p, mono_t now);
/* Data begins to flow: schedules an early check of the current size. */
void pmtu_used(struct overlay *o, struct peer *p);
void pmtu_answer(struct overlay *o, struct peer *p, uint16_t size);
void pmtu_miss(struct overlay *o, struct peer *p, uint16_t size);

/* --- load.c: part of a round-trip time that own traffic causes (decision 041) --- */

/* Called before the answer to a PING of this peer's direct link is used as a sample. */
void load_note(struct overlay *o, struct peer *p, const struct msg_pong *m, mono_t sent, mono_t rx,
	       uint32_t rtt_us);
/* Returns true if own traffic keeps a queue on the link; lost packets then overflowed this
 * queue. */
bool load_is_ours(const struct overlay *o, const struct peer *p);

/* --- loss.c: links and paths with data loss despite answered PINGs --- */

void loss_init(struct overlay *o, struct peer *p);
/* Fills in the counters of a PONG to the peer. */
void loss_fill(const struct overlay *o, const struct peer *p, struct msg_pong *m);
/* Number of data datagrams sent to the peer along any path. */
uint32_t loss_path_tx(const struct overlay *o, const struct peer *p);
/* Called before a PING, directly or along the path in use. */
uint32_t loss_link_mark(struct overlay *o, struct peer *p);
uint32_t loss_path_mark(struct overlay *o, struct peer *p);
/* The functions return true if paths must be recomputed. */
bool loss_link_answer(struct overlay *o, struct peer *p, const struct probe *q,
		      const struct msg_pong *m);
bool loss_path_answer(struct overlay *o, struct peer *p, uint32_t data_tx,
		      const struct msg_pong *m);
/* Data is lost on the link, although PINGs are answered. */
bool loss_on_link(const struct peer *p);
/* The cause of the loss of the link is gone. Returns true if paths must be recomputed. */
bool loss_link_forgive(struct overlay *o, struct peer *p);
/* Excludes the relays of the path in use to the peer. */
bool loss_distrust(struct overlay *o, struct peer *p, uint16_t loss_pm);
bool loss_is_distrusting(const struct overlay *o, const struct peer *p);
/* Marks the excluded relays, by slot. */
void loss_mark_relays(const struct overlay *o, const struct peer *p, bool *no_relay);
/* Raises the cost of a path through an excluded relay. */
void loss_evaluate(const struct overlay *o, const struct peer *p, struct path *path);
void loss_forget(struct overlay *o, uint16_t slot);
void loss_link_up(struct peer *p);
void loss_path_changed(struct peer *p);
/* Returns true if the exclusion has expired. */
bool loss_link_expire(struct overlay *o, struct peer *p);
bool loss_path_expire(struct overlay *o, struct peer *p);

/* --- segmentation.c: a trial of UDP segmentation on a link with data loss (decision 074) --- */

/* Called before a PING. */
void segmentation_ping(const struct overlay *o, const struct peer *p, struct probe *q);
/* Enters the answer. Returns true if segmentation is convicted now. Called after loss.c. */
bool segmentation_answer(struct overlay *o, struct peer *p, const struct probe *q,
			 const struct msg_pong *m);
/* Returns true during a trial, which needs frequent probes. */
bool segmentation_is_on_trial(const struct peer *p);
void segmentation_expire(struct overlay *o, struct peer *p); /* called once a second */
/* The link comes up, also after another node had the slot, or goes down, which ends a trial. */
void segmentation_link_up(struct overlay *o, const struct peer *p);
void segmentation_link_down(struct overlay *o, struct peer *p);
/* A change of the key ends trials and convictions. */
void segmentation_configure(struct overlay *o, const struct conf *old);

/* --- line_rates.c: rates of pairs of lines, for distributed data (decision 080) --- */

#define LINE_NONE LINE_PAIRS

/* Fills in the counter of a PONG that travels back on a pair. */
void line_rates_fill(const struct overlay *o, const struct peer *p, const struct via *back,
		     struct msg_pong *m);
/* Backlog of the pair in the account of the workers, before a PING. */
int64_t line_rates_mark(const struct overlay *o, const struct peer *p, unsigned pair);
/* A PONG on the pair, after its round-trip time entered the filter of the pair. `backlog_us`:
 * line_rates_mark() of the PING. */
void line_rates_answer(struct overlay *o, struct peer *p, unsigned pair, const struct msg_pong *m,
		       mono_t sent, int64_t backlog_us);
/* Returns true if data may be distributed over the pair in use and this one. */
bool line_rates_may(const struct peer *p, unsigned pair, mono_t now);
/* Distributes over this pair too; LINE_NONE: no distribution. */
void line_rates_use(struct overlay *o, struct peer *p, unsigned pair);

/* --- path_probe.c: PINGs along a path in use with relays --- */

/* Called after a path was selected or the direct link failed: starts or stops PINGs along the
 * path. */
void path_probe_update(struct overlay *o, struct peer *p);
void path_probe_tick(struct overlay *o, struct peer *p, mono_t now);
/* Called at short intervals: starts PINGs to nodes to which data began to flow. */
void path_probe_look(struct overlay *o);
/* Returns true if the answer belongs to such a PING. */
bool path_probe_pong(struct overlay *o, struct peer *p, const struct msg_pong *m, mono_t rx);

/* --- ping.c: pings by operator command --- */

/* Returns true if the answer belongs to such a ping. */
bool ping_pong(struct overlay *o, const struct peer *p, const struct msg_pong *m, mono_t rx);
void ping_due(void *arg, mono_t now);
void ping_free(struct overlay *o);

/* --- ingress.c: rate limits of ingress shaping in PONGs (decision 039) --- */

void ingress_fill(const struct peer *p, struct msg_pong *m);
/* Enters a PONG of the direct link. */
void ingress_answer(struct overlay *o, struct peer *p, const struct msg_pong *m);
/* Expires limits without a refresh; called each second. */
void ingress_expire(struct overlay *o, struct peer *p);
/* The peer ends: drops the limit. */
void ingress_end(struct overlay *o, struct peer *p);

/* --- guard_stated.c: sequence numbers of loop-guard frames that PINGs state (protocol 7) --- */

/* A PING of the peer came in a session. */
void guard_stated_ping(struct overlay *o, struct peer *p, const struct msg_ping *m);

/* --- asymmetry.c: links with contradicting measurements of the two ends --- */

void asymmetry_init(struct overlay *o);
void asymmetry_periodic(struct overlay *o, mono_t now);
