/* TLS of the referee, by OpenSSL on two buffers in memory: see referee.h. */
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>

#include "referee.h"

struct tls {
    SSL *session;
    BIO *in, *out;
};

static SSL_CTX *context;

static void refuse(const char *what) {
    fprintf(stderr, "OpenSSL refuses %s\n", what);
    exit(1);
}

void tls_prepare(const char *certificate, const char *key) {
    context = SSL_CTX_new(TLS_server_method());
    if (!context) refuse("a server");
    if (SSL_CTX_use_certificate_file(context, certificate, SSL_FILETYPE_PEM) != 1) refuse(certificate);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) refuse(key);
}

struct tls *tls_new(void) {
    struct tls *tls = calloc(1, sizeof *tls);
    if (!tls) die("calloc");
    tls->session = SSL_new(context);
    tls->in = BIO_new(BIO_s_mem());
    tls->out = BIO_new(BIO_s_mem());
    if (!tls->session || !tls->in || !tls->out) refuse("a session");
    SSL_set_bio(tls->session, tls->in, tls->out);
    SSL_set_accept_state(tls->session);
    return tls;
}

void tls_free(struct tls *tls) {
    if (tls) SSL_free(tls->session);
    free(tls);
}

void tls_feed(struct tls *tls, const char *bytes, size_t length) {
    if (BIO_write(tls->in, bytes, length) != (int)length) refuse("received bytes");
}

long tls_read(struct tls *tls, char *into, size_t room) {
    int got = SSL_read(tls->session, into, room);
    if (got > 0) return got;
    int why = SSL_get_error(tls->session, got);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

void tls_write(struct tls *tls, const char *bytes, size_t length) {
    if (SSL_write(tls->session, bytes, length) != (int)length) refuse("to encrypt");
}

size_t tls_take(struct tls *tls, char *into, size_t room) {
    int got = BIO_read(tls->out, into, room);
    return got > 0 ? got : 0;
}
