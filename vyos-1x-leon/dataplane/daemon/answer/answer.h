// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests of the control socket, and LEON's values in their answers. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/defs.h"
#include "base/json/jsonr.h"
#include "base/json/jsonw.h"
#include "base/mono.h"
#include "state/tables/nodedb.h"

struct conf;
struct leond;
struct path;

/* --- commands --- */

/* A request until its answer. A handler writes the members of an open answer object, or refuses
 * with one sentence. A handler that waits for packets keeps the command and finishes later. */

#define COMMAND_JSON_VERSION 1

struct command {
	struct leond *d;
	struct overlay *overlay;
	node_id_t self;
	struct ctl_conn *conn;
	struct jsonr *doc;
	struct jsonr_node *arguments; /* arguments, or NULL */
	struct jsonw *w;	      /* the answer; the outer object is open */
	mono_t now;
	char error[512];
};

enum command_result {
	CMD_DONE,
	CMD_FAILED, /* error holds one sentence */
	CMD_LATER,  /* the handler keeps the command and calls command_finish() */
};
typedef enum command_result (*command_fn)(struct command *c);

/* Sends the answer or the error and frees the command. */
void command_finish(struct command *c, enum command_result result);
/* Frees a command without an answer when the daemon stops. */
void command_drop(struct command *c);
/* Sets the error; returns CMD_FAILED. */
enum command_result command_refuse(struct command *c, const char *fmt, ...) attr_printf(2, 3);
/* Returns the member with this node-id or node-name. NULL: the error is set. */
const struct node *command_find_node(struct command *c, const char *text);
/* Returns the member of argument "node", a node-id or node-name. NULL: the error is set. */
const struct node *command_node(struct command *c);
/* Writes an array with an element, or none, for each other member. */
void answer_nodes(struct command *c, const char *key,
		  void (*write)(struct command *c, const struct node *n));

/* Handlers of the commands. */
#define COMMAND(words, access, handler) enum command_result handler(struct command *c);
#include "daemon/answer/commands.def"
#undef COMMAND

/* --- answer.c --- */

/* JSON representation of LEON's values: ids as text, unknown as null, times in RFC 3339. All show
 * commands use these functions, so equal values look equal. */

void answer_id(struct jsonw *w, const char *key, node_id_t id); /* NODE_ID_NONE: null */
/* Writes the node-name of a member, or null. */
void answer_name(struct jsonw *w, const char *key, struct leond *d, node_id_t id);
/* Writes the node-id with this key, and the node-name with the key "name". */
void answer_node(struct jsonw *w, const char *key, struct leond *d, node_id_t id);
/* The same at the beginning of an object of an array. */
void answer_begin_node(struct jsonw *w, const char *key, struct leond *d, node_id_t id);
/* Returns false for a free slot (NULL) and for a node that has left. */
bool answer_is_member(const struct node *n);
/* Display name of a node: the node-name, or the node-id if there is no name. */
void answer_call(struct jsonw *w, const char *key, struct leond *d, node_id_t id);
/* Writes the forwarder of a VLAN (between LAN and overlay) as known here, and the reason. */
void answer_forwarder(struct jsonw *w, struct leond *d, uint16_t vlan);
void answer_mac(struct jsonw *w, const char *key, struct mac mac);
void answer_ip(struct jsonw *w, const char *key, const struct ip_addr *ip);
void answer_prefix(struct jsonw *w, const char *key, const struct prefix *p);
void answer_endpoint(struct jsonw *w, const char *key, const struct endpoint *ep);
/* Writes the key as well as "transport": "udp", "tls" or null. A stream has the address of the TCP
 * connection. */
void answer_link_endpoint(struct jsonw *w, const char *key, const struct leond *d,
			  const struct endpoint *ep);
/* Writes "ipsec" or "no"; null without an address. */
void answer_protected(struct jsonw *w, struct leond *d, const struct ip_addr *ip, mono_t now);
/* Writes the duplicate of the slot's node-id, or null. */
void answer_duplicate(struct jsonw *w, const char *key, struct leond *d, uint16_t slot, mono_t now);
/* Writes an identity; NULL: null. */
void answer_key(struct jsonw *w, const char *key, const uint8_t *identity);
/* Writes null for an unknown value. */
void answer_known(struct jsonw *w, const char *key, bool known, uint64_t value);
/* Writes whole seconds since t; null for never. */
void answer_age(struct jsonw *w, const char *key, mono_t now, mono_t t);
/* Writes whole seconds until t, 0 in the past; null for never. */
void answer_left(struct jsonw *w, const char *key, mono_t now, mono_t t);
void answer_time(struct jsonw *w, const char *key, int64_t wall_us);
/* Writes an array with the names of the set bits, the lowest bit first. */
void answer_bits(struct jsonw *w, const char *key, unsigned bits, const char *const *names,
		 size_t n);
/* Writes a monotonic time as wall-clock time. */
int64_t wall_of(mono_t now, mono_t t);
/* Write arrays of the node-ids and of the display names of hops. */
void answer_hops(struct jsonw *w, const char *ids_key, const char *names_key, struct leond *d,
		 const struct path *p);
/* Writes the detected data loss towards the node, and the relays excluded for it. */
void answer_path_data(struct jsonw *w, struct leond *d, uint16_t slot, const struct path *p);
/* Writes the object "rules": the numbers of the section `path` of the configuration with their
 * names. */
void answer_rules(struct jsonw *w, const struct conf *conf);
