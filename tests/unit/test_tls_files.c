// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leon-tls: an encrypted private key is unusable. libssl would ask for its passphrase, and all
 * connections would wait for the answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/defs.h"
#include "tls.h"

#define PASSPHRASE "secret"

static char certificate[] = "/tmp/leon-certificate-XXXXXX";
static char plain[] = "/tmp/leon-plain-XXXXXX";
static char encrypted[] = "/tmp/leon-encrypted-XXXXXX";
static char input[] = "/tmp/leon-input-XXXXXX";
static char *const names[] = { certificate, plain, encrypted, input };

static int setup(void **state)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	FILE *f[array_size(names)];

	(void)state;
	for (unsigned i = 0; i < array_size(names); i++)
		f[i] = fdopen(mkstemp(names[i]), "w");
	X509_gmtime_adj(X509_getm_notBefore(x), 0);
	X509_gmtime_adj(X509_getm_notAfter(x), 86400);
	X509_set_pubkey(x, key);
	X509_sign(x, key, EVP_sha256());
	PEM_write_X509(f[0], x);
	PEM_write_PrivateKey(f[1], key, NULL, NULL, 0, NULL, NULL);
	PEM_write_PrivateKey(f[2], key, EVP_aes_256_cbc(), (const unsigned char *)PASSPHRASE,
			     sizeof(PASSPHRASE) - 1, NULL, NULL);
	fputs(PASSPHRASE "\n", f[3]);
	for (unsigned i = 0; i < array_size(names); i++)
		fclose(f[i]);
	X509_free(x);
	EVP_PKEY_free(key);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < array_size(names); i++)
		unlink(names[i]);
	return 0;
}

/* In a process without a terminal, whose input is the passphrase. */
static bool is_usable(const char *key)
{
	struct tls_context *c;
	int status;
	char err[64];
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		dup2(open(input, O_RDONLY | O_CLOEXEC), STDIN_FILENO);
		c = tls_server(certificate, key, err, sizeof(err));
		if (!c)
			fprintf(stderr, "%s\n", err);
		_exit(c ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}

static void an_encrypted_key_is_unusable(void **state)
{
	(void)state;
	assert_true(is_usable(plain));
	assert_false(is_usable(encrypted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_encrypted_key_is_unusable, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
