// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asynchronous commands: trace and ping. Control thread.
 */
#pragma once

struct leond;

void probe_jobs_drop(struct leond *d);
