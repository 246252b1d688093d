#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: docs.sh PINCH. The documents say what the program does. TAP.
pinch=$(realpath "${1:?Usage: docs.sh PINCH}") || exit 1
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
problems=$tmp/problems
: >"$problems"
count=0 failed=0

# report SENTENCE: fails when $problems has something in it
report() {
	count=$((count + 1))
	if [ -s "$problems" ]; then
		failed=1
		echo "not ok $count - $1"
		sed 's/^/# /' "$problems"
	else
		echo "ok $count - $1"
	fi
	: >"$problems"
}

skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# both LEFT RIGHT: what only one of two sorted files has
both() { diff "$tmp/$1" "$tmp/$2" | sed -n "s/^</only in $1:/p; s/^>/only in $2:/p" >>"$problems"; }

# "-o, --output FILE" for each option that help prints
help_options() {
	sed -n '/^Options:/,$s/^  \(-., \|    \)\(--[a-z-]*\)\( [A-Z]*\)\{0,1\} .*/\1\2\3/p' |
		sed 's/^ *//; s/ *$//' | sort
}

# The same for each entry ".It Fl o , Fl -output Ar FILE" of a man page
page_options() {
	sed -n 's/^\.It \(Fl .*\)/\1/p' "$1" |
		sed 's/ , /, /g; s/Fl /-/g; s/ Ar / /g' | sort
}

"$pinch" help >"$tmp/overview" || echo "pinch help fails" >>"$problems"
commands=$(sed -n '/^Usage:/,/^Start/s/^  \([a-z-]*\)  *[A-Z].*/\1/p' "$tmp/overview" | xargs)
[ -n "$commands" ] || echo "no commands in it" >>"$problems"
report "pinch help lists the commands"

for command in $commands; do
	page=doc/pinch-$command.1
	[ -f "$page" ] || echo "$page is missing" >>"$problems"
	grep -q "^\.It Cm $command\$" doc/pinch.1 || echo "pinch.1 lacks $command" >>"$problems"
done
for page in doc/pinch-*.1; do
	command=${page#doc/pinch-}
	case " $commands " in
	*" ${command%.1} "*) ;;
	*) echo "$page is of no command" >>"$problems" ;;
	esac
done
report "each command has a man page, and each man page a command"

for command in $commands; do
	case $command in run | attach | record | trace | scope | help | clocks | agent) continue ;; esac	# they read no trace
	grep -q "{ \"$command\"" tests/fuzz/commands.c || echo "tests/fuzz/commands.c lacks $command" >>"$problems"
	grep -q "(\"$command\"," tests/attacks/traces.py || echo "tests/attacks/traces.py lacks $command" >>"$problems"
done
report "each command that reads traces is fuzzed, and reads hostile ones"

for command in $commands; do
	page=doc/pinch-$command.1
	"$pinch" help "$command" | help_options >"$tmp/help"
	page_options "$page" >"$tmp/page" 2>/dev/null
	both help page
	report "pinch help $command and $page have the same options"
done

# The text of an option in a man page: from its entry to the next one
entry_of() { awk -v entry="$2" '/^\.(It|El)/ { on = $0 == entry } on' "$1"; }
grep -hx '\.It Fl .*' doc/pinch-run.1 >"$tmp/entries"
while read -r entry; do
	grep -qxF "$entry" doc/pinch-attach.1 || continue
	[ "$(entry_of doc/pinch-run.1 "$entry")" = "$(entry_of doc/pinch-attach.1 "$entry")" ] ||
		echo "differs: $entry" >>"$problems"
done <"$tmp/entries"
report "what run and attach have in common is described in the same words"

plecoc=$(dirname "$pinch")/plecoc
if [ -x "$plecoc" ]; then
	"$plecoc" --help | sed -n 's/^  \(-[-a-z]*\( [A-Z]*\)\{0,1\}\)  .*/\1/p' |
		sed 's/ *$//' | sort >"$tmp/help"
	page_options doc/plecoc.1 >"$tmp/page"
	both help page
	report "plecoc --help and doc/plecoc.1 have the same options"
else
	skip "plecoc --help and doc/plecoc.1 have the same options" "plecoc is not built"
fi

grep -rhoE '(getenv|user_file_find)\("[A-Z_]+"' src | sed 's/.*"\(.*\)"/\1/' | sort -u >"$tmp/code"
grep -q locale_is_utf8 -r src/view && printf '%s\n' LANG LC_ALL LC_CTYPE >>"$tmp/code"
sort -u -o "$tmp/code" "$tmp/code"
sed -n '/^\.Sh ENVIRONMENT/,/^\.Sh FILES/s/^\.It \(Ev .*\)/\1/p' doc/pinch.1 |
	sed 's/Ev //g; s/ , /\n/g' | sort -u >"$tmp/page"
