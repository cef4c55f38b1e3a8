// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the configuration file and passes its text to conf_parse(). The text may contain the
 * pre-shared secret, so the buffer is wiped. Refuses a configuration whose algorithms libcrypto
 * does not permit, or whose cipher library cannot be used. Control thread and --check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/defs.h"
#include "base/mem.h"
#include "crypto/public_key.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/identity/own_identity.h"
#include "daemon/life/life.h"
#include "io/file.h"
#include "state/conf/conf.h"

#define CONFIG_FILE_MAX (4u << 20)

static bool say_refused(const char *key, enum primitive p, const char *remedy, char *err,
			size_t err_len)
{
	if (primitive_is_permitted(p))
		return false;
	snprintf(err, err_len, "%sOpenSSL of this host does not permit %s%s", key,
		 primitive_name(p), remedy);
	return true;
}

bool conf_base_refused(char *err, size_t err_len)
{
	static const enum primitive base[] = { PRIMITIVE_AES_256_GCM, PRIMITIVE_HMAC_SHA_256,
					       PRIMITIVE_ED25519 };

	for (size_t i = 0; i < array_size(base); i++)
		if (say_refused("", base[i],
				", which each node needs; see default_properties in openssl.cnf",
				err, err_len))
			return true;
	return false;
}

/* Configurations of OpenSSL such as fips=yes refuse algorithms. */
static bool is_refused(const struct conf *c, char *err, size_t err_len)
{
	char why_not[256];

	if (conf_base_refused(err, err_len) || identity_is_missing(c, err, err_len))
		return true;
	if (c->cipher == SEAL_CHOICE_CHACHA20_POLY1305 &&
	    say_refused("encryption.cipher: ", PRIMITIVE_CHACHA20_POLY1305,
			"; set auto or aes256gcm", err, err_len))
		return true;
	if (c->cipher_library == CIPHER_LIBRARY_IPSEC_MB &&
	    !aead_may_use_ipsec_mb(why_not, sizeof(why_not))) {
		snprintf(err, err_len,
			 "system.cipher-library: ipsec-mb cannot be used: %s; set auto", why_not);
		return true;
	}
	if (!c->secret)
		return false;
	if (c->curve == DH_P256 ? say_refused("encryption.curve: ", PRIMITIVE_P256,
					      "; set x25519 on all nodes", err, err_len)
				: say_refused("encryption.curve: ", PRIMITIVE_X25519,
					      "; set p256 on all nodes", err, err_len))
		return true;
	return c->derivation == STRETCH_PBKDF2
		       ? say_refused("authentication.derivation: ", PRIMITIVE_PBKDF2,
				     "; set scrypt on all nodes", err, err_len)
		       : say_refused("authentication.derivation: ", PRIMITIVE_SCRYPT,
				     "; set pbkdf2 on all nodes", err, err_len);
}

struct conf *conf_read_file(const char *path, char *err, size_t err_len)
{
	char *text = x_calloc(1, CONFIG_FILE_MAX), reason[512];
	struct conf *c = NULL;
	mode_t mode = 0;
	ssize_t len = file_load(path, true, text, CONFIG_FILE_MAX, &mode);

	if (len < 0)
		snprintf(err, err_len, "%s: %s", path, file_error((int)len));
	else
		c = conf_parse(text, (size_t)len, reason, sizeof(reason));
	if (c && is_refused(c, reason, sizeof(reason))) {
		conf_free(c);
		c = NULL;
	}
	if (len >= 0 && !c)
		snprintf(err, err_len, "%s: %s", path, reason);
	if (c)
		c->file = path;
	if (c && c->secret && (mode & (S_IROTH | S_IWOTH)))
		log_warn("config",
			 "all users can read %s, which contains the pre-shared secret: chown "
			 "root:leon and chmod 0640",
			 path);
	x_wipe(text, CONFIG_FILE_MAX);
	free(text);
	return c;
}

/* --- advice --- */

/* Warnings about permitted but ineffective configurations, printed by --check and logged at start.
 * A reload has only that of the secret. */

#define SHORT_SECRET 16

static void peers_without_source(const struct conf *c, advice_fn fn, void *arg)
{
	bool any = c->source4.family == 0 && c->source6.family == 0;
	char text[256];

	for (uint32_t i = 0; i < c->n_peers && !any; i++) {
		const struct conf_peer *p = &c->peer[i];

		if (!p->is_ip || p->disable ||
		    (p->ep.ip.family == 4 ? c->source4.family : c->source6.family))
			continue;
		snprintf(text, sizeof(text),
			 "peer.%s.address: %.64s cannot be asked, since there is no source-address "
			 "of IPv%u",
			 p->name, p->host, p->ep.ip.family);
		fn(arg, text);
	}
}

/* leonctl generate secret draws 32 characters. */
const char *advice_of_secret(const struct conf *c)
{
	if (!c->secret || strlen(c->secret) >= SHORT_SECRET)
		return NULL;
	return "authentication.pre-shared-secret: fewer than 16 characters can be guessed; use the "
	       "output of: leonctl generate secret";
}

void advice_of(const struct conf *c, advice_fn fn, void *arg)
{
	const struct {
		bool holds;
		const char *text;
	} advices[] = {
		{ strcmp(c->source_interface, "lo") == 0,
		  "source-interface: lo does not lead to other hosts; configure an address as "
		  "source-address instead" },
		{ c->source4.family && c->source4.b[0] == 169 && c->source4.b[1] == 254,
		  "source-address: 169.254.0.0/16 reaches only nodes on the same link" },
		{ c->acceleration && !accelerator_is_installed(),
		  "acceleration: leon-accel is not installed, so no TCP connection is accelerated; "
		  "install the package leon-accel" },
		{ c->authentication_disable,
		  "authentication.disable: any host on the path can read and change all frames, "
		  "and any host that forges the address of a member can join" },
		{ advice_of_secret(c) != NULL, advice_of_secret(c) },
	};

	peers_without_source(c, fn, arg);
	for (size_t i = 0; i < array_size(advices); i++)
		if (advices[i].holds)
			fn(arg, advices[i].text);
}
