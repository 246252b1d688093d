/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symbol/names/kernel_functions.h"
#include "symbol/names/names.h"

static const char *answer; /* NULL: none */
static int asked;

static int tell(void *data, uint64_t address, char *text, uint32_t capacity_bytes)
{
	CHECK(data == &asked);
	CHECK_EQUAL(address, 0xffffffff81000100);
	asked++;
	if (!answer)
		return -EPERM;
	snprintf(text, capacity_bytes, "%s", answer);
	return 0;
}

static void check_named(const char *text, const char *name, const char *module, uint64_t start)
{
	struct names *names = names_new(1 << 20, NULL);
	struct kernel_functions *functions = kernel_functions_new(tell, &asked, names);
	const struct kernel_function *function;

	asked = 0;
	answer = text;
	for (int i = 0; i < 2; i++) {
		function = kernel_functions_find(functions, 0xffffffff81000100);
		CHECK(name ? function->name && !strcmp(function->name, name) : !function->name);
		CHECK(!name || !strcmp(function->module, module));
		CHECK_EQUAL(function->start, start);
	}
	CHECK_EQUAL(asked, 1);
	kernel_functions_free(functions);
	names_free(names);
}

TEST(functions_of_kernel_modules_and_programs_are_named)
{
	check_named("_stext+0x100/0x200", "_stext", "[kernel]", 0xffffffff81000000);
	check_named("schedule+0x0/0xc0", "schedule", "[kernel]", 0xffffffff81000100);
	check_named("finish_task_switch.isra.0+0x10/0xc0", "finish_task_switch [clone .isra.0]", "[kernel]",
		    0xffffffff810000f0);
	check_named("nf_hook+0x20/0x40 [nf_tables]", "nf_hook", "[nf_tables]", 0xffffffff810000e0);
	check_named("bpf_prog_0123456789abcdef_sched_switch+0x1/0x9 [bpf]", "bpf_prog_0123456789abcdef_sched_switch",
		    "[bpf]", 0xffffffff810000ff);
}

TEST(what_is_no_function_has_no_name)
{
	check_named("0xffffffff81000100", NULL, NULL, 0);
	check_named("", NULL, NULL, 0);
	check_named("+0x10/0x20", NULL, NULL, 0);
	check_named("name+", NULL, NULL, 0);
	check_named("name+0x10", NULL, NULL, 0);
	check_named("name+0xfffffffffffffffff/0x1", NULL, NULL, 0);
	check_named(NULL, NULL, NULL, 0);
}
