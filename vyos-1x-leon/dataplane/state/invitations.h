// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The invitations of this node (protocol.md section 8.2): value, end, permitted uses, and the
 * machines of these uses. At most INVITATIONS_MAX. Also the text of their file. Time is the wall
 * clock in seconds and a parameter. Control thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/json/jsonw.h"
#include "crypto/invitation.h"

#define INVITATIONS_MAX	     64
#define INVITATION_USES_MAX  32
#define INVITATIONS_FILE_MAX (1u << 20)

struct invitation_use {
	uint8_t key[DH_KEY_LEN]; /* ephemeral public key of the machine */
	struct endpoint from;
	int64_t at_s;
};

struct invitation {
	uint8_t id[INVITATION_ID_LEN], value[TOKEN_VALUE_LEN];
	uint32_t expires; /* seconds since 1970; 0: never */
	unsigned uses;	  /* permitted machines, 1..INVITATION_USES_MAX */
	unsigned n_used;
	struct invitation_use use[INVITATION_USES_MAX];
};

struct invitations;
struct invitations *invitations_new(void);
void invitations_free(struct invitations *l); /* NULL ok; wipes */

/* Adds an invitation. In a full list, replaces the used-up invitation with the oldest last use.
 * Returns NULL if all are open. */
struct invitation *invitations_add(struct invitations *l, const uint8_t value[TOKEN_VALUE_LEN],
				   uint32_t expires, unsigned uses);
/* Returns the invitation with this id, or NULL, also if it has expired. */
struct invitation *invitations_find(struct invitations *l, const uint8_t id[INVITATION_ID_LEN],
				    int64_t now_s);
void invitations_remove(struct invitations *l, struct invitation *i);
/* Returns the next one of the list; NULL: the first one, or the end. */
const struct invitation *invitations_next(const struct invitations *l, const struct invitation *i);
/* Returns an invitation that has expired, at since_s or later, or NULL. */
struct invitation *invitations_expired(struct invitations *l, int64_t since_s, int64_t now_s);

enum claim { CLAIM_NEW, CLAIM_REPEATED, CLAIM_USED_UP };
/* The machine with this ephemeral key uses the invitation. A machine may repeat its request. */
enum claim invitation_claim(struct invitation *i, const uint8_t key[DH_KEY_LEN],
			    const struct endpoint *from, int64_t now_s);
/* Takes back the newest use, which could not be stored. */
void invitation_unclaim(struct invitation *i);

/* Writes the text of the file, which contains the values. */
void invitations_write(const struct invitations *l, uint32_t vni, struct jsonw *w);
/* Fills an empty list from the text of a file. Returns 0; after an error -EINVAL with a sentence,
 * and the list is empty. */
int invitations_parse(struct invitations *l, const char *text, size_t len, uint32_t vni, char *err,
		      size_t err_len);
