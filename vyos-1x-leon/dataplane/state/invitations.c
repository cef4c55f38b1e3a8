// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The issued invitations, see invitations.h.
 */
#include "state/invitations.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonr.h"
#include "base/mem.h"
#include "base/text.h"
#include "state/state_file.h"

#define FILE_VERSION 1

/* The list has no gaps and is ordered by the time of issue. */
struct invitations {
	unsigned n;
	struct invitation *at[INVITATIONS_MAX];
};

struct invitations *invitations_new(void)
{
	return x_new(struct invitations);
}

static void clear(struct invitations *l)
{
	while (l->n)
		invitations_remove(l, l->at[l->n - 1]);
}

void invitations_free(struct invitations *l)
{
	if (!l)
		return;
	clear(l);
	free(l);
}

static unsigned index_of(const struct invitations *l, const struct invitation *i)
{
	unsigned at = 0;

	while (at < l->n && l->at[at] != i)
		at++;
	return at;
}

void invitations_remove(struct invitations *l, struct invitation *i)
{
	unsigned at = index_of(l, i);

	memmove(&l->at[at], &l->at[at + 1], (l->n - at - 1) * sizeof(l->at[0]));
	l->n--;
	x_wipe(i, sizeof(*i));
	free(i);
}

const struct invitation *invitations_next(const struct invitations *l, const struct invitation *i)
{
	unsigned at = i ? index_of(l, i) + 1 : 0;

	return at < l->n ? l->at[at] : NULL;
}

/* Repeated requests of the machine that used the invitation last find no answer afterwards. */
static struct invitation *oldest_used_up(const struct invitations *l)
{
	struct invitation *oldest = NULL;

	for (unsigned k = 0; k < l->n; k++) {
		struct invitation *i = l->at[k];

		if (i->n_used == i->uses &&
		    (!oldest || i->use[i->n_used - 1].at_s < oldest->use[oldest->n_used - 1].at_s))
			oldest = i;
	}
	return oldest;
}

struct invitation *invitations_add(struct invitations *l, const uint8_t value[TOKEN_VALUE_LEN],
				   uint32_t expires, unsigned uses)
{
	struct invitation *i = l->n == INVITATIONS_MAX ? oldest_used_up(l) : NULL;

	if (i)
		invitations_remove(l, i);
	if (l->n == INVITATIONS_MAX)
		return NULL;
	i = x_new(struct invitation);
	memcpy(i->value, value, TOKEN_VALUE_LEN);
	invitation_id(value, i->id);
	i->expires = expires;
	i->uses = uses;
	l->at[l->n++] = i;
	return i;
}

static bool is_over(const struct invitation *i, int64_t now_s)
{
	return i->expires && now_s > (int64_t)i->expires;
}

struct invitation *invitations_find(struct invitations *l, const uint8_t id[INVITATION_ID_LEN],
				    int64_t now_s)
{
	for (unsigned k = 0; k < l->n; k++)
		if (memcmp(l->at[k]->id, id, INVITATION_ID_LEN) == 0)
			return is_over(l->at[k], now_s) ? NULL : l->at[k];
	return NULL;
}

struct invitation *invitations_expired(struct invitations *l, int64_t since_s, int64_t now_s)
{
	for (unsigned k = 0; k < l->n; k++)
		if (is_over(l->at[k], now_s) && (int64_t)l->at[k]->expires >= since_s)
			return l->at[k];
	return NULL;
}

/* --- uses --- */

enum claim invitation_claim(struct invitation *i, const uint8_t key[DH_KEY_LEN],
			    const struct endpoint *from, int64_t now_s)
{
	struct invitation_use *u;

	for (unsigned k = 0; k < i->n_used; k++)
		if (memcmp(i->use[k].key, key, DH_KEY_LEN) == 0)
			return CLAIM_REPEATED;
	if (i->n_used == i->uses)
		return CLAIM_USED_UP;
	u = &i->use[i->n_used++];
	*u = (struct invitation_use){ .from = *from, .at_s = now_s };
	memcpy(u->key, key, DH_KEY_LEN);
	return CLAIM_NEW;
}

void invitation_unclaim(struct invitation *i)
{
	i->n_used--;
}

/* --- file --- */

