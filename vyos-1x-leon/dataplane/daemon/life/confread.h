// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the configuration file. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct conf;

/* Returns true with the reason if libcrypto lacks a primitive that each node needs. */
bool conf_base_refused(char *err, size_t err_len);
/* The path is a member of the result, and is not copied. */
struct conf *conf_read_file(const char *path, char *err, size_t err_len);
