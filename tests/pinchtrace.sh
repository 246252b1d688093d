#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: pinchtrace.sh BUILD. Programs are compiled and linked with libpinchtrace as its manual says. TAP.
build=$(realpath "${1:?Usage: pinchtrace.sh BUILD}") || exit 1
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
problems=$tmp/problems
: >"$problems"
count=0 failed=0
CC=${CC:-gcc} CXX=${CXX:-g++} CLANG=${CLANG:-clang}
warn="-Wall -Wextra -Wshadow -Wconversion -Werror"

# report SENTENCE: fails when $problems has something in it
report() {
	count=$((count + 1))
	if [ -s "$problems" ]; then
		failed=1
		echo "not ok $count - $1"
		head -20 "$problems" | sed 's/^/# /'
	else
		echo "ok $count - $1"
	fi
	: >"$problems"
}

# must COMMAND...: it succeeds
must() { "$@" >"$tmp/log" 2>&1 || { echo "failed: $*"; cat "$tmp/log"; } >>"$problems"; }

# Each call of the header, as C and C++ have it.
cat >"$tmp/calls.c" <<'END'
#include "pinchtrace.h"
struct fields {
	struct { uint64_t words[2]; } header;
	uint64_t field;
};
int main(void)
{
	struct fields fields = { { { 0, 0 } }, 7 };
	int err = trace_register("{}");

	trace_enable(1);
	trace_disable(1);
	trace_enable_all();
	trace_disable_all();
	trace_event(1, 2, 3);
	trace_event_payload(1, 2, 3, "payload", 7);
	trace_event_fields(1, 2, 3, &fields);
	err |= trace_set_triggers(1, 2, TRACE_NO_EVENT, 0, 0, 10, TRACE_REPEATED);
	trace_clear_triggers();
	trace_flush();
	return err;
}
END

for compiler in "$CC -std=c99 -pedantic" "$CC -std=gnu11 -O2 -fvisibility=hidden" "$CXX -x c++ -std=c++11 -pedantic" \
	"$CXX -x c++ -std=c++20 -O2"; do
	# shellcheck disable=SC2086 # they are several
	must $compiler $warn -Ilib -c -o "$tmp/calls.o" "$tmp/calls.c"
	must "$CC" -o "$tmp/calls" "$tmp/calls.o" -L"$build" -lpinchtrace
	must env LD_LIBRARY_PATH="$build" "$tmp/calls"
	must "$CC" -o "$tmp/calls" "$tmp/calls.o" "$build/libpinchtrace.a" -pthread
	must "$tmp/calls"
	report "$compiler takes the header, and programs run with the shared and the static library"

	for level in -O0 -O2; do
		# shellcheck disable=SC2086
		must $compiler $warn $level -DPINCH_TRACE_OFF -Ilib -c -o "$tmp/off.o" "$tmp/calls.c"
		nm "$tmp/off.o" | grep -v ' T main$' >>"$problems"
		must "$CC" -o "$tmp/off" "$tmp/off.o"
		must "$tmp/off"
	done
	report "with PINCH_TRACE_OFF $compiler leaves nothing, and the library is not needed"
done

if command -v "$CLANG" >/dev/null; then
	# shellcheck disable=SC2086
	must "$CLANG" -std=c11 -pedantic $warn -Ilib -c -o "$tmp/calls.o" "$tmp/calls.c"
	# shellcheck disable=SC2086
	must "$CLANG" -std=c11 -pedantic $warn -DPINCH_TRACE_OFF -Ilib -c -o "$tmp/off.o" "$tmp/calls.c"
fi
report "clang takes the header"

nm -D --defined-only "$build/libpinchtrace.so" | awk '$3 !~ /^pinchtrace_/ { print }' >>"$problems"
nm -g --defined-only "$build/libpinchtrace.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^pinchtrace_/ { print }' >>"$problems"
report "all names of the library begin with pinchtrace_"

# In the header without a body, and in the library.
sed -n 's/.*\<\(pinchtrace_[a-z_]*\)(.*/\1/p; s/^extern .*\<\(pinchtrace_on\)\[.*/\1/p' lib/pinchtrace.h |
	grep -v -x pinchtrace_what | sort -u >"$tmp/declared"
nm -D --defined-only "$build/libpinchtrace.so" | awk '{ print $3 }' | sort >"$tmp/exported"
diff "$tmp/declared" "$tmp/exported" >>"$problems"
report "the shared library exports what the header declares, and no more"

