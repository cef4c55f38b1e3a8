// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many HELLOs are opened and how many answered. Decides and counts; control thread.
 */
#pragma once

#include "proto/core.h"

bool limit_may_open(struct overlay *o, const struct endpoint *from);
/* Has this address had its share of answers? */
bool limit_may_answer(struct overlay *o, const struct endpoint *from);
