// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-accel, which accelerates TCP: its connection to leond, the queues of frames, requests, and
 * its reports. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "ipc/accel_report.h"

struct conf;
struct leond;
struct node;
struct overlay;
struct snap;

/* --- accelerator.c --- */
/* The connection: the socket at which leon-accel requests its ends of the queues, and the
 * notifications about nodes. While leon-accel is connected, TCP frames are diverted. */

/* Opens the socket, once the workers run. */
void accelerator_start(struct leond *d);
/* Reports whether the program is installed. leon-accel has a separate package. */
bool accelerator_is_installed(void);
/* Requests the release of all connections. Returns false if leon-accel is not connected. */
bool accelerator_release(struct leond *d);
/* Applies a new configuration of acceleration. */
void accelerator_apply_conf(struct leond *d);
/* leond is about to end: connections are released. Returns true while the release is in progress.
 * Called repeatedly. */
bool accelerator_stop(struct leond *d);
/* A host has moved to another node, or to here. */
void accelerator_moved(struct leond *d, uint16_t vlan, struct mac mac, const struct node *n);
/* A formerly unknown host is behind the node now. */
void accelerator_appeared(struct leond *d, const struct node *n);
void accelerator_free(struct leond *d);
/* Reports nodes and latencies, once a second. */
void accelerator_second(struct leond *d, mono_t now);

/* --- accel_queues.c --- */
/* A seqpacket socket pair for each worker. They are made before the workers start, and exist as
 * long as the workers, with or without a leon-accel. */

/* Returns 0 or -errno. */
int accel_queues_open(struct leond *d);
void accel_queues_free(struct leond *d);
/* Enlarges the send buffer of a socket to leon-accel. */
void accel_queues_enlarge(int fd);
unsigned accel_queues_count(const struct leond *d);
/* The end of the worker. -1: no queue. */
int accel_queues_worker_end(const struct leond *d, unsigned worker);
/* The ends for leon-accel, one for each worker. */
const int *accel_queues_accel_ends(const struct leond *d);
/* Discards the messages in the queues, which a new leon-accel cannot use. */
void accel_queues_drain(struct leond *d);
/* Notes whether leon-accel has the queues. The next snapshot contains the change. */
void accel_queues_set_ready(struct leond *d, bool ready);
bool accel_queues_are_ready(const struct leond *d);
/* Reports whether a leon-accel may still connect: none has been here, and leond has just started
 * (decision 062). */
bool accel_queues_await(const struct leond *d);
/* The node has an accelerator, too. */
bool accel_queues_reach(const struct leond *d, uint16_t slot);
/*
 * Called each second. `idle`: no connection of that node can be intercepted. The TCP frames of the
 * node bypass leon-accel after an idle period (decision 058). The next snapshot contains the
 * change.
 */
void accel_queues_update(struct leond *d, uint16_t slot, bool is_idle, mono_t now);
/*
 * A host moved to that node. If the host has intercepted connections, its frames must be diverted
 * to leon-accel, or the connections could be neither released nor reset. For a limited time, the
 * frames of the node are therefore diverted, with or without an accelerator there. The condition is
 * that connections are intercepted at the time of a check (decision 042).
 */
void accel_queues_host_moved(struct leond *d, uint16_t slot, mono_t now);
/* Hosts were forgotten with their LAN or node. A new host at another node may be a forgotten host
 * for the next minutes. Such a host counts as moved, although the old node is unknown. */
void accel_queues_hosts_forgotten(struct leond *d, mono_t now);
bool accel_queues_have_forgotten(const struct leond *d, mono_t now);
/* leon-accel has reported its connections for the first time, and may have connections from before
 * the start of leond. The moves of their hosts are unknown, so every node counts as a node with a
 * moved host. */
void accel_queues_inherited(struct leond *d, bool any_intercepted, mono_t now);
void accel_queues_find_migrated(struct leond *d, uint16_t slot, bool any_intercepted, mono_t now);
/* The node has an accelerator, or a host moved there. */
bool accel_queues_track(const struct leond *d, uint16_t slot);
bool accel_queues_bypassed(const struct leond *d, uint16_t slot);
void accel_queues_fill_snap(const struct leond *d, struct snap *s);

/* RTT of the path to the node of the slot, at least 1. 0: no working path. */
uint32_t accel_latency_us(const struct overlay *o, uint16_t slot);
/* Reports whether the mode has near nodes, and the latency to the node is below that percentage of
 * the threshold. */
bool accel_latency_is_near(const struct overlay *o, const struct conf *c, uint16_t slot,
			   uint32_t percent);

/* --- accel_relay.c --- */
/* Sends a request to the control socket of leon-accel and passes the answer, one line of JSON, to
 * the caller. leond does not block: the answer arrives on the loop. */

#define ACCEL_DIR "/run/leon-accel/" /* made by packaging/debian/leond.tmpfiles */

#define ACCEL_RELAYS_MAX       7	  /* commands without an answer, beside one report */
#define ACCEL_RELAY_ANSWER_MAX (1u << 20) /* bytes of an answer; a longer one is dropped */
#define ACCEL_RELAY_MS	       5000	  /* time limit for an answer */

/* Writes the path of a socket for leon-accel, with that ending in the directory of leon-accel, or
 * beside the control socket. Returns false if it is too long. */
bool accel_path(const struct leond *d, const char *there, const char *beside, char *out,
		size_t room);

/* Starts a request. The caller may add "arguments" and passes it to accel_relay(). */
struct jsonw *accel_request(const char *command);

/* answer: without its newline, NUL-terminated, valid during the call. NULL: there is none. */
typedef void (*accel_relay_fn)(void *arg, const char *answer, size_t len);

/* Frees the request. Returns 0 or -errno; fn is called once after 0, later. fn may start the next
 * request. */
int accel_relay(struct leond *d, struct jsonw *request, accel_relay_fn fn, void *arg);
/* The same for the report, which has a place of its own. */
int accel_relay_report(struct leond *d, accel_relay_fn fn, void *arg);
/* Ends all requests without an answer. */
void accel_relays_free(struct leond *d);

/* --- accel_reports.c --- */
/* Time without a report after which leon-accel counts as hung. A stalled one holds every received
 * segment. */
#define ACCEL_SILENT_S 5

void accel_reports_open(struct leond *d);
void accel_reports_free(struct leond *d);

/* leon-accel has connected or disconnected. A disconnection ends all requests to it. */
void accel_reports_here(struct leond *d);
void accel_reports_gone(struct leond *d);
/* Requests the next report. Returns false if leon-accel has not reported for too long. */
bool accel_reports_second(struct leond *d);

/* leond refused a frame between accelerators, because the source is not the sending node, which has
 * this slot. */
void accel_reports_foreign(struct leond *d, uint16_t slot);

/* The last totals. NULL: not connected, or not received yet. */
const struct accel_totals *accel_reports_totals(const struct leond *d);
/* The last report about a node. Returns false without a report. */
bool accel_reports_node(const struct leond *d, node_id_t id, struct accel_node *out);
