// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A random pre-shared secret, see secret.h. leonctl only.
 */
#include "site/secret.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/defs.h"
#include "run.h"

bool secret_draw(const struct target *t, char out[SECRET_DIGITS + 1])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t random[SECRET_DIGITS];

	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		target_complain(t, "no random numbers: %s", strerror(errno));
		return false;
	}
	for (size_t i = 0; i < sizeof(random); i++)
		out[i] = digits[random[i] % 64];
	out[SECRET_DIGITS] = '\0';
	explicit_bzero(random, sizeof(random));
	return true;
}

int secret_print(struct target *t, const char *unused attr_unused)
{
	char secret[SECRET_DIGITS + 1];

	if (!secret_draw(t, secret))
		return EXIT_REFUSED;
	/* The digits need no escapes in JSON. */
	printf(t->json ? "{\"version\":1,\"secret\":\"%s\"}\n" : "%s\n", secret);
	explicit_bzero(secret, sizeof(secret));
	return 0;
}