both code page
report "pinch.1 has the environment variables that the code reads"

grep -ohE '"PINCHTRACE_[A-Z_]+"' lib/*.c | tr -d '"' | sort -u >"$tmp/code"
sed -n '/^\.Sh ENVIRONMENT/,/^\.Sh FILES/s/^\.It Ev \(.*\)/\1/p' doc/libpinchtrace.3 | sort -u >"$tmp/page"
both code page
report "libpinchtrace.3 has the environment variables that the library reads"

grep -oE '\<trace_[a-z_]+\(' lib/pinchtrace.h | tr -d '(' | sort -u >"$tmp/code"
sed -n 's/^\.Fn \(trace_[a-z_]*\).*/\1/p; s/^\.Fo \(trace_[a-z_]*\).*/\1/p' doc/libpinchtrace.3 | sort -u >"$tmp/page"
both code page
report "libpinchtrace.3 has the functions of pinchtrace.h"

# Commands of README.md stand in blocks of shell, and between backquotes.
{
	awk '/^```/ { on = $0 ~ /^```sh/; next } on' README.md
	sed '/^```/,/^```/d' README.md | grep -o '`[^`]*`' | tr -d '`'
} | sed 's/ #.*//' >"$tmp/readme"
sed -n 's/^make \([a-z-]*\).*/\1/p' "$tmp/readme" | sort -u | while read -r target; do
	grep -q "^$target:" Makefile tests/programs/*.mk || echo "make $target: no such target"
done >>"$problems"
sed -n 's/^pinch \([a-z]*\).*/\1/p' "$tmp/readme" | sort -u | while read -r command; do
	case " $commands " in
	*" $command "*) ;;
	*) echo "pinch $command: no such command" ;;
	esac
done >>"$problems"
grep -oE '(^| )--[a-z][a-z-]+' "$tmp/readme" | tr -d ' ' | sort -u | while read -r option; do
	for command in $commands; do "$pinch" help "$command"; done | help_options |
		grep -q -- "$option\( \|\$\)" || echo "$option: no such option"
done >>"$problems"
report "the commands and options in README.md exist"

find . -name '*.md' ! -path './.git/*' ! -path './build/*' | while read -r file; do
	sed '/^```/,/^```/d' "$file" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' |
		while read -r link; do
			case $link in
			*://* | mailto:*) continue ;;
			'#'*) continue ;;
			esac
			[ -e "$(dirname "$file")/${link%%#*}" ] || echo "$file: $link"
		done
done >>"$problems"
report "each link in a Markdown file leads to a file"

# Names with an X stand for any. Decisions and the log name what there was then, examples files of other programs.
find . -type f ! -path './.git/*' ! -path './build/*' >"$tmp/files"
for page in ./*.md doc/*.md bench/*.md; do
	sed '/^```/,/^```/d' "$page" |
		grep -oE '`[A-Za-z0-9_./-]+\.(c|h|py|sh|mjs|tsx?|pleco|rules|md|json|events|[15])`' | tr -d '`' | sort -u |
		grep -vE 'X|NNNN' | while read -r file; do
		grep -qx ".*/$file" "$tmp/files" || echo "$page: $file"
	done
done >>"$problems"
report "the files that documents name are there"

/usr/bin/python3 tools/evidence.py --check 2>>"$problems"
report "doc/evidence.md is what its rows say, and no cell is too long"

grep -ohE 'build/tests/[a-z0-9_]+_test' doc/evidence/*.json | sort -u | while read -r file; do
	[ -e "tests/unit/${file#build/tests/}.c" ] || echo "$file is missing"
done >>"$problems"
report "the unit tests that rows of evidence name are there"

# Papers are cited by name, the design as doc/design.md.
grep -rnIE '(^|[^.,0-9])00[0-4]( §|, (figure|table|section|[0-9]\.)| (section|chapter))|DESIGN (§|section)|(DESIGN|STYLE|FACTS)\.md|shared/[A-Z]' \
	bench bpf doc events examples share src tests tools web/src ./*.md | grep -v '^tests/docs.sh:' >>"$problems"
report "no file cites what a clone lacks"

for page in doc/*.[13]; do
	if command -v groff >/dev/null; then
		groff -mandoc -Tutf8 -ww -z "$page" >>"$problems" 2>&1
		report "groff has no complaint about $page"
	else
		skip "groff has no complaint about $page" "groff is not installed (groff-base)"
	fi
done

echo "1..$count"
exit $failed
