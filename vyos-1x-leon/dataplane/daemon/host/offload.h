// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offloads of the device and the sockets. Control thread.
 */
#pragma once

#include "daemon/leond.h"

/* Turns off what the environment says; after the device and the sockets were opened. */
void offload_limit(struct leond *d);
void offload_look(struct leond *d); /* once a second */
