#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: run.sh REPLAY. Compares what each scenario gives with its .expect; TAP output.
# UPDATE=1 rewrites the expectations: review the difference.
replay=${1:?Usage: run.sh REPLAY}
dir=$(dirname "$0")
actual=$(mktemp) || exit 1
trap 'rm -f "$actual"' EXIT
count=0 failed=0
for events in "$dir"/*.events; do
	count=$((count + 1))
	expect=${events%.events}.expect
	name=$(basename "$events" .events)
	"$replay" "$events" >"$actual" 2>&1
	status=$?
	if [ -n "$UPDATE" ]; then
		cp "$actual" "$expect"
	fi
	if difference=$(diff -u "$expect" "$actual" 2>&1) && [ $status -eq 0 ]; then
		echo "ok $count - $name"
	else
		failed=1
		echo "not ok $count - $name (exit status $status)"
		printf '%s\n' "$difference" | sed 's/^/# /'
	fi
done

# Looking at an account while it goes on changes nothing of it, but for the order of call paths.
for events in "$dir"/*.events; do
	count=$((count + 1))
	name=$(basename "$events" .events)
	PEEK=1 "$replay" "$events" 2>&1 | sort >"$actual"
	if difference=$(sort "${events%.events}.expect" | diff -u - "$actual" 2>&1); then
		echo "ok $count - $name, looked at after each event"
	else
		failed=1
		echo "not ok $count - $name, looked at after each event"
		printf '%s\n' "$difference" | sed 's/^/# /'
	fi
done
echo "1..$count"
exit $failed
