/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/jit/jit_hints.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The first one is for all others. A runtime's files begin so, and go on with a version. */
static const struct {
	const char *files[3];
	const char *sentence;
} hints[] = {
	{ { NULL },
	  "generated code has no names: let the program's runtime write /tmp/perf-PID.map or a jitdump, if it can" },
	{ { "libjvm" },
	  "code that Java compiled has no names: use --java-map, run jcmd PID Compiler.perfmap before the end, or "
	  "start java with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
	{ { "node", "libnode" }, "code that Node.js compiled has no names: start it with node --perf-basic-prof" },
	{ { "libcoreclr" }, "code that .NET compiled has no names: set DOTNET_PerfMapEnabled=1 in its environment" },
	{ { "mono", "libmonosgen" }, "code that Mono compiled has no names: start it with mono --jitmap" },
	{ { "ruby", "libruby" }, "code that Ruby compiled has no names: start it with ruby --yjit-perf" },
	{ { "php", "libphp", "opcache" }, "code that PHP compiled has no names: set opcache.jit_debug=16" },
	{ { "beam" }, "code that Erlang compiled has no names: start it with +JPperf true" },
	{ { "llvmjit" }, "code that PostgreSQL compiled has no names: set jit_profiling_support = on" },
	{ { "luajit", "libluajit" },
	  "code that LuaJIT compiled has no names: build it with -DLUAJIT_USE_PERFTOOLS, or turn "
	  "the compiler off with -joff" },
	{ { "libpypy", "pypy" },
	  "code that PyPy compiled has no names because PyPy does not write them: turn the compiler off with --jit "
	  "off" },
};

enum { HINT_COUNT = sizeof(hints) / sizeof(*hints) };

/* "php8.2" and "libruby-3.1.so.3.1", not "node_exporter". */
static bool is_file_of(const char *file_name, const char *prefix)
{
	size_t length = strlen(prefix);
	unsigned char next;

	if (strncmp(file_name, prefix, length))
		return false;
	next = file_name[length];
	return !isalpha(next) && next != '_';
}

unsigned int jit_hint_find(const char *file_name)
{
	for (unsigned int i = 1; i < HINT_COUNT; i++)
		for (unsigned int j = 0; j < 3 && hints[i].files[j]; j++)
			if (is_file_of(file_name, hints[i].files[j]))
				return i;
	return 0;
}

const char *jit_hint(unsigned int number)
{
	return hints[number < HINT_COUNT ? number : 0].sentence;
}
