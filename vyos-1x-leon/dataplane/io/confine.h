// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Confinement of programs that leond starts (leon-tls, leon-portmap): the programs have and gain no
 * capability, and end with leond. Main thread of the program, before any input.
 */
#pragma once

#include <stdbool.h>

#define CONFINE_CONTROL_FD 3 /* descriptor of the socket to leond */

/* Returns true if leond started the program. */
bool confine_has_control(void);
/* Gives up all rights; may execute the program again. Returns false and errno on failure. */
bool confine(const char *name, char **argv);
/* Refuses to open any file from now on (Landlock). Without support of the kernel, or if the filter
 * of the unit refuses, files stay as the user of leond may open them. Returns true if refused. */
bool confine_files(void);
