// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TLS connections by libssl, see tls.h.
 */
#include "tls.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/defs.h"

#define CERTIFICATE_DAYS 3650
#define DAY_S		 86400

/* The protocol name of every web server: the handshake equals a browser's. */
static const uint8_t alpn[] = "\x08http/1.1";
#define ALPN_LEN (sizeof(alpn) - 1)

void tls_reason(char *out, size_t len)
{
	unsigned long e = ERR_peek_last_error();
	const char *text = e ? ERR_reason_error_string(e) : NULL;

	snprintf(out, len, "%s", text ? text : errno ? strerror(errno) : "the connection ended");
	ERR_clear_error();
}

static SSL_CTX *new_context(const SSL_METHOD *method)
{
	SSL_CTX *c = SSL_CTX_new(method);

	if (!c)
		return NULL;
	SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
	/* No state of past connections, and no renegotiation on request of a stranger. */
	SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
				       SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(c, 0);
	/* Memory of idle connections. */
	SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return c;
}

/* Returns the context, or NULL and the reason. */
static struct tls_context *checked(SSL_CTX *c, bool ok, char *err, size_t err_len)
{
	if (ok)
		return (struct tls_context *)c;
	tls_reason(err, err_len);
	SSL_CTX_free(c);
	return NULL;
}

struct tls_context *tls_client(char *err, size_t err_len)
{
	SSL_CTX *c = new_context(TLS_client_method());

	if (c)
		SSL_CTX_set_verify(c, SSL_VERIFY_NONE, NULL);
	return checked(c, c && SSL_CTX_set_alpn_protos(c, alpn, ALPN_LEN) == 0, err, err_len);
}

static bool describe(X509 *x, EVP_PKEY *key)
{
	X509_NAME *name = X509_get_subject_name(x);
	uint64_t serial;

	return RAND_bytes((uint8_t *)&serial, sizeof(serial)) == 1 &&
	       X509_set_version(x, X509_VERSION_3) &&
	       ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial >> 1) &&
	       X509_gmtime_adj(X509_getm_notBefore(x), -DAY_S) &&
	       X509_gmtime_adj(X509_getm_notAfter(x), (long)CERTIFICATE_DAYS * DAY_S) &&
	       X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"localhost",
					  -1, -1, 0) &&
	       X509_set_issuer_name(x, name) && X509_set_pubkey(x, key) &&
	       X509_sign(x, key, EVP_sha256());
}

/* A certificate without any name of this node. */
static bool use_new_certificate(SSL_CTX *c)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	bool ok = key && x && describe(x, key) && SSL_CTX_use_certificate(c, x) == 1 &&
		  SSL_CTX_use_PrivateKey(c, key) == 1;

	X509_free(x);
	EVP_PKEY_free(key);
	return ok;
}

static int refuse_passphrase(char *buf attr_unused, int size attr_unused, int rwflag attr_unused,
			     void *arg attr_unused)
{
	return -1;
}

static bool use_files(SSL_CTX *c, const char *certificate, const char *key)
{
	/* libssl would ask at the terminal, and all connections would wait. */
	SSL_CTX_set_default_passwd_cb(c, refuse_passphrase);
	return SSL_CTX_use_certificate_chain_file(c, certificate) == 1 &&
	       SSL_CTX_use_PrivateKey_file(c, key, SSL_FILETYPE_PEM) == 1 &&
	       SSL_CTX_check_private_key(c) == 1;
}

/* A client with other protocols only gets no protocol, as from a web server. */
static int choose_alpn(SSL *ssl attr_unused, const unsigned char **out, unsigned char *out_len,
		       const unsigned char *in, unsigned in_len, void *arg attr_unused)
{
	unsigned char *chosen;

	if (SSL_select_next_proto(&chosen, out_len, alpn, ALPN_LEN, in, in_len) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

struct tls_context *tls_server(const char *certificate, const char *key, char *err, size_t err_len)
{
	SSL_CTX *c = new_context(TLS_server_method());
	bool ok = c && (*certificate ? use_files(c, certificate, key) : use_new_certificate(c));

	if (ok)
		SSL_CTX_set_alpn_select_cb(c, choose_alpn, NULL);
	return checked(c, ok, err, err_len);
}

void tls_context_free(struct tls_context *c)
{
	SSL_CTX_free((SSL_CTX *)c);
}

struct tls *tls_new(struct tls_context *c, int fd, const char *server)
{
	SSL *s = SSL_new((SSL_CTX *)c);

	if (!s || !SSL_set_fd(s, fd)) {
		SSL_free(s);
		return NULL;
	}
	if (SSL_is_server(s)) {
		SSL_set_accept_state(s);
	} else {
		SSL_set_connect_state(s);
		if (*server)
			SSL_set_tlsext_host_name(s, server);
	}
	return (struct tls *)s;
}

void tls_free(struct tls *t)
{
	SSL_free((SSL *)t);
}

static enum tls_result result(SSL *s, int ret)
{
	switch (SSL_get_error(s, ret)) {
	case SSL_ERROR_NONE:
		return TLS_DONE;
	case SSL_ERROR_WANT_READ:
		return TLS_WANT_READ;
	case SSL_ERROR_WANT_WRITE:
		return TLS_WANT_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		return TLS_CLOSED;
	default:
		return TLS_FAILED;
	}
}

enum tls_result tls_handshake(struct tls *t)
{
	ERR_clear_error();
	return result((SSL *)t, SSL_do_handshake((SSL *)t));
}

enum tls_result tls_read(struct tls *t, uint8_t *buf, size_t room, size_t *n)
{
	ERR_clear_error();
	*n = 0;
	return result((SSL *)t, SSL_read_ex((SSL *)t, buf, room, n));
}

enum tls_result tls_write(struct tls *t, const uint8_t *data, size_t len)
{
	size_t n;

	ERR_clear_error();
	return result((SSL *)t, SSL_write_ex((SSL *)t, data, len, &n));
}

void tls_close(struct tls *t)
{
	ERR_clear_error();
	if (SSL_is_init_finished((SSL *)t))
		SSL_shutdown((SSL *)t);
	ERR_clear_error();
}

uint32_t tls_random(void)
{
	uint32_t n = 0;

	RAND_bytes((uint8_t *)&n, sizeof(n));
	return n;
}

void tls_base64(const char *data, size_t len, char *out)
{
	EVP_EncodeBlock((uint8_t *)out, (const uint8_t *)data, (int)len);
}
