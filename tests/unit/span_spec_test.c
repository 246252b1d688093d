/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --span is given: what it means, and what is wrong with it. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/text.h"
#include "collect/probe/span_spec.h"

static struct span_specs specs;

static const struct span_spec *good(const char *argument)
{
	struct text why = { 0 };
	int err = span_specs_add(&specs, argument, &why);

	if (err)
		print_message("%s: %s\n", argument, why.bytes);
	CHECK(!err && !why.length);
	text_fini(&why);
	return &specs.list[specs.count - 1];
}

static void bad(const char *argument, const char *about)
{
	size_t count = specs.count;
	struct text why = { 0 };

	CHECK_EQUAL(span_specs_add(&specs, argument, &why), -EINVAL);
	CHECK_EQUAL(specs.count, count);
	if (!strstr(why.bytes, about))
		print_message("%s: %s\n", argument, why.bytes);
	CHECK(strstr(why.bytes, about));
	text_fini(&why);
}

static void check_side(const struct span_side *side, uint32_t syscall, uint32_t fd, uint8_t file_kind, bool is_same_fd)
{
	CHECK_EQUAL(side->syscall, syscall);
	CHECK_EQUAL(side->fd, fd);
	CHECK_EQUAL(side->file_kind, file_kind);
	CHECK_EQUAL(side->is_same_fd, is_same_fd);
}

TEST(a_pair_of_calls_has_its_conditions)
{
	const struct span_spec *spec = good("recvfrom(fd=socket)..sendto(fd=7)");

	CHECK_EQUAL(spec->kind, SPAN_OF_CALLS);
	CHECK_STRING(spec->name, "recvfrom(fd=socket)..sendto(fd=7)");
	check_side(&spec->sides[0], SYS_recvfrom, SPAN_FD_ANY, 0xc, false);
	check_side(&spec->sides[1], SYS_sendto, 7, 0, false);
	spec = good("read(fd=pipe)..write(fd=file,fd=same)");
	check_side(&spec->sides[0], SYS_read, SPAN_FD_ANY, 1, false);
	check_side(&spec->sides[1], SYS_write, SPAN_FD_ANY, 8, true);
	spec = good("epoll_wait..epoll_wait");
	check_side(&spec->sides[0], SYS_epoll_wait, SPAN_FD_ANY, 0, false);
	check_side(&spec->sides[1], SYS_epoll_wait, SPAN_FD_ANY, 0, false);
	span_specs_fini(&specs);
}

TEST(a_close_is_of_the_descriptor_that_was_begun_with)
{
	CHECK(good("accept4..close")->sides[1].is_same_fd);
	CHECK(!good("accept4..close(fd=3)")->sides[1].is_same_fd);
	CHECK(!good("nanosleep..close")->sides[1].is_same_fd);
	span_specs_fini(&specs);
}

TEST(a_function_has_a_file_and_a_name_with_colons)
{
	const struct span_spec *spec = good("command=mariadbd:dispatch_command");

	CHECK_EQUAL(spec->kind, SPAN_OF_FUNCTION);
	CHECK_STRING(spec->name, "command");
	CHECK_STRING(spec->text, "mariadbd:dispatch_command");
	CHECK_STRING(spec->file, "mariadbd");
	CHECK_STRING(spec->function, "dispatch_command");
	spec = good("../lib/x.so:ns::Class::operator==");
	CHECK_STRING(spec->file, "../lib/x.so");
	CHECK_STRING(spec->function, "ns::Class::operator==");
	span_specs_fini(&specs);
}

TEST(what_is_wrong_is_said)
{
	char large[2000] = "read..";

	bad("", "neither");
	bad("read", "neither");
	bad("reed..write", "unknown system call 'reed'");
	bad("read..", "unknown system call ''");
	bad("..write", "unknown system call ''");
	bad("read(fd=socket..write", "lacks its ')'");
	bad("read()..write", "'' is not a condition");
	bad("read(fd=socket,)..write", "'' is not a condition");
	bad("read(fd=-1)..write", "'fd=-1' is not a condition");
	bad("read(fd=1x)..write", "'fd=1x' is not a condition");
	bad("read(fd=99999999999999999999)..write", "is not a condition");
	bad("read(size=1)..write", "'size=1' is not a condition");
	bad("read(fd=same)..write", "second call");
	bad("nanosleep..write(fd=same)", "nanosleep has no descriptor");
	bad("futex(fd=1)..write", "futex has no descriptor");
	bad("read..open(fd=file)", "open has no descriptor when it is called");
	bad("app.BEGIN..app.END", "unknown system call");
	bad("app:BEGIN..", "SUBSYSTEM:EVENT..EVENT");
	bad("app:BEGIN..END[argument]", "[key=FIELD]");
	bad("mariadbd:", "FILE:FUNCTION");
	bad(":f", "FILE:FUNCTION");
	good("a=read..write");
	bad("a=recvfrom..sendto", "another span is called a");
	memset(large + 6, 'x', sizeof(large) - 7);
	bad(large, "at most");
	while (specs.count < SPANS_MAX) {
		char name[32];

		snprintf(name, sizeof(name), "s%zu=read..write", specs.count);
		good(name);
	}
	bad("z=read..write", "at most 16");
	span_specs_fini(&specs);
}

TEST(no_text_is_read_past_its_end)
{
	static const char letters[] = "ab.()=,:fd=socket read write close accept4 3";
	uint32_t random = 1;

	for (unsigned int round = 0; round < 100000; round++) {
		char argument[24];
		struct text why = { 0 };
		size_t length = (random >> 8) % sizeof(argument);

		for (size_t i = 0; i < length; i++) {
			random = random * 1664525 + 1013904223;
			argument[i] = letters[(random >> 16) % (sizeof(letters) - 1)];
		}
		random = random * 1664525 + 1013904223;
		argument[length] = '\0';
		CHECK_THAT(!span_specs_add(&specs, argument, &why), !=, !!why.length);
		text_fini(&why);
		span_specs_fini(&specs);
	}
}
