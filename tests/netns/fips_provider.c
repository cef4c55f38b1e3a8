// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A provider for OpenSSL with the algorithms that FIPS providers have, because Debian 12 has no
 * FIPS provider. It offers the algorithms of the default provider with the property fips=yes,
 * without scrypt and ChaCha20-Poly1305. With FIPS_WITHOUT_X25519 in the environment, it also lacks
 * X25519, like newer FIPS providers. tests/netns/test_fips.py loads it by OPENSSL_CONF.
 */
#include <stdlib.h>
#include <string.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>

#define ALGORITHMS_MAX 512

static OSSL_LIB_CTX *inner;
static OSSL_PROVIDER *all;

static int is_refused(const OSSL_ALGORITHM *a)
{
	return strncmp(a->algorithm_names, "SCRYPT", 6) == 0 ||
	       strncmp(a->algorithm_names, "ChaCha20", 8) == 0 ||
	       (strncmp(a->algorithm_names, "X25519", 6) == 0 && getenv("FIPS_WITHOUT_X25519"));
}

/* libcrypto keeps the array of an operation, so each operation has its own. */
static const OSSL_ALGORITHM *query(void *provctx, int operation, int *no_cache)
{
	static OSSL_ALGORITHM kept[OSSL_OP__HIGHEST + 1][ALGORITHMS_MAX];
	const OSSL_ALGORITHM *from = OSSL_PROVIDER_query_operation(all, operation, no_cache);
	OSSL_ALGORITHM *to;
	size_t n = 0;

	(void)provctx;
	if (!from || operation < 0 || operation > OSSL_OP__HIGHEST)
		return NULL;
	to = kept[operation];
	for (; from->algorithm_names && n + 1 < ALGORITHMS_MAX; from++)
		if (!is_refused(from)) {
			to[n] = *from;
			to[n++].property_definition = "provider=reduced,fips=yes";
		}
	to[n] = (OSSL_ALGORITHM){ 0 };
	return to;
}

static void teardown(void *provctx)
{
	(void)provctx;
	OSSL_PROVIDER_unload(all);
	OSSL_LIB_CTX_free(inner);
}

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
		       const OSSL_DISPATCH **out, void **provctx)
{
	static const OSSL_DISPATCH functions[] = {
		{ OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query },
		{ OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))teardown },
		{ 0, NULL },
	};

	(void)handle;
	(void)in;
	inner = OSSL_LIB_CTX_new();
	all = inner ? OSSL_PROVIDER_load(inner, "default") : NULL;
	if (!all)
		return 0;
	*out = functions;
	*provctx = OSSL_PROVIDER_get0_provider_ctx(all);
	return 1;
}
