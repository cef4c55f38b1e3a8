// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads secrets, trusted identities and the path of the own identity key. Pure; control thread. No
 * message contains a secret.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "crypto/keys.h"
#include "state/conf/conf_section.h"

static_assert(SECRET_MIN == 8 && SECRET_MAX == 128, "the sentence of fault_of()");

/* Placeholders of documents, and secrets that an attacker tries first. Case does not matter.
 * leon_ipsec/settings.py and vyos_leon/ipsec.py have the same list. */
static bool is_obvious(const char *s)
{
	static const char *const obvious[] = {
		"replace-this-by-your-own",
		"output of leonctl generate secret",
		"change-me",
		"changeme",
		"mysecret",
		"my-secret",
		"password",
		"password123",
		"pre-shared-secret",
		"replace-me",
		"replaceme",
		"top-secret",
		"topsecret",
	};

	for (size_t i = 0; i < sizeof(obvious) / sizeof(*obvious); i++)
		if (strcasecmp(s, obvious[i]) == 0)
			return true;
	return false;
}

/* Why s cannot be a secret, or NULL. The text does not contain s. */
static const char *fault_of(const char *s)
{
	if (strlen(s) < SECRET_MIN || strlen(s) > SECRET_MAX)
		return "must have 8 to 128 characters";
	if (is_obvious(s))
		return "is a placeholder or an obvious secret; use the output of: leonctl "
		       "generate secret";
	return NULL;
}

static bool is_known(const struct conf *c, const char *s)
{
	if (c->secret && strcmp(c->secret, s) == 0)
		return true;
	for (unsigned i = 0; i < c->n_accept; i++)
		if (strcmp(c->accept[i], s) == 0)
			return true;
	return false;
}

static void read_accepted(struct jsonr_node *auth, struct conf *c)
{
	struct jsonr_node *list = conf_list(auth, "accept-secret", CONF_ACCEPT_MAX, "secrets");
	const char *s;

	if (jsonr_len(list) && !c->secret)
		jsonr_fail(list, "also needs a pre-shared-secret of this node");
	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		if (fault_of(s))
			jsonr_fail(list, "entry %zu %s", i + 1, fault_of(s));
		else if (is_known(c, s))
			jsonr_fail(list, "names a secret twice, or the pre-shared-secret");
		else
			c->accept[c->n_accept++] = x_strdup(s);
	}
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, MSG_KEY_LEN);
}

bool conf_trusts(const struct conf *c, const uint8_t key[MSG_KEY_LEN])
{
	return c->n_trusted == 0 ||
	       bsearch(key, c->trusted, c->n_trusted, MSG_KEY_LEN, compare_keys);
}

bool conf_may_trust(const struct conf *c, const uint8_t *key, size_t len)
{
	uint32_t low = 0, high = c->n_trusted, mid;
	int cmp;

	while (low < high) {
		mid = low + (high - low) / 2;
		cmp = memcmp(key, c->trusted[mid], len);
		if (cmp == 0)
			return true;
		if (cmp < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return c->n_trusted == 0;
}

/* The text may be the secret of an identity file, so no message quotes it. */
static bool parse_key(struct jsonr_node *list, size_t i, const char *s, uint8_t key[MSG_KEY_LEN])
{
	static const uint8_t none[MSG_KEY_LEN];

	if (strlen(s) == HEX_LEN(MSG_KEY_LEN) && hex_parse(s, key, MSG_KEY_LEN) == 0 &&
	    memcmp(key, none, MSG_KEY_LEN) != 0)
		return true;
	jsonr_fail(list,
		   "entry %zu is not an identity: %d lower-case hexadecimal digits, as `leonctl "
		   "show identity` prints them on the node meant",
		   i + 1, HEX_LEN(MSG_KEY_LEN));
	return false;
}

static void read_trusted(struct jsonr_node *auth, struct conf *c)
{
	struct jsonr_node *list =
		conf_list(auth, "trusted-identity", CONF_TRUSTED_MAX, "identities");
	size_t n = jsonr_len(list);
	const char *s;

	if (n == 0)
		return;
	if (!c->secret)
		jsonr_fail(list, "needs a pre-shared-secret; without one, sessions are not "
				 "authenticated and the list would keep nobody out");
	c->trusted = x_calloc(n, MSG_KEY_LEN);
	while (c->n_trusted < n && jsonr_str_at(list, c->n_trusted, &s) &&
	       parse_key(list, c->n_trusted, s, c->trusted[c->n_trusted]))
		c->n_trusted++;
	/* Sorted, because order in the document has no meaning. */
	qsort(c->trusted, c->n_trusted, MSG_KEY_LEN, compare_keys);
	for (uint32_t i = 1; i < c->n_trusted; i++)
		if (compare_keys(c->trusted[i - 1], c->trusted[i]) == 0) {
			char text[HEX_LEN(MSG_KEY_LEN) + 1];

			jsonr_fail(list, "names %s twice",
				   hex_format(c->trusted[i], MSG_KEY_LEN, text));
		}
}

void conf_read_secrets(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *auth = jsonr_object(root, "authentication");
	const char *s;

	if (jsonr_str(auth, "pre-shared-secret", &s)) {
		if (fault_of(s))
			jsonr_fail_key(auth, "pre-shared-secret", "%s", fault_of(s));
		c->secret = x_strdup(s);
	}
	read_accepted(auth, c);
	read_trusted(auth, c);
	conf_get_path(root, "identity-file", c->identity_file, sizeof(c->identity_file));
	if (!c->identity_file[0])
		snprintf(c->identity_file, sizeof(c->identity_file), "/var/lib/leon/%s.identity",
			 c->interface);
	if (!c->secret && c->cipher != SEAL_CHOICE_AUTO)
		jsonr_fail_key(jsonr_object(root, "encryption"), "cipher",
			       "needs authentication.pre-shared-secret; without a secret "
			       "nothing is encrypted");
}

/* An overlay that any host can read and enter must be requested by name, not by an omission. */
void conf_check_secret(struct jsonr_node *root, const struct conf *c)
{
	if (c->secret && c->authentication_disable)
		jsonr_fail_key(jsonr_object(root, "authentication"), "disable",
			       "is not possible beside a pre-shared-secret; delete one of them");
	if (!c->secret && !c->authentication_disable)
		jsonr_fail_key(root, "authentication",
			       "needs a pre-shared-secret, the output of: leonctl generate secret. "
			       "Without one, any host can read all frames and join; "
			       "\"disable\": true here permits that");
}

static void free_secret(char *s)
{
	if (s)
		x_wipe(s, strlen(s));
	free(s);
}

void conf_free_secrets(struct conf *c)
{
	free_secret(c->secret);
	for (unsigned i = 0; i < c->n_accept; i++)
		free_secret(c->accept[i]);
	free(c->trusted);
}

bool conf_has_secret_differs(const struct conf *a, const struct conf *b)
{
	return !a->secret != !b->secret;
}

bool conf_secrets_differ(const struct conf *a, const struct conf *b)
{
	if (a->n_accept != b->n_accept)
		return true;
	if (a->secret && b->secret && strcmp(a->secret, b->secret) != 0)
		return true;
	for (unsigned i = 0; i < a->n_accept; i++)
		if (strcmp(a->accept[i], b->accept[i]) != 0)
			return true;
	return false;
}
