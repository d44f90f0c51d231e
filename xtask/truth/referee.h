/* What the files of the referee share. */
#ifndef REFEREE_H
#define REFEREE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Ends the program with errno's text. */
void die(const char *what);

/* Nanoseconds of a clock. */
int64_t now(clockid_t clock);

/* TLS in memory: the referee reads and writes the socket itself, so that it sees the kernel's stamps. */
struct tls;
void tls_prepare(const char *certificate, const char *key);
struct tls *tls_new(void);
void tls_free(struct tls *tls);
/* Takes bytes of the socket. */
void tls_feed(struct tls *tls, const char *bytes, size_t length);
/* Plain bytes that can be read now; 0: none yet, -1: the session is over or broken. */
long tls_read(struct tls *tls, char *into, size_t room);
/* Encrypts. */
void tls_write(struct tls *tls, const char *bytes, size_t length);
/* Bytes for the socket; 0 when there are none. */
size_t tls_take(struct tls *tls, char *into, size_t room);

#endif
