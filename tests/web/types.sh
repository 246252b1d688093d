#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: types.sh O. The page's TypeScript has no type error, and no way to make markup of text. TAP.
O=$(realpath "${1:?Usage: types.sh O}") || exit 1
cd "$(dirname "$0")/../.." || exit 1
echo "1..3"
failed=0

# tell NUMBER SENTENCE OUTPUT: fails when there is any output
tell() {
	if [ -z "$3" ]; then
		echo "ok $1 - $2"
	else
		failed=1
		echo "not ok $1 - $2"
		echo "$3" | head -n 30 | sed 's/^/# /'
	fi
}

check_types() { cd "$O/web" && node_modules/.bin/tsc --project . || echo "tsc: exit status $?"; }
tell 1 "the page has no type error" "$(check_types 2>&1)"
tell 2 "the page makes no markup of text" \
	"$(grep -rnE 'innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|eval\(|new Function' web/src)"
tell 3 "no lock file names a registry" "$(grep -n '"resolved"' web/package-lock.json)"
exit $failed
