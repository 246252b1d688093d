/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of GnuTLS that are used, by their names without gnutls_. */
#pragma once

#include <gnutls/gnutls.h>

#define GNUTLS_FUNCTIONS(X)                      \
	X(certificate_allocate_credentials)      \
	X(certificate_free_credentials)          \
	X(certificate_set_x509_key_file)         \
	X(certificate_set_x509_system_trust)     \
	X(certificate_set_x509_trust_file)       \
	X(init)                                  \
	X(deinit)                                \
	X(priority_set_direct)                   \
	X(credentials_set)                       \
	X(server_name_set)                       \
	X(session_set_verify_cert)               \
	X(session_get_verify_cert_status)        \
	X(certificate_verification_status_print) \
	X(transport_set_int2)                    \
	X(handshake)                             \
	X(record_send)                           \
	X(record_recv)                           \
	X(record_check_pending)                  \
	X(record_get_direction)                  \
	X(bye)                                   \
	X(error_is_fatal)                        \
	X(strerror)

struct gnutls_library {
#define X(name) __typeof__(&gnutls_##name) name;
	GNUTLS_FUNCTIONS(X)
#undef X
};

/* NULL: it is not installed, or too old. */
const struct gnutls_library *gnutls_library_get(void);
