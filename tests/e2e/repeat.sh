#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: repeat.sh [ROUNDS] [SUITE...]		(20 causes)
# Whether end-to-end tests say the same each time on a busy machine: on each CPU something computes all
# the time, and something else writes to the disk. TAP, a line for each test, with what it said when it
# failed. ONLY chooses tests, as in the suites themselves.
set -u
export LIMIT_S=${LIMIT_S:-600}		# what must share the CPUs with so much does not hang yet
rounds=${1:-20}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- causes
here=$(dirname "$(realpath "$0")")
results=$(mktemp -d) || exit 1
load=()
running=				# a suite

stop_load() {
	[ ${#load[@]} -eq 0 ] || kill "${load[@]}" ${running:+"$running"} 2>/dev/null
	load=()
	wait
}
trap 'stop_load; rm -rf "$results"' EXIT
trap 'exit 130' INT TERM HUP

start_load() {
	for cpu in $(seq 0 $(($(nproc --all) - 1))); do
		taskset -c "$cpu" bash -c 'while :; do :; done' &
		load+=($!)
	done
	bash -c 'trap "kill \$! 2>/dev/null; exit" TERM
		while :; do
			dd if=/dev/zero of="$0" bs=1M count=64 conv=fsync status=none & wait $!
		done' "$results/written" &
	load+=($!)
}

start_load
for suite; do
	for round in $(seq "$rounds"); do
		# Waited for, so that a signal ends all of it at once.
		/usr/bin/python3 "$here/$suite.py" >"$results/$suite.$round" &
		running=$!
		wait "$running"
		running=
		echo "# round $round of $rounds: $suite, $(grep -c '^not ok' "$results/$suite.$round") failed"
	done
done
stop_load

# Lines of a test that failed follow it, and begin with #. What was skipped each time is not a difference.
# shellcheck disable=SC2010,SC2046 # names of ours, without spaces
cd "$results" && awk -v rounds="$rounds" '
	FNR == 1 { n = split(FILENAME, parts, "."); suite = parts[1]; round = parts[n]; failed = 0 }
	/^(not )?ok / {
		failed = /^not /
		name = $0
		sub(/^(not )?ok [0-9]+ - /, "", name)
		is_skipped = sub(/ # SKIP .*/, "", name)
		name = suite ": " name
		if (!(name in seen)) { seen[name] = 0; order[++count] = name }
		if (is_skipped) skipped[name]++
		else if (!failed) passed[name]++
		next
	}
	/^#/ && failed { said[name] = said[name] "# round " round ":" substr($0, 2) "\n" }
	END {
		for (i = 1; i <= count; i++) {
			name = order[i]
			good = passed[name] + 0
			if (skipped[name] == rounds) print "ok " i " - " name " # SKIP in each round"
			else if (good == rounds) print "ok " i " - " good " of " rounds " rounds: " name
			else { bad = 1; print "not ok " i " - " good " of " rounds " rounds: " name; printf "%s", said[name] }
		}
		print "1.." count
		exit bad || !count
	}' $(ls | grep -E '\.[0-9]+$' | sort -t. -k1,1 -k2,2n)
