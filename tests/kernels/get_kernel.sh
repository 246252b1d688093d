#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Gets the newest kernel of Debian's of a name such as 6.1-plain, 6.12-cloud or 6.1-rt from the sources
# that apt has, unpacked into a directory and not installed. Prints the path of its image; on failure,
# the reason. What is there already is not looked up again.
# Usage: get_kernel.sh NAME DIRECTORY
set -eu
export LC_ALL=C
name=$1 directory=$2
release=${name%-*} flavour=-${name##*-}
[ "$flavour" != -plain ] || flavour=

image() { ls "$directory"/vmlinuz-* 2>/dev/null; }
if image; then
	exit 0
fi

find_package() {
	pattern="^linux-image-$(echo "$release" | sed 's/\./\\./g')\.[0-9.]+([-+]([a-z]*[0-9]+|bpo))*$flavour-amd64\$"
	apt-cache pkgnames linux-image- 2>/dev/null | grep -E "$pattern" | sort -V | tail -n 1
}

# Debian names a kernel's package by its version: an old list names one that is gone.
download() {
	package=$(find_package)
	[ -n "$package" ] && (cd "$directory" && apt-get download -q "$package" >download.log 2>&1)
}

mkdir -p "$directory"
if ! download; then
	apt-get update -q >/dev/null 2>&1 || true
	if ! download; then
		if [ -z "$package" ]; then
			echo "no package of a $name kernel for x86-64 in apt's sources" >&2
		else
			echo "$package cannot be downloaded: $(grep -m 1 '^E:' "$directory/download.log")" >&2
		fi
		exit 1
	fi
fi
dpkg-deb --fsys-tarfile "$directory"/*.deb |
	tar -x -C "$directory" --strip-components=2 --wildcards './boot/vmlinuz-*'
rm -f "$directory"/*.deb "$directory/download.log"
image
