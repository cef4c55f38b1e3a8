// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The addresses of the interface. Control thread.
 */
#pragma once

struct leond;

/* Makes the kernel's addresses those of the configuration, see addresses.c. */
void addresses_apply(struct leond *d);
