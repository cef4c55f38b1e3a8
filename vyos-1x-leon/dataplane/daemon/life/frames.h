// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of workers. Control thread.
 */
#pragma once

struct leond;

int frames_start(struct leond *d);
