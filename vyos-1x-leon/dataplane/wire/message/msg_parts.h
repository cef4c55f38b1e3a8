// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fields that several control messages have: addresses and endpoints. Called by msg.c,
 * msg_record.c and msg_row.c. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

#define IP_WIRE_MAX 17 /* family, address */
#define EP_WIRE_MAX (IP_WIRE_MAX + 2)
#define U24_MAX	    0xffffffu

struct msg;
struct codec;

/* Returns the address length of this family, or -1 for an unknown family. */
int family_len(uint8_t family);
void code_ip(struct codec *b, struct ip_addr *ip);
/* The port is present with an address only. */
void code_endpoint(struct codec *b, struct endpoint *ep);
bool are_parts_valid(uint16_t part, uint16_t parts);

/* msg_record.c: RECORD. */
bool record_valid(const struct msg *m);
void record_code(struct codec *b, struct msg *m);

/* msg_capture.c: CAPTURE-... */
#define CAPTURE_START_LEN  (1 + 4 + 2 + 4 + 2 + CAPTURE_FILTER_LEN)
#define CAPTURE_READ_LEN   9
#define CAPTURE_DATA_MIN   29
#define CAPTURE_DATA_MAX   (CAPTURE_DATA_MIN + 12 * MSG_CLOCKS_MAX + MSG_CAPTURE_MAX)
#define CAPTURE_LOOKUP_MIN 14
#define CAPTURE_LOOKUP_MAX (CAPTURE_LOOKUP_MIN + 8 * MSG_LOOKUP_MAX)
#define CAPTURE_SEEN_MAX   (CAPTURE_LOOKUP_MIN + 12 * MSG_LOOKUP_MAX)
bool capture_start_valid(const struct msg *m);
void capture_start_code(struct codec *b, struct msg *m);
bool capture_read_valid(const struct msg *m);
void capture_read_code(struct codec *b, struct msg *m);
bool capture_data_valid(const struct msg *m);
void capture_data_code(struct codec *b, struct msg *m);
bool capture_lookup_valid(const struct msg *m);
void capture_lookup_code(struct codec *b, struct msg *m);

/* msg_row.c: ROW, SHORT-ROW. */
#define ROW_MIN	      27
#define ROW_MAX	      (ROW_MIN + 17 * MSG_ROW_MAX)
#define SHORT_ROW_MIN 28
#define SHORT_ROW_MAX MSG_LEN_MAX
bool row_valid(const struct msg *m);
void row_code(struct codec *b, struct msg *m);
bool short_row_valid(const struct msg *m);
void short_row_code(struct codec *b, struct msg *m);
