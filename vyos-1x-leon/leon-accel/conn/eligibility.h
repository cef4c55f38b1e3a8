// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reasons why a tracked connection is not intercepted: the checks of a plain connection, in the
 * order of enum accel_reason. conns.c calls them for each frame, control.c for `explain
 * connection`. Single-threaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "conn/time_saved.h"
#include "ipc/accel_report.h"

struct conn;
struct engine;
struct jsonw;

/* Returns the first check that fails. ACCEL_REASON_NONE: the next frame starts an attempt. */
enum accel_reason eligibility(struct conn *c, mono_t now);
/* Writes all checks with figures into the open object. */
void eligibility_explain(struct conn *c, struct jsonw *w, mono_t now);
/* Reports whether latency and mode permit interception with the node. */
bool eligibility_is_on(const struct conn *c);
/* Reports whether the configuration permits it. */
bool eligibility_is_admitted(const struct conn *c);
/* Both: the connection may stay intercepted. */
bool eligibility_is_wanted(const struct conn *c);
/* Reports whether an intercepted connection is to be released now. */
bool eligibility_is_over(const struct conn *c, mono_t now);
/* Reports whether the maximum of connections is intercepted. */
bool eligibility_is_full(const struct engine *e);
/* `reason` is the enum accel_refusal of the other accelerator. */
enum accel_reason eligibility_of_refusal(uint8_t reason);
/* Reports whether the rate `flow` in that direction passes benefit_present(). */
bool judge_is_worth_keeping(const struct conn *c, enum saved_direction d, uint64_t flow);
