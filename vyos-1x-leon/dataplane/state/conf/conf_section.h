// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interfaces between the files that read the configuration; private to state/conf*.c. Pure; control
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json/jsonr.h"
#include "state/conf/conf.h"

/* --- conf_section.c --- */
/* Returns false if the key is absent or invalid; *out then stays unchanged. */
bool conf_get_u32(struct jsonr_node *obj, const char *key, uint32_t min, uint32_t max,
		  uint32_t *out);
/* Returns a list of at most `max` elements, or an object of at most `max` members, such as
 * "prefixes". A larger one is an error, and has the length 0 then, as after every error. */
struct jsonr_node *conf_list(struct jsonr_node *obj, const char *key, uint32_t max,
			     const char *what);
struct jsonr_node *conf_map(struct jsonr_node *obj, const char *key, uint32_t max,
			    const char *what);
/* Reads an absolute path. *out stays unchanged without one. */
void conf_get_path(struct jsonr_node *obj, const char *key, char *out, size_t size);
/* Reads a whole number, decimal or hexadecimal with 0x. Leading zeros do not mean octal. */
bool conf_number(const char *s, unsigned long max, unsigned long *out);
/* Copies the name of a peer, segment or line (`of`), if it is valid. */
void conf_get_name(struct jsonr_node *obj, const char *of, const char *name, char *out,
		   size_t size);
/* Reads the name of an interface. */
void conf_get_ifname(struct jsonr_node *obj, const char *key, char out[CONF_IFNAME_MAX + 1]);
/* Reads a unicast IP address that is not of one link only. *out stays unchanged without one. */
void conf_get_address(struct jsonr_node *obj, const char *key, struct ip_addr *out);

/* Returns true for a DNS name, false for an address or a mistyped address. */
bool conf_is_dns_name(const char *s);

/* conf_device.c: address and bridge. */
void conf_read_device(struct jsonr_node *root, struct conf *c);

/* conf_leaf.c: the leaves of conf.def. */
void conf_default_leaves(struct conf *c);
void conf_read_leaves(struct jsonr_node *root, struct conf *c);
unsigned conf_diff_leaves(const struct conf *a, const struct conf *b);
/* Returns the path of the next changed leaf from *at on that needs a restart, or NULL. */
const char *conf_next_restart_leaf(const struct conf *a, const struct conf *b, size_t *at);

/* conf_secrets.c: authentication and encryption. */
void conf_read_secrets(struct jsonr_node *root, struct conf *c);
/* Requires a secret or `authentication disable`. The last check, so that an unknown key, such as a
 * mistyped name of the secret, is reported first. */
void conf_check_secret(struct jsonr_node *root, const struct conf *c);
void conf_free_secrets(struct conf *c); /* wipes */
/* Returns true if a secret exists. Its presence cannot change in a running daemon. */
bool conf_has_secret_differs(const struct conf *a, const struct conf *b);
bool conf_secrets_differ(const struct conf *a, const struct conf *b);

/* conf_policy.c: policy. */
void conf_read_policy(struct jsonr_node *root, struct conf *c);

/* conf_accel.c: acceleration. Called after the leaves. */
void conf_read_acceleration(struct jsonr_node *root, struct conf *c);
bool conf_acceleration_differs(const struct conf *a, const struct conf *b);

/* conf_transport.c: transport. Called after the leaves and peers. */
void conf_read_transport(struct jsonr_node *root, struct conf *c);
bool conf_transport_differs(const struct conf *a, const struct conf *b);

/* conf_device.c: line. Called after the leaves. */
void conf_read_lines(struct jsonr_node *root, struct conf *c);

/* conf_routes.c: export and import. Called after overlay-address. */
void conf_read_routes(struct jsonr_node *root, struct conf *c);

/* conf_policy.c: a DSCP by name or number; section dscp. Called after the leaves. */
bool conf_dscp(const char *s, uint8_t *out);
void conf_read_dscp(struct jsonr_node *root, struct conf *c);

/* conf_shaper.c: a rate in kbit/s, as a number or a string with a unit, like conf_get_u32();
 * section shaper. */
#define CONF_RATE_UNIT "kbit/s"
bool conf_get_rate(struct jsonr_node *obj, const char *key, uint32_t min, uint32_t max,
		   uint32_t *out);
void conf_read_shaper(struct jsonr_node *root, struct conf *c);

/* conf_segments.c: vlan. */
void conf_read_vlans(struct jsonr_node *root, struct conf *c);
/* segment. Called after vlan and acceleration. */
void conf_read_segments(struct jsonr_node *root, struct conf *c);
