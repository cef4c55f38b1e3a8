// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A random pre-shared secret, see secret.h. leonctl only.
 */
#include "secret.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/defs.h"

#define SECRET_DIGITS 44 /* 6 bits each, 264 bits together */

int secret_print(struct target *t, const char *unused attr_unused)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t random[SECRET_DIGITS];

	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		target_complain(t, "no random numbers: %s", strerror(errno));
		return EXIT_REFUSED;
	}
	/* The digits need no escapes in JSON. */
	fputs(t->json ? "{\"version\":1,\"secret\":\"" : "", stdout);
	for (size_t i = 0; i < sizeof(random); i++)
		putchar(digits[random[i] % 64]);
	puts(t->json ? "\"}" : "");
	explicit_bzero(random, sizeof(random));
	return 0;
}
