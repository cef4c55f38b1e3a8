// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edit distance between a typed word and a known word. Pure.
 */
#pragma once

#include <stdbool.h>

#define NEAREST_LEN_MAX 40 /* longer words match nothing */

/* Returns the number of insertions, deletions, replacements and exchanges of adjacent
 * characters. */
unsigned nearest_distance(const char *a, const char *b);
/* Returns true if at most a third of the characters differ, or one character. */
bool nearest_is_near(const char *typed, unsigned distance);