readelf -dW "$build/libpinchtrace.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -e '^libc\.so' -e '^ld-linux' >>"$problems"
report "the library needs the C library only"

# As the README has it, from where make install has put it.
if command -v pkg-config >/dev/null; then
	pc="env PKG_CONFIG_PATH=$build pkg-config"
	[ "$($pc --modversion libpinchtrace)" ] || echo "pkg-config does not know it" >>"$problems"
	$pc --libs libpinchtrace | grep -q -- -lpinchtrace || echo "no -lpinchtrace" >>"$problems"
	report "pkg-config knows the library"
else
	count=$((count + 1))
	echo "ok $count - pkg-config knows the library # SKIP no pkg-config"
fi

must "$build/plecoc" --header -o "$tmp/app_events.h" examples/trace/app.pleco
# shellcheck disable=SC2086
must "$CC" -Wall -Wextra -Werror -I"$tmp" -Ilib -o "$tmp/events" examples/trace/events.c -L"$build" -lpinchtrace -pthread
LD_LIBRARY_PATH=$build "$tmp/events" >"$tmp/out" 2>&1 || echo "exit status $?" >>"$problems"
# Thread, time, subsystem, event, argument: each request begins once and ends once, and has two parts between.
awk '
$1 ~ /[^0-9]/ || $2 ~ /[^0-9]/ || NF < 5 { print "line: " $0 }
$3 == 1 && $4 == 0 { begun[$5]++; last[$1] = $5 }
$3 == 1 && $4 == 1 && (NF != 6 || last[$1] != $5) { print "part: " $0 }
$3 == 1 && $4 == 2 { ended[$5]++ }
END {
	if (NR != 50)
		print NR " lines"
	for (i = 0; i < 12; i++)
		if (begun[i] != 1 || ended[i] != 1)
			print "request " i ": " begun[i] + 0 " begun, " ended[i] + 0 " ended"
}' "$tmp/out" >>"$problems"
report "the example records what its threads do"

# Programs in other languages, which say by their names what they have recorded: six requests of two threads.
must "$build/plecoc" --json -o "$tmp/app.json" examples/trace/app.pleco
mkdir "$tmp/areas"

# check_example COMMAND...: what is in the memory that it leaves
check_example() {
	must env LD_LIBRARY_PATH="$build" PINCHTRACE_DIR="$tmp/areas" PINCHTRACE_KEEP=1 "$@"
	"$build/pinch" trace --snapshot "$tmp"/areas/pinchtrace.* >"$tmp/out" 2>>"$problems"
	rm -f "$tmp"/areas/*
	awk '
	{ sub("argument=", "", $4); thread[$2] }
	NR == 1 && $3 != "app.START" || NR == 26 && $3 != "app.STOP" { print "line " NR ": " $0 }
	$3 == "request.BEGIN" { begun[$4]++; last[$2] = $4 }
	$3 == "request.PART" { split($5, bytes, "="); if (last[$2] != $4 || int(bytes[2] / 1000) != $4) print "part: " $0 }
	$3 == "request.END" { ended[$4]++; if (last[$2] != $4) print "end: " $0 }
	END {
		for (i = 0; i < 6; i++)
			if (begun[i] != 1 || ended[i] != 1)
				print "request " i ": " begun[i] + 0 " begun, " ended[i] + 0 " ended"
		if (NR != 26 || length(thread) != 3)
			print NR " lines of " length(thread) " threads"
	}' "$tmp/out" >>"$problems"
}

# example LANGUAGE TOOL: reports, or says that there is no such tool
example() {
	if command -v "$2" >/dev/null; then
		report "the example in $1 records what its threads do"
	else
		count=$((count + 1))
		echo "ok $count - the example in $1 records what its threads do # SKIP no $2"
	fi
}

# shellcheck disable=SC2086
must $CXX -Wall -Wextra -Werror -I"$tmp" -Ilib -o "$tmp/server" examples/trace/server.cpp -L"$build" -lpinchtrace -pthread
check_example "$tmp/server"
report "the server in C++ records its requests"
if command -v rustc >/dev/null; then
	cp examples/trace/events.rs "$tmp"
	must rustc -L "$build" -l pinchtrace -o "$tmp/events-rs" "$tmp/events.rs"
	check_example "$tmp/events-rs"
fi
example Rust rustc
if command -v python3 >/dev/null; then
	check_example python3 examples/trace/events.py "$tmp/app.json"
fi
example Python python3

echo "1..$count"
exit $failed
