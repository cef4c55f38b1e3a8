// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Match and handling of critical frames: `policy critical` of the configuration. Part of struct
 * conf and of the snapshot, in which workers read it. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/vlan_set.h"
#include "wire/frame/eth.h"

#define POLICY_MACS_MAX	      64
#define POLICY_ETHERTYPES_MAX 16
#define POLICY_SERVICES_MAX   32

/* Transport protocol and a port at either end. */
struct policy_service {
	uint8_t protocol;
	uint16_t port; /* 0: any port, and protocols without ports */
};

/* A frame is critical if one criterion matches. */
struct policy_class {
	uint64_t dscp; /* bit n: DSCP n of IPv4 and IPv6 */
	struct vlan_set vlans;
	uint8_t n_macs, n_ethertypes, n_services;
	struct mac mac[POLICY_MACS_MAX]; /* source or destination address */
	uint16_t ethertype[POLICY_ETHERTYPES_MAX];
	struct policy_service service[POLICY_SERVICES_MAX];
};

struct policy {
	bool duplicate; /* critical frames are sent along two paths */
	bool parity;	/* their parities are sent along the second path; excludes `duplicate` */
	struct policy_class critical;
	uint32_t budget_kbits;	 /* rate limit for second copies or parities; 0: no limit */
	uint32_t extra_delay_us; /* permitted extra latency of the slower path */
	/* The second path is used only if the path in use is at least this bad; 0: always. */
	uint16_t loss_pm;
	uint32_t jitter_us;
};

/* Returns true if critical frames use two paths. */
static inline bool policy_uses_pairs(const struct policy *p)
{
	return p->duplicate || p->parity;
}
/* Returns true if the frame is critical. v: its view by eth_parse(). */
bool policy_matches(const struct policy_class *c, const uint8_t *frame, size_t len,
		    const struct eth_view *v);
bool policy_class_is_empty(const struct policy_class *c);

/* Names of DSCPs, such as "ef", "cs5", "af41", and of IP protocols, such as "udp", "vrrp". */
struct policy_name {
	const char *name;
	uint8_t number;
};
extern const struct policy_name policy_dscps[], policy_protocols[];
/* Looks up a name of the table; returns false for an unknown name. */
bool policy_number_of(const struct policy_name *row, const char *name, uint8_t *out);
/* NULL if the number has no name. */
const char *policy_name_of(const struct policy_name *row, uint8_t number);
