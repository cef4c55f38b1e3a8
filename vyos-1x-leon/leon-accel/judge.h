// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why a followed connection is not intercepted: the checks of a plain connection, in the order of
 * enum accel_why. conns.c asks with each frame, control.c for `explain connection`. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mono.h"
#include "wire/accel_report.h"

struct conn;
struct engine;
struct jsonw;

/* The first check that fails; ACCEL_WHY_NONE: it is intercepted with its next frame. */
enum accel_why judge(struct conn *c, mono_t now);
/* Writes all checks, with their figures, into the open object. */
void judge_explain(struct conn *c, struct jsonw *w, mono_t now);
/* Connections with its node may be intercepted, as far as latency and mode say. */
bool judge_is_on(const struct conn *c);
/* The configuration does not exclude it. */
bool judge_is_admitted(const struct conn *c);
/* The maximum of connections is intercepted. */
bool judge_is_full(const struct engine *e);
/* reason: enum accel_refusal, from the other accelerator. */
enum accel_why judge_of_refusal(uint8_t reason);
