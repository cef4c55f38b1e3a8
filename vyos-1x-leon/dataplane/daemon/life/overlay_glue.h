// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the protocol calls. Control thread.
 */
#pragma once

/* What the protocol calls; arg is struct leond. */
const struct overlay_ops *overlay_glue_ops(void);
