// SPDX-License-Identifier: GPL-2.0-or-later
/* For measure/; the declarations are in core.h. */
#pragma once

#include "proto/core.h"
