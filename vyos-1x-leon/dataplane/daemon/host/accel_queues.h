// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queues between the workers and leon-accel: a seqpacket pair for each worker, made before the
 * workers start and kept for as long as they run, whoever has the other ends. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"

struct leond;
struct snap;

/* 0 or -errno. */
int accel_queues_open(struct leond *d);
void accel_queues_free(struct leond *d);
unsigned accel_queues_count(const struct leond *d);
/* The worker's end; -1: there is none. */
int accel_queues_ours(const struct leond *d, unsigned worker);
/* The ends for leon-accel, one for each worker. */
const int *accel_queues_theirs(const struct leond *d);
/* What is on its way to a leon-accel that is gone is of no use to the next. */
void accel_queues_drain(struct leond *d);
/* leon-accel has them, or has them no more: the next snapshot says so. */
void accel_queues_set_ready(struct leond *d, bool ready);
bool accel_queues_are_ready(const struct leond *d);
/* It was not here yet, and this leond has just begun: it may come (decision 062). */
bool accel_queues_await(const struct leond *d);
/* That node has an accelerator too. */
bool accel_queues_reach(const struct leond *d, uint16_t slot);
/*
 * Each second: may TCP to and from that node go past leon-accel, since nothing of it can be taken?
 * It does when that has been so for a while (decision 058), which the next snapshot says.
 */
void accel_queues_look(struct leond *d, uint16_t slot, bool is_idle, mono_t now);
/*
 * A host moved to that node. If it has connections that are taken, what it says has to come by
 * leon-accel, or they could neither be given back nor reset: so for a while the node is followed
 * whether it has an accelerator or not, if at a look anything is taken (decision 042).
 */
void accel_queues_host_moved(struct leond *d, uint16_t slot, mono_t now);
/* Hosts were forgotten with their LAN or their node, and what is new at another node for the next
 * minutes may be one of them: no move, for nobody knows where it was, but seen all the same. */
void accel_queues_forgot_hosts(struct leond *d, mono_t now);
bool accel_queues_have_forgotten(const struct leond *d, mono_t now);
/* leon-accel says for the first time what is taken; more than leond if that has just begun: where
 * hosts moved before nobody knows then, and so each node is as one to which a host moved. */
void accel_queues_came_with(struct leond *d, bool any_taken, mono_t now);
void accel_queues_look_for_guests(struct leond *d, uint16_t slot, bool any_taken, mono_t now);
/* For either reason. */
bool accel_queues_follow(const struct leond *d, uint16_t slot);
bool accel_queues_aside(const struct leond *d, uint16_t slot);
void accel_queues_fill_snap(const struct leond *d, struct snap *s);
