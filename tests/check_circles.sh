#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: check_circles.sh [O]. Files of one folder of src/ that need each other. O: where the build is. TAP.
# X.c and X.h are one file here. X_internal.h is below X, whose types it knows.
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
O=${1:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0 failed=0

# Those that stay, and why.
known() {
	case $1 in
	# Help lists the commands, and is one of them.
	"cmd/commands cmd/help_command") ;;
	# A list has ghosts, and where one appears a list is made.
	"derive/merge_ghosts derive/merge_lists") ;;
	# A page puts names; what is cut of them is counted in the page's columns.
	"view/page view/page_names") ;;
	*) return 1 ;;
	esac
}

# circles: of lines "FILE FILE", the first needs the second, those of one folder that reach each other, a circle a line
circles() {
	awk '
	function folder(file) { sub("/[^/]*$", "", file); return file }
	$1 != $2 && $1 != $2 "_internal" && folder($1) == folder($2) {
		needs[$1] = needs[$1] " " $2
		files[$1]
	}
	function follow(file, i, count, list) {
		count = split(needs[file], list, " ")
		for (i = 1; i <= count; i++)
			if (!(list[i] in reached)) {
				reached[list[i]]
				follow(list[i])
			}
	}
	END {
		for (file in files) {
			split("", reached)
			follow(file)
			for (other in reached)
				reaches[file, other]
		}
		for (file in files) {
			circle = ""
			if ((file, file) in reaches)
				for (other in files)
					if ((file, other) in reaches && (other, file) in reaches)
						circle = circle "\n" other
			if (circle != "")
				print substr(circle, 2) | "sort | paste -s -d \" \""
			close("sort | paste -s -d \" \"")
		}
	}' | sort -u
}

# report SENTENCE: fails when $work/needs has a circle that is unknown
report() {
	count=$((count + 1))
	circles <"$work/needs" | while read -r circle; do
		known "$circle" || echo "# $circle"
	done >"$work/new"
	if [ -s "$work/new" ]; then
		failed=1
		echo "not ok $count - $1"
		cat "$work/new"
	else
		echo "ok $count - $1"
	fi
}

find src -name '*.[ch]' -exec grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
	sed 's/^src\/\([^:]*\)\.[ch]:[^"]*"\([^"]*\)\.[a-z]*".*/\1 \2/' | sort -u >"$work/needs"
report "no file includes one of its folder that includes it"

find src -name '*.c' | sed "s|\(.*\)\.c$|$O/\1.o|" | xargs nm -A 2>"$work/missing" | sed "s|^$O/src/\(.*\)\.o:[^ ]* *|\1 |" |
	awk '
	$2 == "U" { used[$1 " " $3] }
	$2 ~ /[TDBR]/ { where[$3] = $1 }
	END {
		for (use in used) {
			split(use, part, " ")
			if (part[2] in where)
				print part[1], where[part[2]]
		}
	}' | sort -u >"$work/needs"
report "no file calls one of its folder that calls it"

count=$((count + 1))
if [ -s "$work/missing" ]; then
	failed=1
	echo "not ok $count - each file has been compiled: run make first"
	sed 's/^/# /' "$work/missing"
else
	echo "ok $count - each file has been compiled"
fi

echo "1..$count"
exit $failed
