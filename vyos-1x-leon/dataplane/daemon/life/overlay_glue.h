// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Callbacks of the protocol. Control thread.
 */
#pragma once

/* Callbacks of the protocol; arg is struct leond. */
const struct overlay_ops *overlay_glue_ops(void);
