#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the programs that symbol_test.c asks about: build.sh DIR
set -eu
dir=$1 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir"
cd "$dir"
c() { gcc -O2 "$@"; }

c -g -gdwarf-5 -fPIE -pie -Wl,-z,lazy "$here/inlined.c" -o pie
c -g -gdwarf-5 -fno-pie -no-pie "$here/inlined.c" -o fixed
c -g -gdwarf-4 "$here/inlined.c" -o dwarf4
c -g1 "$here/inlined.c" -o lines_only
c -g -gz=zlib "$here/inlined.c" -o compressed
c -g -gsplit-dwarf "$here/inlined.c" -o split
c -g -fPIC -shared -DIS_LIBRARY "$here/inlined.c" -o libinlined.so
g++ -O2 -g "$here/names.cpp" -o names

# As Debian builds: the file and the folder where the compiler ran are given from the same root.
mkdir -p builddir
for version in 4 5; do
	(cd builddir && c -g -gdwarf-$version -fdebug-prefix-map="$here=./source/symbol_inputs" \
		-fdebug-prefix-map="$(pwd -P)=./builddir/here" "$here/inlined.c" -o "../debian$version")
done

# Many units, each with a line for every byte of its code.
{
	echo ".globl unit_UNIT"
	echo ".type unit_UNIT, @function"
	echo "unit_UNIT:"
	yes nop | head -n 20000
	echo ".size unit_UNIT, . - unit_UNIT"
} >unit.s
for i in $(seq 30); do
	sed "s/UNIT/$i/g" unit.s >"unit_$i.s"
	as --gdwarf-5 "unit_$i.s" -o "unit_$i.o"
done
c -shared -nostdlib unit_*.o -o units

# Units whose addresses only their own ranges tell.
objcopy --remove-section=.debug_aranges pie no_aranges

strip -o stripped pie
strip --strip-debug -o no_lines pie

objcopy --only-keep-debug pie linked.debug
strip -o linked pie
objcopy --add-gnu-debuglink=linked.debug linked
# Without a build-id only the checksum can tell whether the file is the right one.
c -g -gdwarf-5 -fPIE -pie -Wl,--build-id=none "$here/inlined.c" -o anonymous_full
objcopy --only-keep-debug anonymous_full anonymous.debug
strip -o anonymous anonymous_full
objcopy --add-gnu-debuglink=anonymous.debug anonymous
cp anonymous stale
cp anonymous.debug stale.debug
objcopy --remove-section=.gnu_debuglink stale
objcopy --add-gnu-debuglink=stale.debug stale
printf x >>stale.debug

# As a container sees it: the debug file lies in its own tree, by build-id.
mkdir -p root
strip -o root/program fixed
id=$(readelf -n fixed | sed -n 's/.*Build ID: //p')
folder=root/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$folder"
objcopy --only-keep-debug fixed "$folder/$(echo "$id" | cut -c3-).debug"

# A stripped program that has its symbols packed in .gnu_debugdata.
if command -v xz >/dev/null; then
	objcopy --strip-debug --remove-section=.comment pie mini.syms
	objcopy -S --keep-symbol=local_function --keep-symbol=outer pie mini.syms
	xz -k -f mini.syms
	objcopy --add-section .gnu_debugdata=mini.syms.xz stripped mini
fi

# What two debug files have in common lies in a third, where dwz is installed.
if command -v dwz >/dev/null; then
	c -g -gdwarf-5 "$here/inlined.c" -o shared1
	c -g -gdwarf-5 -O1 "$here/inlined.c" -o shared2
	dwz -m shared.dwz shared1 shared2
fi

# A server's folder: what debuginfod asks for.
mkdir -p server
c -g -DFOR_SERVER "$here/inlined.c" -o served_full
id=$(readelf -n served_full | sed -n 's/.*Build ID: //p')
mkdir -p "server/buildid/$id"
objcopy --only-keep-debug served_full "server/buildid/$id/debuginfo"
strip -o served served_full

size=$(stat -c %s pie)
head -c $((size / 2)) pie >truncated_half
head -c 100 pie >truncated_header
: >empty
