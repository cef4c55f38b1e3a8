// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offloads of the device and the sockets. Control thread.
 */
#pragma once

#include "daemon/leond.h"

/* Disables the offloads named in the environment; called after device and sockets are open. */
void offload_limit(struct leond *d);
void offload_look(struct leond *d, mono_t now); /* called once a second */
