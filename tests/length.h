// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Length of tests with long simulations. AddressSanitizer makes each step several times as
 * expensive. The sanitized build therefore runs each kind for a short time, and the plain build in
 * full. The callers are tests of tests/unit and tests/sim.
 */
#pragma once

#ifdef __SANITIZE_ADDRESS__
#define LENGTH(full, sanitized) (sanitized)
#else
#define LENGTH(full, sanitized) (full)
#endif
