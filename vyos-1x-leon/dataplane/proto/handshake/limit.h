// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rate limits for opening and answering HELLOs. Control thread.
 */
#pragma once

#include "proto/core.h"

bool limit_may_open(struct overlay *o, const struct endpoint *from);
/* Returns true if the answer budget of this address is exhausted. */
bool limit_may_answer(struct overlay *o, const struct endpoint *from);
