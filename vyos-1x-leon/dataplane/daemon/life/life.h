// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Start, reload, work and stop of leond, by the files of this folder. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mono.h"

struct apply_verdict;
struct conf;
struct leond;

/* --- start.c: all parts of struct leond --- */
/* Returns 0, or -errno after logging; the caller calls leond_free() in both cases. */
int leond_start(struct leond *d, struct conf *conf);
/* Runs until a signal requests the stop and leave was sent (0), or the loop fails (-errno). Logs
 * either. */
int leond_run(struct leond *d);
void leond_free(struct leond *d); /* accepts a partly started object */

/* --- confread.c --- */
/* Returns true with the reason if libcrypto lacks a primitive that each node needs. */
bool conf_base_refused(char *err, size_t err_len);
/* The path is a member of the result, and is not copied. */
struct conf *conf_read_file(const char *path, char *err, size_t err_len);

/* Permitted but ineffective configurations, one sentence each. */
typedef void (*advice_fn)(void *arg, const char *text);
void advice_of(const struct conf *c, advice_fn fn, void *arg);
/* The sentence about a short secret; NULL if the secret is long enough or there is none. */
const char *advice_of_secret(const struct conf *c);

/* --- apply.c: a changed configuration, completely or not at all --- */
void leond_reload(struct leond *d, struct apply_verdict *v);

/* --- modules.c: the modules as one list --- */
/* Starts the modules in the order of the table; called when device, overlay and workers exist. */
void modules_start(struct leond *d);
/* Applies the new `d->conf` to the modules with an interest in `changes` (enum conf_change). */
void modules_apply(struct leond *d, unsigned changes);
/* Called once a second. */
void modules_second(struct leond *d, mono_t now);
/* Frees the modules in reverse order, started or not; called when overlay and workers are gone. */
void modules_stop(struct leond *d);

/* --- housekeeping.c: work of each second --- */
void housekeeping_start(struct leond *d);

/* --- frames.c: reports of workers --- */
int frames_start(struct leond *d);

/* --- overlay_glue.c: callbacks of the protocol; arg is struct leond --- */
extern const struct overlay_ops overlay_glue;

/* --- snapshot.c: the snapshot for workers --- */
void snapshot_publish(struct leond *d);
/* Replaces the FDB by one of this capacity and publishes. */
void snapshot_replace_fdb(struct leond *d, uint32_t maximum);
void snapshot_replace_neigh(struct leond *d, uint32_t maximum); /* likewise */

/* --- watch.c: changes of the host by other programs, distributed to the modules --- */
/* Opens the monitor; no later change is missed. Returns 0, or -errno after logging. */
int watch_start(struct leond *d);
