// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lines of this site: sockets of each, and loss and return of their addresses and interfaces.
 * Without `line` in the configuration there is one line with the sockets of the source-address.
 * Control thread. doc/decisions/080.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

struct leond;
struct nl_event;
struct udp;

/* Opens the sockets of all lines, instead of those of the source-address. Returns 0 or -errno. */
int lines_open(struct leond *d, bool v6);
/* Sets header fields and fwmark of sent datagrams for all sockets; workers may send meanwhile.
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
