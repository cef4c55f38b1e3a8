// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TLS connections by libssl. No other file calls libssl. TLS hides LEON from networks without UDP.
 * TLS authenticates nobody: sessions of leond seal and authenticate all datagrams inside
 * (doc/security.md, doc/decisions/076). Main thread of leon-tls.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TLS_RECORD_MAX 16384

struct tls_context;
struct tls;

/* Context of clients, or of servers with the certificate and key of these files; empty: a new
 * self-signed certificate. NULL, with a sentence in err. */
struct tls_context *tls_client(char *err, size_t err_len);
struct tls_context *tls_server(const char *certificate, const char *key, char *err, size_t err_len);
void tls_context_free(struct tls_context *c); /* NULL ok */

/* A connection on a non-blocking socket. server: name for SNI of a client, or empty. */
struct tls *tls_new(struct tls_context *c, int fd, const char *server);
void tls_free(struct tls *t); /* NULL ok; does not close the socket */

enum tls_result { TLS_DONE, TLS_WANT_READ, TLS_WANT_WRITE, TLS_CLOSED, TLS_FAILED };
enum tls_result tls_handshake(struct tls *t);
/* Reads at most `room` bytes. */
enum tls_result tls_read(struct tls *t, uint8_t *buf, size_t room, size_t *n);
/* Writes all or nothing. After TLS_WANT_WRITE the same bytes have to be written again. */
enum tls_result tls_write(struct tls *t, const uint8_t *data, size_t len);
/* Notifies the other end, as far as the socket has room. */
void tls_close(struct tls *t);
/* Reason of the last TLS_FAILED. */
void tls_reason(char *out, size_t len);
uint32_t tls_random(void);
/* Base64 of `len` bytes, at most 3/4 of room. */
void tls_base64(const char *data, size_t len, char *out);
