#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the programs that symbol_object_test.c asks about: build_objects.sh DIR
set -eu
dir=$1 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir"
cd "$dir"
c() { "$@" -O1 -g -w "$here/objects.c"; }
cpp() { "$@" -O1 -g -w -std=c++17 "$here/objects.cpp"; }
declared() {
	"$@" -c -O1 -g -w "$here/declared.cpp" -o variables.o
	"$@" -c -O1 -g -w -DIS_DESCRIBED "$here/declared.cpp" -o classes.o
	g++ variables.o classes.o
}

c gcc -gdwarf-5 -fPIE -pie -o pie
c gcc -gdwarf-5 -fno-pie -no-pie -o fixed
c gcc -gdwarf-4 -fdebug-types-section -gz=zlib -o types
c gcc -fPIC -shared -DIS_LIBRARY -o libobjects.so
cpp g++ -gdwarf-5 -o cpp
cpp g++ -gdwarf-4 -fdebug-types-section -o cpp_types
declared g++ && mv a.out declared
declared g++ -gdwarf-4 -fdebug-types-section && mv a.out declared_types
gcc -nostdlib -static "$here/cyclic.s" -o cyclic

if command -v clang >/dev/null; then
	c clang -gdwarf-5 -o clang
	c clang -gdwarf-4 -o clang4
	cpp clang++ -gdwarf-5 -o clang_cpp
	declared clang++ -gdwarf-5 && mv a.out declared_clang
	# Its segments share pages of the file.
	if command -v ld.lld >/dev/null; then
		c clang -fuse-ld=lld -gdwarf-5 -o lld
	fi
fi

strip --strip-debug -o no_debug pie
strip -o stripped pie
objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr stripped bare
objcopy --only-keep-debug pie linked.debug
strip -o linked pie
objcopy --add-gnu-debuglink=linked.debug linked

# Entries that several units or files have in common, where dwz is installed.
if command -v dwz >/dev/null; then
	gcc -c -O1 -g -w "$here/objects.c" -o objects.o
	gcc objects.o -o dwz1
	gcc -g objects.o "$here/inlined.c" -DIS_LIBRARY -o dwz2
	dwz -m shared.dwz dwz1 dwz2
fi

size=$(stat -c %s pie)
head -c $((size / 2)) pie >truncated
