// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Warnings about permitted but ineffective configurations, one sentence each. Control thread.
 */
#pragma once

struct conf;

typedef void (*advice_fn)(void *arg, const char *text);
void advice_of(const struct conf *c, advice_fn fn, void *arg);
/* The sentence about a short secret; NULL if the secret is long enough or there is none. */
const char *advice_of_secret(const struct conf *c);
