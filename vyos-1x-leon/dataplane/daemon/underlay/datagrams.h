// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Header fields and fwmark of sent datagrams. Control thread.
 */
#pragma once

struct leond;

int datagrams_apply_conf(struct leond *d);
