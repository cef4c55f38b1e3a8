// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Version of the programs, from packaging/version.sh at build time. Constant; any thread.
 */
#pragma once

extern const char leon_version[];
