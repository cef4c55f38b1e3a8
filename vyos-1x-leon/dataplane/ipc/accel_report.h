// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel about its connections, as JSON at its control socket: totals and nodes in
 * one answer, connections page by page. Both ends use these functions, so they agree on the keys.
 * No I/O; control thread, leon-accel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/json/jsonr.h"
#include "base/json/jsonw.h"

#define ACCEL_PAGE_CONNS 256

/* Reasons why a tracked connection is not intercepted: REASON(id, "word", sentence). The checks
 * run in this order, and the first failed one is the reason. */
#define ACCEL_REASON_TABLE(REASON)                                                                 \
	REASON(NONE, NULL, "no check fails")                                                       \
	REASON(OFF, "off", "acceleration is switched off, or leon-accel is about to end")          \
	REASON(UNREACHED, "peer-down",                                                             \
	       "no connection to the accelerator of the other node exists")                        \
	REASON(BYPASSED, "bypassed", "TCP with the other node bypasses leon-accel")                \
	REASON(EXCLUDED, "excluded", "the configuration excludes the connection")                  \
	REASON(NEAR, "near", "the latency to the other node is below the threshold")               \
	REASON(UNMOVED, "not-moved", "no host of the connection moved to another node")            \
	REASON(SHORT, "few-segments", "fewer data segments than the minimum were sent")            \
	REASON(SILENT, "peer-silent", "the accelerator of the other node does not answer now")     \
	REASON(FOREIGN, "foreign", "an option admits no proxy, or urgent data was sent")           \
	REASON(ENDING, "ending", "both hosts have sent a FIN")                                     \
	REASON(UNSEEN, "unseen", "only one host has sent frames yet")                              \
	REASON(UNFIT, "unfit", "the clock of the timestamps is not known")                         \
	REASON(PEER_FULL, "peer-full", "the other accelerator has the maximum of connections")     \
	REASON(PEER_EXCLUDES, "peer-excludes",                                                     \
	       "the configuration of the other node excludes the connection")                      \
	REASON(PEER_OFF, "peer-off", "the other accelerator intercepts nothing of this node")      \
	REASON(PEER_LATER, "peer-later", "the other accelerator refused the connection for now")   \
	REASON(LATER, "later", "a recent attempt failed, or the connection was just released")     \
	REASON(NO_BENEFIT, "no-benefit", "the hosts send too little")                              \
	REASON(MEASURING, "measuring", "the rate is not measured yet")                             \
	REASON(FAST, "fast-enough", "interception would not be faster")                            \
	REASON(BUSY, "attempts", "the maximum of simultaneous attempts with the node is reached")  \
	REASON(FULL, "maximum", "the maximum of connections is intercepted")

enum accel_reason {
#define AS_ENUM(id, word, sentence) ACCEL_REASON_##id,
	ACCEL_REASON_TABLE(AS_ENUM)
#undef AS_ENUM
		ACCEL_N_REASONS,
};
/* NULL: no reason. */
const char *accel_reason_word(enum accel_reason reason);
const char *accel_reason_sentence(enum accel_reason reason);

/* Inputs of other members that leon-accel refuses, each with a counter: MISUSE(id, "word",
 * sentence). */
#define ACCEL_MISUSES(MISUSE)                                                                      \
	MISUSE(STRAY, "stray_frames",                                                              \
	       "frames of an intercepted connection from a node without the host")                 \
	MISUSE(BEYOND_CREDIT, "data_beyond_credit",                                                \
	       "inter-proxy connections ended by DATA beyond the credit")                          \
	MISUSE(BAD_MESSAGE, "bad_messages", "inter-proxy connections ended by an invalid message") \
	MISUSE(UNWANTED, "unwanted_connections", "unwanted inter-proxy connections")               \
	MISUSE(FOREIGN, "foreign_packets", "packets between accelerators with a false sender")     \
	MISUSE(BAD_FRAME, "bad_frames", "invalid frames in FOUND and FORWARD")                     \
	MISUSE(OVER_SHARE, "over_share", "new connections beyond the share of the node")

enum accel_misuse {
#define AS_ENUM(id, word, sentence) ACCEL_##id,
	ACCEL_MISUSES(AS_ENUM)
#undef AS_ENUM
		ACCEL_N_MISUSES,
};
const char *accel_misuse_word(enum accel_misuse m);

/* Reasons why an interceptable connection stays plain or is reset, each with a counter: FAULT(id,
 * "word", sentence). */
