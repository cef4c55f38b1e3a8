// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The member cache: where other members were reached last, kept beside the control socket so that
 * a restarted daemon can rejoin although its configured peers are dead. Text to list and back;
 * the file itself is written and read by cache.c. No LEON state; control thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/jsonw.h"

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

/* 0, or -EINVAL with one sentence in err: not such a file, or one of another overlay. */
int members_parse(const char *text, size_t len, uint32_t vni, struct member_list *out, char *err,
		  size_t err_len);
void members_write(const struct member_list *l, uint32_t vni, struct jsonw *w);
