/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of scopes: what is one, where nobody may listen without TLS, and tokens. */
#include "test.h"

#undef fail /* a macro of cmocka's */

#include <errno.h>
#include <unistd.h>

#include "base/fail.h"
#include "scope/address.h"
#include "scope/token.h"

static void say_nothing(const char *line)
{
	(void)line;
}

TEST(an_address_has_a_host_and_a_port_or_a_path)
{
	static const struct {
		const char *text;
		struct address address;
	} good[] = {
		{ "127.0.0.1:0", { ADDRESS_TCP, "127.0.0.1", "0" } },
		{ "tcp:host.example:65535", { ADDRESS_TCP, "host.example", "65535" } },
		{ "tls:[::1]:7466", { ADDRESS_TLS, "::1", "7466" } },
		{ "[fe80::1%eth0]:1", { ADDRESS_TCP, "fe80::1%eth0", "1" } },
		{ "unix:/run/a:b", { ADDRESS_UNIX, "/run/a:b", "" } },
		{ "unix:relative", { ADDRESS_UNIX, "relative", "" } },
	};
	struct address address;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		CHECK(!address_parse(good[i].text, &address));
		CHECK_EQUAL(address.kind, good[i].address.kind);
		CHECK(!strcmp(address.host, good[i].address.host));
		CHECK(!strcmp(address.port, good[i].address.port));
	}
}

TEST(other_words_are_refused)
{
	static const char *const bad[] = {
		"",         ":",    "host",   "host:", ":1",   "host:65536", "host:-1", "host:1x",
		"::1:7466", "[]:1", "[::1:1", "unix:", "tcp:", "tls:7466",   "host: 1", "host:000001",
	};
	struct address address;
	char path[300] = "unix:";

	fail_set_sink(say_nothing);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQUAL(address_parse(bad[i], &address), -EINVAL);
	memset(path + 5, 'a', sizeof(path) - 6);
	CHECK_EQUAL(address_parse(path, &address), -EINVAL);
	memcpy(path, "aaaaa", 5);
	memcpy(path + sizeof(path) - 3, ":1", 3);
	CHECK_EQUAL(address_parse(path, &address), -EINVAL);
	fail_set_sink(NULL);
}

TEST(only_what_has_a_prefix_is_a_stream)
{
	CHECK(address_is_stream("tcp:") && address_is_stream("tls:a:1") && address_is_stream("unix:x"));
	CHECK(!address_is_stream("127.0.0.1:7466") && !address_is_stream("t.pinch") && !address_is_stream("./tcp:a"));
}

TEST(without_tls_nobody_listens_where_others_come)
{
	static const char *const open[] = { "0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0", "192.0.2.1:0", "0:0" };
	static const char *const closed[] = { "127.0.0.1:0", "127.255.255.254:0", "localhost:0" };
	struct address address;
	int fd;

	fail_set_sink(say_nothing);
	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++) {
		CHECK(!address_parse(open[i], &address));
		CHECK_EQUAL(address_listen(&address, false, &fd), -EACCES);
	}
	for (size_t i = 0; i < sizeof(closed) / sizeof(*closed); i++) {
		CHECK(!address_parse(closed[i], &address));
		CHECK(!address_listen(&address, false, &fd));
		CHECK(strcmp(address.port, "0"));
		address_unlisten(&address, fd);
	}
	fail_set_sink(NULL);
}

TEST(a_token_is_the_same_to_the_last_character_or_another_one)
{
	static const char token[] = "0123456789abcdef";

	CHECK(token_is(token, "0123456789abcdef"));
	CHECK(!token_is(token, ""));
	CHECK(!token_is(token, "0"));
	CHECK(!token_is(token, "0123456789abcde"));
	CHECK(!token_is(token, "0123456789abcdeF"));
	CHECK(!token_is(token, "0123456789abcdef0123456789abcdef"));
	CHECK(!token_is("aaaaaaaaaaaaaaaa", "a"));
}