#define ACCEL_FAULTS(FAULT)                                                                        \
	FAULT(SOCKET_DENIED, "socket_denied",                                                      \
	      "connections that stay plain: a proxy socket is not permitted")                      \
	FAULT(SOCKET_IN_USE, "socket_in_use",                                                      \
	      "connections that stay plain: another socket has the addresses")                     \
	FAULT(SOCKET_FILES, "socket_files",                                                        \
	      "connections that stay plain: no file descriptor is left for a proxy socket")        \
	FAULT(SOCKET_MEMORY, "socket_memory",                                                      \
	      "connections that stay plain: no memory is left for a proxy socket")                 \
	FAULT(SOCKET_OTHER, "socket_other",                                                        \
	      "connections that stay plain: a proxy socket fails for another reason")              \
	FAULT(NUMBERS_DIFFER, "numbers_differ",                                                    \
	      "connections that stay plain: the nodes saw different sequence numbers")             \
	FAULT(FIN_DIFFERS, "fin_differs",                                                          \
	      "connections that stay plain: one node saw a FIN, the other did not")                \
	FAULT(OPTIONS_DIFFER, "options_differ",                                                    \
	      "connections that stay plain: the nodes saw different options of a SYN")             \
	FAULT(CLOCKS_DIFFER, "clocks_differ",                                                      \
	      "connections that stay plain: the nodes saw different timestamps")                   \
	FAULT(URGENT, "urgent_frames",                                                             \
	      "frames with urgent data that met an intercepted connection, which is returned")     \
	FAULT(UNPROVED, "unproved",                                                                \
	      "connections that are reset: the host does not acknowledge the proxy socket")

enum accel_fault {
#define AS_ENUM(id, word, sentence) ACCEL_FAULT_##id,
	ACCEL_FAULTS(AS_ENUM)
#undef AS_ENUM
		ACCEL_N_FAULTS,
};
const char *accel_fault_word(enum accel_fault f);

/* For one direction or both: bytes of hosts, and bytes on the inter-proxy connection. */
struct accel_bytes {
	uint64_t out, in, carried_out, carried_in;
};

/* Estimate of the saved time, see leon-accel/peer/meter.h. */
struct accel_time {
	uint64_t with_ms, without_ms;
};

/* Values of leon-accel as a whole: VALUE(member, "key"). */
#define ACCEL_GAUGES(VALUE)                                                                        \
	VALUE(tracked, "connections_tracked")                                                      \
	VALUE(intercepted_now, "connections_intercepted")                                          \
	VALUE(held, "held_bytes")                                                                  \
	VALUE(undelivered, "undelivered_bytes")                                                    \
	VALUE(time.with_ms, "with_ms")                                                             \
	VALUE(time.without_ms, "without_ms")
#define ACCEL_COUNTERS(VALUE)                                                                      \
	VALUE(intercepted, "intercepted")                                                          \
	VALUE(returned, "released")                                                                \
	VALUE(reset, "reset")                                                                      \
	VALUE(refused, "refused")                                                                  \
	VALUE(bytes.in, "bytes_in")                                                                \
	VALUE(bytes.out, "bytes_out")                                                              \
	VALUE(bytes.carried_in, "interproxy_bytes_in")                                             \
	VALUE(bytes.carried_out, "interproxy_bytes_out")                                           \
	VALUE(leond_queue_full, "leond_queue_full")                                                \
	VALUE(held_dropped, "held_dropped")                                                        \
	VALUE(full, "maximum_reached")                                                             \
	VALUE(again, "not_drained")

struct accel_totals {
	uint64_t tracked, intercepted_now;
	/* Plain tracked connections, by the reason why they are not intercepted. */
	uint64_t plain[ACCEL_N_REASONS];
	uint64_t held;	      /* Bytes of held frames. */
	uint64_t undelivered; /* Acknowledged, possibly undelivered bytes. */
	uint64_t intercepted, returned, reset, refused;
	uint64_t leond_queue_full, held_dropped;
	uint64_t full;			  /* Attempts at the maximum of connections. */
	uint64_t again;			  /* Connections that were not drained in time. */
	uint64_t misuse[ACCEL_N_MISUSES]; /* By enum accel_misuse, sum over all nodes. */
	uint64_t fault[ACCEL_N_FAULTS];	  /* By enum accel_fault. */
	struct accel_bytes bytes;
	struct accel_time time;
};

struct accel_node {
	node_id_t id;
	bool reached; /* The inter-proxy connection is established. */
	uint64_t intercepted_now;
	uint64_t intercepted, returned, reset, refused;
	uint64_t misuse[ACCEL_N_MISUSES]; /* By enum accel_misuse. */
};

struct accel_conn {
	uint64_t serial; /* Number that grows from one connection to the next. */
	uint64_t vlan;
	struct endpoint near, far;
	node_id_t node;
	const char *state;  /* After a read: owned by the document. */
	const char *reason; /* Like `state`. NULL: none. */
	uint64_t since_ms, held;
	uint64_t undelivered; /* Acknowledged, possibly undelivered bytes. */
	uint64_t times;	      /* Number of interceptions. */
	struct accel_bytes bytes;
	struct accel_time time;
};

/* Write into the open object. */
void accel_totals_write(const struct accel_totals *t, struct jsonw *w);
void accel_node_write(const struct accel_node *n, struct jsonw *w);
void accel_conn_write(const struct accel_conn *c, struct jsonw *w);
/* Writes addresses, node and state only. */
void accel_conn_write_name(const struct accel_conn *c, struct jsonw *w);

/* Read from an object. A missing number is 0, and a value of a wrong type is an error of the
 * document (jsonr.h). Return false without a name: the document is no report then. */
bool accel_totals_read(struct jsonr_node *root, struct accel_totals *t);
bool accel_node_read(struct jsonr_node *node, struct accel_node *n);
bool accel_conn_read(struct jsonr_node *node, struct accel_conn *c);
