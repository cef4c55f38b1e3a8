// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of an answer as text for people: "21.0 ms", "3 min 20 s", "inagi > seoul", "-" for
 * unknown. leonctl only. Results live in a small set of buffers that are used in turn, enough for
 * the arguments of one printf.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/jsonr.h"

#define UNKNOWN "-"

const char *text_str(struct jsonr_node *n, const char *key); /* UNKNOWN where absent */
const char *text_us(struct jsonr_node *n, const char *key);  /* "21.0 ms" */
const char *text_number(struct jsonr_node *n, const char *key);
const char *text_permille(struct jsonr_node *n, const char *key); /* "1.5 %" */
const char *text_age(struct jsonr_node *n, const char *key);	  /* "3 min 20 s" */
const char *text_bytes(struct jsonr_node *n, const char *key);	  /* "4.2 MiB" */
/* "seoul (10.0.0.3)", or the node-id alone. */
const char *text_node(struct jsonr_node *n, const char *id_key, const char *name_key);
/* "inagi, seoul", or nothing. */
const char *text_list(struct jsonr_node *n, const char *key);
/* "fujisawa > inagi > seoul"; `from` is NULL where the list begins with the source. */
const char *text_hops(struct jsonr_node *n, const char *key, const char *from);

uint64_t value_u64(struct jsonr_node *n, const char *key); /* 0 where unknown */
bool value_bool(struct jsonr_node *n, const char *key);	   /* false where unknown */
