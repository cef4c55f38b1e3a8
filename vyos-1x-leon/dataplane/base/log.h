// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Logging: level, token (subsystem), message with a key=value tail, to stderr with <N> prefixes
 * that journald understands. Owns the level and the sink (the only globals except counters).
 * Called from io/, proto/, daemon/ on the control thread only; wire/, crypto/, state/ and fwd/
 * never log. Secrets are never passed to it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bucket.h"
#include "defs.h"
#include "mono.h"

enum log_level {
	LOG_LVL_ERROR = 3,
	LOG_LVL_WARN = 4,
	LOG_LVL_NOTICE = 5,
	LOG_LVL_INFO = 6,
	LOG_LVL_DEBUG = 7
};

typedef void (*log_sink_fn)(void *arg, enum log_level level, const char *token, const char *text);

void log_set_level(enum log_level level);
/* Replaces stderr for tests and fuzzers. NULL restores stderr. */
void log_set_sink(log_sink_fn fn, void *arg);

/* Replaces control characters by '?', so that names from the network or a file cannot start a log
 * line or control a terminal. Every log line passes it. */
void log_mask(char *text);
void log_write(enum log_level level, const char *token, const char *fmt, ...) attr_printf(3, 4);

#define log_error(token, ...)  log_write(LOG_LVL_ERROR, token, __VA_ARGS__)
#define log_warn(token, ...)   log_write(LOG_LVL_WARN, token, __VA_ARGS__)
#define log_notice(token, ...) log_write(LOG_LVL_NOTICE, token, __VA_ARGS__)
#define log_info(token, ...)   log_write(LOG_LVL_INFO, token, __VA_ARGS__)
#define log_debug(token, ...)  log_write(LOG_LVL_DEBUG, token, __VA_ARGS__)

/*
 * Limit for every message that a remote host can cause: a burst of `burst` messages and
 * `per_minute` on average, both at least 1. The next message that passes reports the number of
 * suppressed ones.
 */
struct log_limit {
	uint32_t burst;
	uint32_t per_minute;
	struct bucket bucket;
	uint64_t suppressed;
};
#define LOG_LIMIT_INIT(b, pm) ((struct log_limit){ .burst = (b), .per_minute = (pm) })
bool log_limit_pass(struct log_limit *lim, mono_t now);
void log_limited(struct log_limit *lim, mono_t now, enum log_level level, const char *token,
		 const char *fmt, ...) attr_printf(5, 6);

/* Reports the place of a programming error and aborts. */
#define bug(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
void bug_at(const char *file, int line, const char *fmt, ...) attr_printf(3, 4) attr_noreturn;
