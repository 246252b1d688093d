#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the programs that tail_calls_test.c asks about: build_tails.sh DIR
set -eu
dir=$1 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir"
cd "$dir"

gcc -O2 -g -w -fPIC -shared -fno-semantic-interposition "$here/tails_library.c" -o libtails.so
build() { "$@" -O2 -w "$here/tails.c" "$PWD/libtails.so"; }
build gcc -g -o gcc5
build gcc -gdwarf-4 -o gcc4
build gcc -fno-plt -fno-pie -no-pie -g -o no_plt
build gcc -rdynamic -o plain
strip --strip-debug -o no_debug no_plt
strip -o stripped plain
if command -v clang >/dev/null; then
	build clang -g -o clang
	build clang -gdwarf-4 -o clang4
fi
