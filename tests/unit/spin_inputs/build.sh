#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds what spin_loop_test.c looks into: build.sh DIR. Each compiler that there is, at each level.
set -eu
dir=$1 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir"
cd "$dir"

# build COMPILER LEVEL SUFFIX SOURCE: what a file hides from others is reached without a table.
build() {
	"$1" "-O$2" -fPIC -shared -fvisibility=hidden "$here/$4.$3" -o "$4-$1-O$2.so"
}

for level in 0 1 2 3 s; do
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		build $compiler $level c spins
		build $compiler $level c works
	done
	# Without optimisation the operations on atomics are functions that are called.
	[ $level != 0 ] || continue
	for compiler in g++ clang++; do
		command -v $compiler >/dev/null || continue
		build $compiler $level cpp spins
	done
done

# The C library's functions on memory and strings, for all processors, with their names.
extract() {
	archive=$(gcc -print-file-name="$1") output=$3
	[ -f "$archive" ] || return 0
	members=$(ar t "$archive" | grep -E "$2" | sort -u)
	[ -n "$members" ] || return 0
	mkdir -p members
	(cd members && ar x "$archive" $members && ld -r -o "../$output" *.o)
	rm -rf members
}
extract libc.a '^(mem|str|stp|wmem|wcs|wcp|rawmem)[a-z0-9_-]*\.o$' strings.o
extract libgomp.a '^(bar|lock|mutex|sem|ptrlock|wait)\.o$' gomp.o
