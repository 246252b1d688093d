#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: run.sh REPLAY. Compares what each scenario gives with its .expect: scenarios.sh.
# shellcheck disable=SC2034 # scenarios.sh takes it
replay=${1:?Usage: run.sh REPLAY}
dir=$(dirname "$0")
. "$dir/scenarios.sh"

compare_all "$dir"

# Looking at an account while it goes on changes nothing of it, except for the order of call paths.
expected=$(mktemp) || exit 1
trap 'rm -f "$expected"' EXIT
for events in "$dir"/*.events; do
	sort "${events%.events}.expect" >"$expected"
	tell "$(basename "$events" .events), looked at after each event" 0 \
		"$(PEEK=1 "$replay" "$events" 2>&1 | sort | diff -u "$expected" - 2>&1)"
done
# Nor does what is recorded of threads that are not traced.
for events in "$dir"/*.events; do
	tell "$(basename "$events" .events), with threads that are not traced" 0 \
		"$(OUTSIDE=1 "$replay" "$events" 2>&1 | diff -u "${events%.events}.expect" - 2>&1)"
done
finish
