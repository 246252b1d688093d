#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: check_headers.sh [O]. Each header compiles alone, and twice. O: where the build is. TAP.
cd "$(dirname "$0")/.." || exit 1
O=${1:-build} CC=${CC:-gcc}
if [ ! -f "$O/gen/events.h" ]; then
	echo "Bail out! $O/gen/events.h is missing: run make first"
	exit 1
fi
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
count=0 failed=0
for header in src/*/*.h src/*/*/*.h bpf/shared.h bpf/jvm_format.h bpf/python_format.h bpf/ruby_format.h bpf/v8_format.h events/values.h "$O/gen/events.h" tools/plecoc/*.h lib/*.h; do
	case $header in
	lib/*) flags=-Ilib ;;
	tools/plecoc/*) flags=-Itools/plecoc ;;
	*) flags="-Isrc -I$O/gen -Ievents -Ibpf -Ilib" ;;
	esac
	count=$((count + 1))
	# shellcheck disable=SC2086 # they are several
	if printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
		$CC -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only $flags -I. -x c - \
			>"$log" 2>&1
	then
		echo "ok $count - $header compiles alone"
	else
		failed=1
		echo "not ok $count - $header compiles alone"
		sed 's/^/# /' "$log"
	fi
done
echo "1..$count"
exit $failed
