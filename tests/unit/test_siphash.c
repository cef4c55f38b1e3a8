// SPDX-License-Identifier: GPL-2.0-or-later
/* base/siphash: the vectors of the reference implementation of the paper (key 00 01 ... 0f, input
 * 00 01 ...). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/siphash.h"

static void vectors(void **state)
{
	const struct hash_key key = { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL };
	uint8_t data[16];

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	assert_true(siphash(&key, data, 0) == 0x726fdb47dd0e0e31ULL);
	assert_true(siphash(&key, data, 8) == 0x93f5f5799a932462ULL);
	assert_true(siphash(&key, data, 15) == 0xa129ca6149be45e5ULL);
	assert_true(siphash_u64(&key, 0x0706050403020100ULL) == siphash(&key, data, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
