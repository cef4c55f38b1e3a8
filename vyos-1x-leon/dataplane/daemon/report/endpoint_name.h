// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of endpoints for people: a stream has the address of its TCP connection. Control thread.
 */
#pragma once

#include <stddef.h>

struct endpoint;
struct leond;

/* Writes "192.0.2.1:443". buf needs ENDPOINT_STRLEN bytes. */
char *endpoint_name(const struct leond *d, const struct endpoint *ep, char *buf, size_t len);
