// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How far a word that was typed is from one that there is. Pure.
 */
#pragma once

#include <stdbool.h>

#define NEAREST_LEN_MAX 40 /* longer words are near nothing */

/* Characters to add, leave out, replace, or to exchange with the next one. */
unsigned nearest_distance(const char *a, const char *b);
/* Near enough to be what was meant: a third of its characters may be wrong, one at least. */
bool nearest_is_near(const char *typed, unsigned distance);
