// SPDX-License-Identifier: GPL-2.0-or-later
/* crypto/keys: the data keys and link values of a session, equal at both ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "crypto/keys.h"
#include "sample_session.h"

#define NODE_A	0xc0000201u
#define NODE_B	0xc6336402u
#define VALUE_A 0x1111111111111111ULL
#define VALUE_B 0x2222222222222222ULL

struct pair {
	struct keyring *ka, *kb;
	struct session *a, *b;
};

static struct pair pair_of(struct keyring *ka, struct keyring *kb, uint64_t value_a)
{
	return (struct pair){ ka, kb, sample_session(ka, NODE_A, NODE_B, value_a, VALUE_B),
			      sample_session(kb, NODE_B, NODE_A, VALUE_B, value_a) };
}

static struct pair pair_new(const char *secret, uint8_t offer, unsigned workers)
{
	struct keyring *ka = sample_keyring(secret, 7), *kb = sample_keyring(secret, 7);

	keyring_set_data(ka, offer, workers);
	keyring_set_data(kb, offer, workers);
	return pair_of(ka, kb, VALUE_A);
}

static void pair_free(struct pair *p)
{
	session_free(p->a);
	session_free(p->b);
	keyring_free(p->ka);
	keyring_free(p->kb);
}

static void crosses(struct seal *from, struct seal *to, int expected)
{
	const struct aead_piece text = { "text", 4 };
	uint8_t out[4 + SEAL_OVERHEAD];

	assert_int_equal(seal_data(from, 0, "aad", 3, &text, 1, out), sizeof(out));
	assert_int_equal(seal_open(to, 1, "aad", 3, out, sizeof(out)), expected);
}

static void both_ends_have_the_same(void **state)
{
	uint8_t offer = seal_offer(SEAL_CHOICE_AUTO, DH_X25519, false, true);
	struct pair p = pair_new("correct horse", offer, 2);
	struct seal *a = session_data(p.a), *b = session_data(p.b);

	(void)state;
	assert_int_equal(seal_cipher(a), SEAL_AES_256_GCM);
	assert_int_equal(seal_epoch(a), seal_epoch(b));
	crosses(a, b, 4);
	crosses(b, a, 4);
	crosses(a, a, -EBADMSG);
	assert_true(seal_tx_link(a) == seal_rx_link(b));
	assert_true(seal_rx_link(a) == seal_tx_link(b));
	assert_true(seal_tx_link(a) != seal_rx_link(a));
	assert_true(seal_tx_link(a) != 0);
	pair_free(&p);
}

static void other_sessions_have_others(void **state)
{
	uint8_t offer = seal_offer(SEAL_CHOICE_AES_256_GCM, DH_X25519, false, true);
	struct pair p = pair_new("correct horse", offer, 2);
	struct keyring *ka = sample_keyring("correct horse", 7),
		       *kb = sample_keyring("other horse", 7);
	struct pair q;

	(void)state;
	keyring_set_data(ka, offer, 2);
	keyring_set_data(kb, offer, 2);
	q = pair_of(ka, kb, VALUE_A + 1);
	/* Another session value and another secret give different keys. Epochs may be equal by
	 * chance. */
	assert_true(seal_tx_link(session_data(p.a)) != seal_tx_link(session_data(q.a)));
	assert_true(seal_rx_link(session_data(q.a)) != seal_tx_link(session_data(q.b)));
	crosses(session_data(p.a), session_data(q.a), -EBADMSG);
	crosses(session_data(p.a), session_data(q.b), -EBADMSG);
	pair_free(&p);
	pair_free(&q);
}

static void without_secret_or_workers_there_is_none(void **state)
{
	struct pair clear = pair_new(NULL, seal_offer(SEAL_CHOICE_AUTO, DH_X25519, false, true), 2);
	struct pair idle = pair_new("correct horse", 1, 0);

	(void)state;
	assert_null(session_data(clear.a));
	assert_null(session_data(idle.a));
	pair_free(&clear);
	pair_free(&idle);
}

static void disabled_leaves_the_link_values(void **state)
{
	struct pair p =
		pair_new("correct horse", seal_offer(SEAL_CHOICE_AUTO, DH_X25519, true, true), 2);

	(void)state;
	assert_int_equal(seal_cipher(session_data(p.a)), SEAL_NONE);
	assert_true(seal_tx_link(session_data(p.a)) == seal_rx_link(session_data(p.b)));
	assert_true(seal_tx_link(session_data(p.a)) != 0);
	pair_free(&p);
}

/* A snapshot may refer to the keys after the end of the session. */
static void a_reference_outlives_the_session(void **state)
{
	struct pair p = pair_new("correct horse", 1, 2);
	struct seal *a = seal_ref(session_data(p.a)), *b = seal_ref(session_data(p.b));

	(void)state;
	pair_free(&p);
	crosses(a, b, 4);
	seal_unref(a);
	seal_unref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_have_the_same),
		cmocka_unit_test(other_sessions_have_others),
		cmocka_unit_test(without_secret_or_workers_there_is_none),
		cmocka_unit_test(disabled_leaves_the_link_values),
		cmocka_unit_test(a_reference_outlives_the_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
