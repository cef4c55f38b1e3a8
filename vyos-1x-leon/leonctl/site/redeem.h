// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl join` with a one-time token: requests the secret from the inviting member. leonctl only;
 * blocks for some seconds.
 */
#pragma once

#include "client/target.h"
#include "wire/message/token.h"

/* Fills the secret of the token. Returns an exit code, 0 for success, after it printed the reason
 * of a failure. */
int redeem_token(const struct target *t, struct token *token);
