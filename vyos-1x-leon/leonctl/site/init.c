// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl generate secret`: a random pre-shared secret, before the first start of a daemon.
 * `leonctl init`: the first node of a new overlay. Draws the secret, writes the configuration,
 * starts the unit, and prints the line for further machines. leonctl only.
 */
#include "run.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/jsonr.h"
#include "base/mem.h"
#include "crypto/aead.h"
#include "render/render.h"
#include "site/site.h"
#include "text/text.h"

#define SECRET_DIGITS 44 /* 6 bits each, 264 bits together */

#define VNI  1
#define USES "8" /* machines that may join by the printed line */

static void secret_draw(char out[SECRET_DIGITS + 1])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t random[SECRET_DIGITS];

	random_bytes(random, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		out[i] = digits[random[i] % 64];
	out[SECRET_DIGITS] = '\0';
	explicit_bzero(random, sizeof(random));
}

int secret_print(struct target *t, const char *unused attr_unused)
{
	char secret[SECRET_DIGITS + 1];

	secret_draw(secret);
	/* The digits need no escapes in JSON. */
	printf(t->json ? "{\"version\":1,\"secret\":\"%s\"}\n" : "%s\n", secret);
	explicit_bzero(secret, sizeof(secret));
	return 0;
}

/* --- init --- */

/* A further machine needs an address of the same network, or a bridge too. */
static void print_rest_of_line(const struct target *t)
{
	const char *address, *bridge;

	if (target_option(t, "address", &address))
		printf(" --address ADDRESS%s", strchr(address, '/'));
	else if (target_option(t, "bridge", &bridge))
		printf(" --bridge %s", bridge);
}

static int print_line(struct target *t, const struct site *s)
{
	struct jsonr *doc;
	int code;

	t->interface = s->interface;
	code = target_find(t);
	if (code >= 0)
		return code;
	doc = target_ask(t, "invite", "{\"uses\":" USES "}", NULL, &code);
	if (!doc)
		return code;
	printf("On each further machine, run as root:\n\n  leonctl join %s",
	       text_str(jsonr_root(doc), "token"));
	print_rest_of_line(t);
	puts("\n\nThe line admits " USES
	     " machines within 24 hours and does not contain the secret of the overlay.");
	fputs("Machines with the line join through", stdout);
	render_seeds(jsonr_root(doc), stdout);
	puts("If this is no address that other sites reach: leonctl invite ADDRESS");
	jsonr_free(doc);
	return 0;
}

int init_run(struct target *t, const char *unused attr_unused)
{
	struct token overlay = { .vni = VNI };
	struct site s;
	int code;

	secret_draw(overlay.secret);
	code = site_write(t, &overlay, &s);
	x_wipe(&overlay, sizeof(overlay));
	if (code || target_option(t, "print", NULL))
		return code;
	if (!t->json)
		printf("%s: node %s of a new overlay, VNI %d\n", s.path, site_label(&s), VNI);
	code = site_start(t, &s);
	if (code || t->json)
		return code;
	if (site_has_systemd())
		return print_line(t, &s);
	puts("Then print the line for further machines with: leonctl invite");
	return 0;
}
