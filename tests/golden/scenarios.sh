# SPDX-License-Identifier: GPL-2.0-or-later
# What runs of scenarios share; sourced with $replay set. TAP output.
# UPDATE=1 rewrites the expectations: review the difference.
# shellcheck shell=sh disable=SC2154
count=0 failed=0

tell() {	# name, exit status, difference
	count=$((count + 1))
	if [ "$2" -eq 0 ] && [ -z "$3" ]; then
		echo "ok $count - $1"
	else
		failed=1
		echo "not ok $count - $1 (exit status $2)"
		printf '%s\n' "$3" | sed 's/^/# /'
	fi
}

# Compares what each scenario of a directory gives with its .expect.
compare_all() {
	for events in "$1"/*.events; do
		expect=${events%.events}.expect
		actual=$("$replay" "$events" 2>&1)
		status=$?
		[ -z "$UPDATE" ] || printf '%s\n' "$actual" >"$expect"
		tell "$(basename "$events" .events)" $status "$(printf '%s\n' "$actual" | diff -u "$expect" - 2>&1)"
	done
}

finish() {
	echo "1..$count"
	exit $failed
}