static void write_use(struct jsonw *w, const struct invitation_use *u)
{
	char key[HEX_LEN(DH_KEY_LEN) + 1], from[ENDPOINT_STRLEN];

	jsonw_object(w, NULL);
	jsonw_str(w, "key", hex_format(u->key, DH_KEY_LEN, key));
	jsonw_str(w, "from", endpoint_format(&u->from, from, sizeof(from)));
	jsonw_u64(w, "at", (uint64_t)u->at_s);
	jsonw_end(w);
}

void invitations_write(const struct invitations *l, uint32_t vni, struct jsonw *w)
{
	char value[HEX_LEN(TOKEN_VALUE_LEN) + 1];

	state_file_begin(w, FILE_VERSION, vni);
	jsonw_array(w, "invitations");
	for (const struct invitation *i = NULL; (i = invitations_next(l, i));) {
		jsonw_object(w, NULL);
		jsonw_str(w, "value", hex_format(i->value, TOKEN_VALUE_LEN, value));
		jsonw_u64(w, "expires", i->expires);
		jsonw_u64(w, "uses", i->uses);
		jsonw_array(w, "used");
		for (unsigned k = 0; k < i->n_used; k++)
			write_use(w, &i->use[k]);
		jsonw_end(w);
		jsonw_end(w);
	}
	jsonw_end(w);
	jsonw_end(w);
	x_wipe(value, sizeof(value));
}

/* Reads exactly `len` bytes of hexadecimal text. */
static bool read_hex(struct jsonr_node *n, const char *key, uint8_t *out, size_t len)
{
	const char *text = "";

	if (jsonr_str(n, key, &text) && strlen(text) == HEX_LEN(len) &&
	    hex_parse(text, out, len) == 0)
		return true;
	jsonr_fail_key(n, key, "expected %zu hexadecimal digits", HEX_LEN(len));
	return false;
}

static void read_use(struct jsonr_node *n, struct invitation *i)
{
	uint8_t key[DH_KEY_LEN];
	struct endpoint from;
	const char *text = "";
	uint64_t at = 0;

	if (!read_hex(n, "key", key, sizeof(key)))
		return;
	if (!jsonr_str(n, "from", &text) || endpoint_parse(text, 0, &from) < 0)
		jsonr_fail_key(n, "from", "expected an address and a port");
	else if (!jsonr_u64(n, "at", 0, INT64_MAX, &at))
		jsonr_fail_key(n, "at", "missing");
	else if (invitation_claim(i, key, &from, (int64_t)at) != CLAIM_NEW)
		jsonr_fail(n, "more uses than the invitation has");
}

static void read_invitation(struct jsonr_node *n, struct invitations *l)
{
	struct jsonr_node *used = jsonr_array(n, "used");
	uint8_t value[TOKEN_VALUE_LEN];
	uint64_t expires = 0, uses = 0;
	struct invitation *i;

	if (!read_hex(n, "value", value, sizeof(value)))
		return;
	if (!jsonr_u64(n, "expires", 0, UINT32_MAX, &expires) ||
	    !jsonr_u64(n, "uses", 1, INVITATION_USES_MAX, &uses)) {
		jsonr_fail(n, "a number is missing");
		return;
	}
	i = invitations_add(l, value, (uint32_t)expires, (unsigned)uses);
	x_wipe(value, sizeof(value));
	if (!i)
		jsonr_fail(n, "more than %d invitations", INVITATIONS_MAX);
	for (size_t k = 0; i && k < jsonr_len(used); k++)
		read_use(jsonr_at(used, k), i);
}

int invitations_parse(struct invitations *l, const char *text, size_t len, uint32_t vni, char *err,
		      size_t err_len)
{
	struct jsonr *doc = jsonr_parse(text, len, INVITATIONS_FILE_MAX);
	struct jsonr_node *root = jsonr_root(doc);
	struct jsonr_node *list = jsonr_array(root, "invitations");
	int r;

	state_file_check(root, "a list of invitations", FILE_VERSION, vni);
	for (size_t k = 0; k < jsonr_len(list) && !jsonr_error(doc); k++)
		read_invitation(jsonr_at(list, k), l);
	r = state_file_end(doc, err, err_len);
	if (r < 0)
		clear(l);
	return r;
}
