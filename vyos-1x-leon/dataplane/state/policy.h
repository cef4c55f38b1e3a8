// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which frames are critical, and what is done for them: `policy critical` of the configuration.
 * Part of struct conf, and of the snapshot, in which workers read it. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "wire/eth.h"

#define POLICY_MACS_MAX	      64
#define POLICY_ETHERTYPES_MAX 16
#define POLICY_SERVICES_MAX   32
#define POLICY_VLAN_MAX	      4094

/* A transport protocol, and a port of it at either end. */
struct policy_service {
	uint8_t protocol;
	uint16_t port; /* 0: any, and protocols without ports */
};

/* A frame is critical where one of these says so. */
struct policy_class {
	uint64_t dscp; /* bit n: value n, of IPv4 and IPv6 */
	uint64_t vlan[(POLICY_VLAN_MAX + 64) / 64];
	bool any_vlan; /* one bit of them at least */
	uint8_t n_macs, n_ethertypes, n_services;
	struct mac mac[POLICY_MACS_MAX]; /* of the sender or the receiver */
	uint16_t ethertype[POLICY_ETHERTYPES_MAX];
	struct policy_service service[POLICY_SERVICES_MAX];
};

struct policy {
	bool duplicate; /* critical frames are sent along two paths */
	struct policy_class critical;
	uint32_t budget_kbits;	 /* of IP packets with second copies; 0: no limit */
	uint32_t extra_delay_us; /* by which the longer path may be longer */
	/* Copies only while the path in use is as bad as this; 0: whatever it is. */
	uint16_t loss_pm;
	uint32_t jitter_us;
};

/* True where the frame is one of the class. v: what eth_parse() found in it. */
bool policy_matches(const struct policy_class *c, const uint8_t *frame, size_t len,
		    const struct eth_view *v);
bool policy_class_is_empty(const struct policy_class *c);
void policy_add_vlan(struct policy_class *c, uint16_t vlan);
bool policy_has_vlan(const struct policy_class *c, uint16_t vlan);

/* Code points that have a name; false where there is none like it. */
bool policy_dscp_parse(const char *name, uint8_t *out);
/* "ef", "cs5", "af41"...; NULL where the value has none. */
const char *policy_dscp_name(uint8_t value);
/* The same of protocols above IP: "udp", "vrrp"... */
bool policy_protocol_parse(const char *name, uint8_t *out);
const char *policy_protocol_name(uint8_t number);
bool policy_protocol_has_ports(uint8_t number);
