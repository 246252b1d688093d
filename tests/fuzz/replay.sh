#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: replay.sh DIR. Each fuzzer, built in DIR, runs once over what is kept for it. TAP.
cd "$(dirname "$0")/../.." || exit 1
dir=$1
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
count=0 failed=0
for source in tests/fuzz/*_fuzz.c; do
	name=$(basename "$source" .c) corpus=tests/fuzz/corpus/$(basename "$source" .c)
	count=$((count + 1))
	sentence="$name: what is kept of earlier runs does no harm"
	if [ ! -x "$dir/$name" ]; then
		echo "ok $count - $sentence # SKIP it is not built: clang's libFuzzer is missing"
	elif [ ! -d "$corpus" ]; then
		failed=1
		echo "not ok $count - $sentence"
		echo "# there is no $corpus: make fuzz-corpus"
	elif "$dir/$name" -runs=0 -rss_limit_mb=2048 -timeout=10 \
		-artifact_prefix="$dir/" "$corpus" >"$log" 2>&1
	then
		echo "ok $count - $sentence"
	else
		failed=1
		echo "not ok $count - $sentence"
		tail -n 40 "$log" | sed 's/^/# /'
	fi
done
echo "1..$count"
exit $failed
