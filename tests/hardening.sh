#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: hardening.sh BUILD. What the compiler and the linker add against errors of memory is in what was built. TAP.
build=${1:?Usage: hardening.sh BUILD}
export LC_ALL=C
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
problems=$tmp/problems
: >"$problems"
count=0 failed=0

# report SENTENCE: fails when $problems has something in it
report() {
	count=$((count + 1))
	if [ -s "$problems" ]; then
		failed=1
		echo "not ok $count - $1"
		sort -u "$problems" | head -20 | sed 's/^/# /'
	else
		echo "ok $count - $1"
	fi
	: >"$problems"
}

# must WHAT COMMAND...: the command's output has a line that matches WHAT
must() {
	what=$1
	shift
	"$@" >"$tmp/out" 2>&1
	grep -qE -- "$what" "$tmp/out" || echo "no \"$what\" in: $*" >>"$problems"
}

# The pages that the loader and the linker give a program are as the headers say.
for program in "$build/pinch" "$build/plecoc"; do
	name=$(basename "$program")
	must 'Type: +DYN ' readelf -hW "$program"
	must '\(FLAGS_1\).*\<PIE\>' readelf -dW "$program"
	report "$name is loaded anywhere (PIE)"

	must 'GNU_RELRO' readelf -lW "$program"
	must '\(FLAGS(_1)?\).*(BIND_NOW|\<NOW\>)' readelf -dW "$program"
	report "$name has no table of functions that can be written to (RELRO, BIND_NOW)"

	must 'GNU_STACK( +0x0+){3} 0x0+ 0x0+ RW +0x' readelf -lW "$program"
	readelf -lW "$program" | grep -E '^ +LOAD .* RWE ' >>"$problems"
	report "$name has no memory that is written to and executed"

	must ' FUNC .* UND __stack_chk_fail' readelf --dyn-syms -W "$program"
	report "$name notices stacks that are written over"

	must ' FUNC .* UND __(fprintf|printf|snprintf|vsnprintf|memcpy)_chk' readelf --dyn-syms -W "$program"
	report "$name bounds copies and formats (FORTIFY)"
done

# Each object: the linker forgets of the whole what one of its parts lacks, and a library that is linked in may have
# what our own code has not.
objects=$(find "$build/src" -name '*.o')
[ -n "$objects" ] || echo "no objects in $build/src" >>"$problems"
report "there are objects"

# users SYMBOL: how many objects call it
readelf -sW $objects | awk '/^File: / { file = $2 } $7 == "UND" { print file, $8 }' >"$tmp/calls"
users() { grep -E " $1\$" "$tmp/calls" | cut -d' ' -f1 | sort -u | wc -l; }
all=$(echo "$objects" | wc -l) guarded=$(users __stack_chk_fail)
[ $((2 * guarded)) -gt "$all" ] || echo "$guarded of $all objects have guarded stacks" >>"$problems"
report "most objects have functions with guarded stacks"
bounded=$(users '__(v|vs|s|sn|vsn|f|vf)?printf_chk') plain=$(users '(v|vs|s|sn|vsn|f|vf)?printf')
[ "$bounded" -gt "$plain" ] || echo "$bounded objects format into known bounds, $plain do not" >>"$problems"
report "most objects that format text have it bounded, but for what the compiler knows to fit"

case $(uname -m) in
x86_64)
	readelf -nW $objects 2>/dev/null | awk '/^File: / { file = $2 } /x86 feature: IBT, SHSTK/ { print file }' |
		sort >"$tmp/marked"
	echo "$objects" | sort | comm -23 - "$tmp/marked" >>"$problems"
	report "each object is made for indirect branch tracking and shadow stacks (CET)"

	# What the C library puts around main() decides for the program.
	expected=yes
	for part in Scrt1.o crti.o crtn.o; do
		readelf -nW "$(${CC:-gcc} -print-file-name=$part)" 2>/dev/null | grep -q 'IBT, SHSTK' || expected=no
	done
	found=no
	readelf -nW "$build/pinch" 2>/dev/null | grep -q 'x86 feature: IBT, SHSTK' && found=yes
	[ $found = $expected ] || echo "pinch: $found; the C library's parts: $expected" >>"$problems"
	report "pinch is marked so where the C library's start-up code is, here: $expected"
	;;
esac

# What the compiler was asked for stands in the debug information: a function need not show a sign of it.
readelf -p .debug_str -p .debug_line_str $objects 2>/dev/null |
	awk '/^File: / { file = $2 } /GNU C/ { print file, $0 }' >"$tmp/flags"
for flag in -fstack-protector-strong -fstack-clash-protection; do
	grep -v -- " $flag" "$tmp/flags" | sed "s/ .*/ without $flag/" >>"$problems"
done
sentence="each object is compiled with guards of the stack and without jumps over its guard page"
if [ -s "$tmp/flags" ]; then
	report "$sentence"
else
	count=$((count + 1))
	echo "ok $count - $sentence # SKIP no debug information of gcc tells"
fi

echo "1..$count"
exit $failed
