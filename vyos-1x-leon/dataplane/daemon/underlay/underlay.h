// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The underlay: sockets, addresses of this node and of others. bottleneck.h, reach.h and usage.h
 * have the rates, the state of peers and the use of links. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "daemon/underlay/members.h"

struct conf;
struct endpoint;
struct leond;
struct nl_event;

/* --- lines.c: the lines of this site (decisions/080) --- */
/* Opens the sockets of all lines, instead of those of the source-address. Returns 0 or -errno. */
int lines_open(struct leond *d, bool v6);
/* Sets header fields and fwmark of sent datagrams for all sockets; workers may send at that time.
 * Returns 0, or -errno after logging. */
int lines_mark(struct leond *d);
void lines_apply_conf(struct leond *d);
/* Announces the lines to the protocol, before its start. */
void lines_hand_over(struct leond *d);
void lines_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
/* Repeats a failed bind. */
void lines_second(struct leond *d, mono_t now);
/* Number of links that use this line. */
unsigned lines_links(struct leond *d, uint8_t line);
/* The sockets of this line; n 0: the site has no second line. */
struct udp *lines_udp(struct leond *d, uint8_t line);
/* The reason why this line cannot be used; NULL: none. */
const char *lines_lost(const struct leond *d, uint8_t line);

/* --- locators.c: addresses of this node --- */
void locators_start(struct leond *d);
void locators_free(struct leond *d);
void locators_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
void locators_update(struct leond *d);

/* --- source.c: loss and return of the source-address or source-interface --- */
void source_start(struct leond *d);
void source_free(struct leond *d);
void source_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */

/* --- seeds.c: addresses of the configured peers --- */
int seeds_start(struct leond *d);
void seeds_stop(struct leond *d); /* also without seeds_start() */
/* The list of peers changed. */
void seeds_reset(struct leond *d);
/* The stream to configured peer i; family 0: none. */
void seeds_set_stream(struct leond *d, uint32_t i, const struct endpoint *stream);
void seeds_run(struct leond *d, mono_t now); /* called once a second */

/* --- cache.c: the member cache in its file --- */
void cache_load(struct leond *d);
void cache_append_to(const struct leond *d, struct conf *c);
/* Returns the i-th appended entry. */
const struct member_entry *cache_member(const struct leond *d, uint32_t i);
void cache_save(struct leond *d, mono_t now);
void cache_periodic(struct leond *d, mono_t now); /* called once a second */
void cache_free(struct leond *d);

/* --- senders.c: ingress shaping (decisions/039) --- */
void senders_start(struct leond *d);
void senders_free(struct leond *d);
/* Applies the configuration; called after a reload and before senders_start(). */
void senders_apply_conf(struct leond *d);
/* Direct arrival rate from the node in kbit/s of IP packets; 0 without measurement. */
uint32_t senders_kbits(const struct leond *d, uint16_t slot);
