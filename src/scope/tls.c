/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "scope/gnutls_library.h"

static const char PRIORITIES[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE";

struct tls {
	const struct gnutls_library *library;
	gnutls_certificate_credentials_t credentials;
	char *host; /* NULL: it is a server's */
};

struct tls_session {
	const struct gnutls_library *library;
	gnutls_session_t session;
	size_t begun_bytes; /* of a record that was not sent to its end: the same bytes must come again; 0: none */
	int error;          /* the last one, as GnuTLS has it */
	char reason[256];
};

static int open_any(struct tls **out)
{
	const struct gnutls_library *library = gnutls_library_get();
	struct tls *tls;

	if (!library)
		return fail_plain(-ENOENT, "TLS needs the library GnuTLS: install libgnutls30");
	tls = xcalloc(1, sizeof(*tls));
	tls->library = library;
	if (library->certificate_allocate_credentials(&tls->credentials)) {
		free(tls);
		return fail(-ENOMEM, "cannot begin TLS");
	}
	*out = tls;
	return 0;
}

int tls_open_server(const char *certificate_path, const char *key_path, struct tls **out)
{
	struct tls *tls;
	int error, err = open_any(&tls);

	if (err)
		return err;
	error = tls->library->certificate_set_x509_key_file(tls->credentials, certificate_path, key_path,
							    GNUTLS_X509_FMT_PEM);
	if (error < 0) {
		err = fail_plain(-EINVAL, "cannot use the certificate %s with the key %s: %s", certificate_path,
				 key_path, tls->library->strerror(error));
		tls_close(tls);
		return err;
	}
	*out = tls;
	return 0;
}

int tls_open_reader(const char *ca_path, const char *host, struct tls **out)
{
	struct tls *tls;
	int count, err = open_any(&tls);

	if (err)
		return err;
	tls->host = xstrdup(host);
	count = ca_path ? tls->library->certificate_set_x509_trust_file(tls->credentials, ca_path, GNUTLS_X509_FMT_PEM)
			: tls->library->certificate_set_x509_system_trust(tls->credentials);
	if (count <= 0) {
		err = fail_plain(-EINVAL, "no certificate of a CA can be read from %s",
				 ca_path ? ca_path : "this system: give --tls-ca FILE");
		tls_close(tls);
		return err;
	}
	*out = tls;
	return 0;
}

void tls_close(struct tls *tls)
{
	if (!tls)
		return;
	tls->library->certificate_free_credentials(tls->credentials);
	free(tls->host);
	free(tls);
}

/* A server has to prove that it is the one that was asked for. */
static void expect_host(const struct tls *tls, gnutls_session_t session)
{
	struct in6_addr number;

	if (inet_pton(AF_INET, tls->host, &number) != 1 && inet_pton(AF_INET6, tls->host, &number) != 1)
		tls->library->server_name_set(session, GNUTLS_NAME_DNS, tls->host, strlen(tls->host));
	tls->library->session_set_verify_cert(session, tls->host, 0);
}

int tls_session_open(const struct tls *tls, int fd, struct tls_session **out)
{
	const struct gnutls_library *library = tls->library;
	struct tls_session *made = xcalloc(1, sizeof(*made));

	made->library = library;
	if (library->init(&made->session,
			  (tls->host ? GNUTLS_CLIENT : GNUTLS_SERVER) | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL)) {
		free(made);
		return -ENOMEM;
	}
	if (library->priority_set_direct(made->session, PRIORITIES, NULL) ||
	    library->credentials_set(made->session, GNUTLS_CRD_CERTIFICATE, tls->credentials)) {
		tls_session_close(made);
		return -EINVAL;
	}
	if (tls->host)
		expect_host(tls, made->session);
	library->transport_set_int2(made->session, fd, fd);
	*out = made;
	return 0;
}

void tls_session_close(struct tls_session *session)
{
	if (!session)
		return;
	session->library->deinit(session->session);
	free(session);
}

static int note(struct tls_session *session, int error)
{
	session->error = error;
	return session->library->error_is_fatal(error) ? -EPROTO : -EAGAIN;
}

int tls_session_greet(struct tls_session *session)
{
	int error = session->library->handshake(session->session);

	return error < 0 ? note(session, error) : 0;
}

ssize_t tls_session_send(struct tls_session *session, const void *bytes, size_t size_bytes)
{
	ssize_t n;

	if (session->begun_bytes)
		size_bytes = session->begun_bytes;
	n = session->library->record_send(session->session, bytes, size_bytes);
	session->begun_bytes = n < 0 ? size_bytes : 0;
	return n < 0 ? note(session, n) : n;
}

/* One that ends without saying so has ended. */
ssize_t tls_session_receive(struct tls_session *session, void *bytes, size_t size_bytes)
{
	ssize_t n = session->library->record_recv(session->session, bytes, size_bytes);

	if (n == GNUTLS_E_PREMATURE_TERMINATION)
		return 0;
	return n < 0 ? note(session, n) : n;
}

bool tls_session_has_more(const struct tls_session *session)
{
	return session->library->record_check_pending(session->session);
}

void tls_session_end(struct tls_session *session)
{
	session->library->bye(session->session, GNUTLS_SHUT_WR);
}

bool tls_session_wants_space(const struct tls_session *session)
{
	return session->library->record_get_direction(session->session);
}

const char *tls_session_reason(struct tls_session *session)
{
	const struct gnutls_library *library = session->library;
	gnutls_datum_t words;

	if (!session->error)
		return NULL;
	if (session->error != GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR ||
	    library->certificate_verification_status_print(library->session_get_verify_cert_status(session->session),
							   GNUTLS_CRT_X509, &words, 0))
		return library->strerror(session->error);
	snprintf(session->reason, sizeof(session->reason), "%s", words.data);
	free(words.data);
	return session->reason;
}
