// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How values of LEON are written in answers: ids as text, unknown as null, times in RFC 3339.
 * Every show command uses these, so that the same thing always looks the same. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/jsonw.h"
#include "base/mono.h"

struct conf;
struct leond;
struct path;

void answer_id(struct jsonw *w, const char *key, node_id_t id); /* NODE_ID_NONE: null */
/* node-name of a member, null where it has none. */
void answer_name(struct jsonw *w, const char *key, struct leond *d, node_id_t id);
/* What to call a node: its node-name, or its node-id where it has none. */
void answer_call(struct jsonw *w, const char *key, struct leond *d, node_id_t id);
/* Who moves frames of a VLAN between LAN and overlay, as far as is known here, and why. */
void answer_forwarder(struct jsonw *w, struct leond *d, uint16_t vlan);
void answer_mac(struct jsonw *w, const char *key, struct mac mac);
void answer_ip(struct jsonw *w, const char *key, const struct ip_addr *ip);
void answer_prefix(struct jsonw *w, const char *key, const struct prefix *p);
void answer_endpoint(struct jsonw *w, const char *key, const struct endpoint *ep);
/* "ipsec" or "no"; null where there is no address. */
void answer_protected(struct jsonw *w, struct leond *d, const struct ip_addr *ip, mono_t now);
/* Another node with the node-id of this slot; null where there is none. */
void answer_rival(struct jsonw *w, const char *key, struct leond *d, uint16_t slot, mono_t now);
/* An identity; NULL: null. */
void answer_key(struct jsonw *w, const char *key, const uint8_t *identity);
/* Writes null where the value is not known. */
void answer_known(struct jsonw *w, const char *key, bool known, uint64_t value);
/* Whole seconds since t; null for never. */
void answer_age(struct jsonw *w, const char *key, mono_t now, mono_t t);
/* Whole seconds until t, 0 where it is past; null for never. */
void answer_left(struct jsonw *w, const char *key, mono_t now, mono_t t);
void answer_time(struct jsonw *w, const char *key, int64_t wall_us);
/* Wall-clock time of a monotonic one. */
int64_t wall_of(mono_t now, mono_t t);
/* Arrays of node-ids and of what to call the hops. */
void answer_hops(struct jsonw *w, const char *ids_key, const char *names_key, struct leond *d,
		 const struct path *p);
/* What was found about data on the way to the node, and relays that are not taken for it. */
void answer_path_data(struct jsonw *w, struct leond *d, uint16_t slot, const struct path *p);
/* The object "rules": the numbers of the part `path` of the configuration, by their names there. */
void answer_rules(struct jsonw *w, const struct conf *conf);
