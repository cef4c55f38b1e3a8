// SPDX-License-Identifier: GPL-2.0-or-later
/* Values that fuzz_open.c and the generator of its corpus share. */
#pragma once

#define OPEN_SECRET  "correct horse battery staple"
#define OPEN_VNI     0x012345u
#define OPEN_NODE_A  0xc0000201u /* sender */
#define OPEN_NODE_B  0xc6336402u /* receiver */
#define OPEN_VALUE_A 0x1111111111111111ULL
#define OPEN_VALUE_B 0x2222222222222222ULL
