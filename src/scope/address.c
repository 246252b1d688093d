/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "scope/address_socket.h"

static const struct {
	const char *prefix;
	enum address_kind kind;
} kinds[] = { { "tcp:", ADDRESS_TCP }, { "tls:", ADDRESS_TLS }, { "unix:", ADDRESS_UNIX } };

enum { KINDS = sizeof(kinds) / sizeof(*kinds), PORT_MAX = 65535 };

/* What stands behind the prefix; NULL: there is none. */
static const char *behind_prefix(const char *text, enum address_kind *kind)
{
	for (size_t i = 0; i < KINDS; i++) {
		size_t length = strlen(kinds[i].prefix);

		if (strncmp(text, kinds[i].prefix, length))
			continue;
		*kind = kinds[i].kind;
		return text + length;
	}
	return NULL;
}

bool address_is_stream(const char *text)
{
	enum address_kind kind;

	return behind_prefix(text, &kind);
}

bool address_is_tls(const char *text)
{
	enum address_kind kind;

	return behind_prefix(text, &kind) && kind == ADDRESS_TLS;
}

static bool is_port(const char *text)
{
	size_t length = strlen(text);

	return length && length <= 5 && strspn(text, "0123456789") == length && atoi(text) <= PORT_MAX;
}

/* HOST:PORT or [HOST]:PORT; false: it is neither. */
static bool split(const char *rest, struct address *out)
{
	const char *colon = strrchr(rest, ':');
	size_t length;

	if (!colon || !is_port(colon + 1))
		return false;
	length = colon - rest;
	if (*rest == '[' && length > 2 && rest[length - 1] == ']') {
		rest++;
		length -= 2;
	} else if (memchr(rest, ':', length) || *rest == '[') {
		return false;
	}
	if (!length || length >= sizeof(out->host))
		return false;
	memcpy(out->host, rest, length);
	snprintf(out->port, sizeof(out->port), "%s", colon + 1);
	return true;
}

int address_parse(const char *text, struct address *out)
{
	const char *rest;

	*out = (struct address){ .kind = ADDRESS_TCP };
	rest = behind_prefix(text, &out->kind);
	if (!rest)
		rest = text;
	if (out->kind == ADDRESS_UNIX) {
		if (!*rest || strlen(rest) >= address_path_max())
			return fail_plain(-EINVAL, "%s: unix: takes the path of a socket, of less than %zu bytes", text,
					  address_path_max());
		snprintf(out->host, sizeof(out->host), "%s", rest);
		return 0;
	}
	if (!split(rest, out))
		return fail_plain(-EINVAL,
				  "'%s' is no address: it takes HOST:PORT, such as 127.0.0.1:7466 or [::1]:7466, or "
				  "unix:PATH",
				  text);
	return 0;
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const void *)address;
	const struct sockaddr_in *four = (const void *)address;

	if (address->sa_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static bool are_loopback(const struct addrinfo *list)
{
	for (; list; list = list->ai_next)
		if (!is_loopback(list->ai_addr))
			return false;
	return true;
}

static int resolve(const struct address *address, bool is_passive, struct addrinfo **out)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | (is_passive ? AI_PASSIVE : 0),
	};
	int error = getaddrinfo(address->host, address->port, &hints, out);

	return error ? fail_plain(-EADDRNOTAVAIL, "cannot find the host %s: %s", address->host, gai_strerror(error))
		     : 0;
}

/* IPv4 comes first: a scope at localhost is one at 127.0.0.1. */
static const struct addrinfo *choose(const struct addrinfo *list)
{
	for (const struct addrinfo *one = list; one; one = one->ai_next)
		if (one->ai_family == AF_INET)
			return one;
	return list;
}

static int listen_tcp(struct address *address, bool is_protected, int *fd)
{
	struct addrinfo *list;
	int err = resolve(address, true, &list);

	if (err)
		return err;
	if (!is_protected && !are_loopback(list))
		err = fail_plain(-EACCES,
				 "%s can be reached from other machines: give --tls-cert, --tls-key and --token, or "
				 "listen on 127.0.0.1 or unix:PATH and let ssh forward it",
				 address->host);
	else
		err = address_listen_tcp(choose(list), address, fd);
	freeaddrinfo(list);
	return err;
}

int address_listen(struct address *address, bool is_protected, int *fd)
{
	return address->kind == ADDRESS_UNIX ? address_listen_unix(address, fd) : listen_tcp(address, is_protected, fd);
}

int address_connect(const struct address *address, int wait_ms, int *fd)
{
	struct addrinfo *list;
	int err;

	if (address->kind == ADDRESS_UNIX)
		return address_connect_unix(address, fd);
	err = resolve(address, false, &list);
	if (err)
		return err;
	err = -ECONNREFUSED;
	for (const struct addrinfo *one = list; err && one; one = one->ai_next)
		err = address_connect_tcp(one, wait_ms, fd);
	freeaddrinfo(list);
	if (err)
		fail_plain(err, "cannot connect to %s port %s: %s; is pinch scope running there?", address->host,
			   address->port, strerror(-err));
	return err;
}
