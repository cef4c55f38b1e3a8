// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The library for AES-256-GCM (system cipher-library). Control thread. doc/decisions/073.
 */
#pragma once

struct leond;

/* Called at the start, before any key and any worker exists, and after a reload. Present contexts
 * keep the library. Logs a change with the reason. */
void cipher_library_apply_conf(struct leond *d);
