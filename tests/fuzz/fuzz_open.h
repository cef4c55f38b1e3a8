// SPDX-License-Identifier: GPL-2.0-or-later
/* What fuzz_open.c and the generator of its corpus must agree on. */
#pragma once

#define OPEN_SECRET  "correct horse battery staple"
#define OPEN_VNI     0x012345u
#define OPEN_NODE_A  0xc0000201u /* sends */
#define OPEN_NODE_B  0xc6336402u /* opens */
#define OPEN_VALUE_A 0x1111111111111111ULL
#define OPEN_VALUE_B 0x2222222222222222ULL
