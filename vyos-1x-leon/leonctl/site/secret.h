// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random pre-shared secrets, for `leonctl generate secret` and `leonctl init`.
 */
#pragma once

#include <stdbool.h>

#include "client/target.h"

#define SECRET_DIGITS 44 /* 6 bits each, 264 bits together */

/* Draws a secret. Prints the reason and returns false at an error. */
bool secret_draw(const struct target *t, char out[SECRET_DIGITS + 1]);
