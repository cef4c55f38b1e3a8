// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The member cache: last endpoints of other members, stored beside the control socket. A restarted
 * daemon can then rejoin if its configured peers are dead. Converts text to list and back; cache.c
 * reads and writes the file. No LEON state; control thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/json/jsonw.h"

#define MEMBERS_MAX	  32
#define MEMBERS_ENDPOINTS 4
#define MEMBERS_FILE_MAX  65536

struct member_entry {
	node_id_t node;
	unsigned n;
	struct endpoint ep[MEMBERS_ENDPOINTS];
};
struct member_list {
	unsigned n;
	struct member_entry member[MEMBERS_MAX];
};

/* Returns 0, or -EINVAL with one sentence in err: wrong content, or another overlay. */
int members_parse(const char *text, size_t len, uint32_t vni, struct member_list *out, char *err,
		  size_t err_len);
void members_write(const struct member_list *l, uint32_t vni, struct jsonw *w);
