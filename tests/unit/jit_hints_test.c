/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "symbol/jit/jit_hints.h"

static bool has_hint(const char *file_name, const char *text)
{
	unsigned int number = jit_hint_find(file_name);

	return number && strstr(jit_hint(number), text);
}

TEST(a_runtime_is_known_by_its_files)
{
	CHECK(has_hint("libjvm.so", "Compiler.perfmap"));
	CHECK(has_hint("node", "--perf-basic-prof") && has_hint("libnode.so.108", "Node.js"));
	CHECK(has_hint("libcoreclr.so", "DOTNET_PerfMapEnabled=1"));
	CHECK(has_hint("libpypy3.9-c.so", "PyPy") && has_hint("luajit-2.1.0-beta3", "LuaJIT"));
	CHECK(has_hint("libruby-3.1.so.3.1.2", "--yjit-perf") && has_hint("php8.2", "opcache"));
	CHECK(has_hint("beam.smp", "+JPperf") && has_hint("mono-sgen", "--jitmap"));
}

TEST(what_only_begins_like_one_is_none)
{
	CHECK(!jit_hint_find("node_exporter") && !jit_hint_find("nodetool"));
	CHECK(!jit_hint_find("monotone") && !jit_hint_find("libc.so.6") && !jit_hint_find(""));
	CHECK(strstr(jit_hint(0), "perf-PID.map"));
	CHECK_EQUAL(jit_hint(1000), jit_hint(0));
}
