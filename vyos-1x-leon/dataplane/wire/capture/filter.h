// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flow of a capture (doc/decisions/084): addresses, VLAN, protocol and port. All given parts
 * must match, and both directions of the flow match. An operator writes it as text, messages carry
 * it in a fixed form. Pure; workers match, the control thread does the rest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct codec;

#define CAPTURE_FILTER_LEN 51 /* bytes in a message */
#define CAPTURE_NO_VLAN	   0xffff

struct capture_filter {
	uint8_t n_macs, n_hosts; /* 0 to 2; at least one part of the filter is given */
	uint16_t vlan;		 /* 0: untagged; CAPTURE_NO_VLAN: any */
	uint8_t protocol;	 /* of IP; 0: any */
	uint16_t port;		 /* of TCP, UDP, UDP-Lite, SCTP or DCCP; 0: any */
	struct mac mac[2];
	struct ip_addr host[2]; /* both of one family */
};

/* Reads words such as "host 10.0.0.1 host 10.0.0.2 proto tcp port 80". Returns false with a
 * sentence in err. */
bool capture_filter_parse(const char *text, struct capture_filter *f, char *err, size_t err_len);
bool capture_filter_valid(const struct capture_filter *f);
void capture_filter_code(struct codec *b, struct capture_filter *f);
/* The frame is at least as long as its Ethernet header. Headers beyond `len` match no given
 * part. */
bool capture_filter_match(const struct capture_filter *f, const void *frame, size_t len);
