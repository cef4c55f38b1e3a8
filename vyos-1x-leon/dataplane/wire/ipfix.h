// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Messages of IPFIX (RFC 7011) with records of flows. All information elements are those of IANA,
 * because LEON has no private enterprise number (doc/decisions/083). Only the writer exists: LEON
 * collects nothing. Pure; control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"
#include "wire/bytes.h"

/* With IPv6 and UDP headers, a message fits the minimum MTU of IPv6 (RFC 7011 section 10.3.3). */
#define IPFIX_MESSAGE_MAX 1232
/* Fixed, because nfacctd reads no text of variable length. */
#define IPFIX_TEXT_MAX 96

/* Compared and hashed as bytes: no padding. */
struct flow_key {
	uint8_t src[16], dst[16]; /* IPv4: the first 4 bytes, the rest is zero */
	node_id_t node;		  /* destination; NODE_ID_NONE: the frames are flooded */
	uint16_t vlan, src_port, dst_port;
	uint8_t version, protocol;
	uint8_t critical; /* 1: critical according to the policy */
	uint8_t zero[3];
};
_Static_assert(sizeof(struct flow_key) == 48, "no padding");

/* Sampled frames of a flow. A single sample is a flow too. */
struct sampled_flow {
	struct flow_key key;
	struct mac src;		  /* source of the first frame */
	uint64_t packets, octets; /* octets: of IP packets */
	mono_t first, last;
};

/* Values of flowEndReason. */
enum flow_end { FLOW_IDLE = 1, FLOW_ACTIVE = 2, FLOW_FORCED = 4, FLOW_NO_ROOM = 5 };

struct ipfix_record {
	const struct sampled_flow *flow;
	int64_t first_ms, last_ms; /* since 1970 */
	enum flow_end end;
	node_id_t next;	   /* first hop; NODE_ID_NONE: none */
	uint32_t delay_us; /* one way; 0: unknown */
	const char *text;  /* path, loss and rule, at most IPFIX_TEXT_MAX bytes */
};

struct ipfix {
	uint8_t buf[IPFIX_MESSAGE_MAX];
	struct wbuf w;
	node_id_t domain; /* node-id of the exporter */
	uint8_t *set;	  /* header of the open set, or NULL */
	uint16_t set_id;
	uint32_t sequence; /* data records in earlier messages */
	uint32_t records;  /* data records in this message */
};

/* Begins a message. x->sequence stays. */
void ipfix_begin(struct ipfix *x, node_id_t domain, uint32_t now_s);
/* Adds the templates, and the record of the sampling: one of `population` frames. Returns false if
 * the message has content. */
bool ipfix_add_templates(struct ipfix *x, uint32_t population);
/* Returns false if the message has no room for another record. */
bool ipfix_add(struct ipfix *x, const struct ipfix_record *r);
/* Completes the message. Returns its length; 0: the message has no content. */
size_t ipfix_end(struct ipfix *x);
