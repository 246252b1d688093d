/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS, by GnuTLS, which is loaded when somebody asks for it: no other run pays for its memory. Version 1.2 or newer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls;
struct tls_session;

/* Of a server, with the files of its certificate and key (PEM). 0 or a negative errno, after a message. */
int tls_open_server(const char *certificate_path, const char *key_path, struct tls **out);

/*
 * Of a reader, who believes certificates for host that a CA of this file has signed, or one of the system's when it is
 * NULL. host is copied. 0 or a negative errno, after a message.
 */
int tls_open_reader(const char *ca_path, const char *host, struct tls **out);
void tls_close(struct tls *tls);

/* On a connected socket that does not wait; both are borrowed. 0 or a negative errno. Nothing is said. */
int tls_session_open(const struct tls *tls, int fd, struct tls_session **out);
void tls_session_close(struct tls_session *session);

/* These do what those of connection.h do. */
int tls_session_greet(struct tls_session *session);
ssize_t tls_session_send(struct tls_session *session, const void *bytes, size_t size_bytes);
ssize_t tls_session_receive(struct tls_session *session, void *bytes, size_t size_bytes);
bool tls_session_has_more(const struct tls_session *session);
void tls_session_end(struct tls_session *session);
bool tls_session_wants_space(const struct tls_session *session);
const char *tls_session_reason(struct tls_session *session);
