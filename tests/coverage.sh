#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: coverage.sh DIR. What the counters in DIR/raw say of DIR/pinch: lines of src/ that were run, by folder, and
# each line in DIR/html.
set -eu
dir=${1:?Usage: coverage.sh DIR}
cd "$(dirname "$0")/.."
llvm-profdata merge -sparse -o "$dir/profile" "$dir"/raw/*.profraw
llvm-cov show "$dir/pinch" -instr-profile "$dir/profile" -format html -output-dir "$dir/html" src
llvm-cov export "$dir/pinch" -instr-profile "$dir/profile" -summary-only src | jq -r '
	def row: "\(.covered * 1000 / .count | round / 10) % of \(.count) lines  \(.folder)";
	def sum: { count: map(.count) | add, covered: map(.covered) | add };
	[.data[0].files[] | select(.summary.lines.count > 0) | .summary.lines + { folder: (.filename | capture("(?<folder>src/.+)/[^/]+$").folder) }]
	| (group_by(.folder)[] | sum + { folder: .[0].folder } | row), (sum + { folder: "src" } | row)'
