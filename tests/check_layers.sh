#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who may include whom. Reads the order of src/'s folders from the drawing in ARCHITECTURE.md. TAP.
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
problems=$(mktemp) && named=$(mktemp) || exit 1
trap 'rm -f "$problems" "$named"' EXIT
count=0 failed=0

# report SENTENCE: fails when $problems has something in it
report() {
	count=$((count + 1))
	if [ -s "$problems" ]; then
		failed=1
		echo "not ok $count - $1"
		sort -u "$problems" | sed 's/^/# /'
	else
		echo "ok $count - $1"
	fi
	: >"$problems"
}

# includes DIRECTORY: a line "FILE INCLUDED" for each #include "INCLUDED" of a file in it
includes() {
	find "$1" -maxdepth 1 -name '*.[ch]' -exec grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
		sed 's/^\([^:]*\):[^"]*"\([^"]*\)".*/\1 \2/'
}

# brackets DIRECTORY: the same for #include <INCLUDED>
brackets() {
	find "$1" -name '*.[ch]' -exec grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' {} + |
		sed 's/^\([^:]*\):[^<]*<\([^>]*\)>.*/\1 \2/'
}

order=$(sed -n 's/^ *\(base < .*[a-z]\)$/\1/p' ARCHITECTURE.md | tr -d '<')
[ -n "$order" ] || echo "there is no line \"base < ...\"" >>"$problems"
report "ARCHITECTURE.md draws the order of the folders"

find src -name '*.[ch]' | sed 's|^src/\(.*\)/[^/]*$|\1|' | sort -u | while read -r folder; do
	case " $order " in
	*" $folder "*) ;;
	*) echo "$folder is not in it" ;;
	esac
done >>"$problems"
for folder in $order; do
	[ -d "src/$folder" ] || echo "src/$folder does not exist" >>"$problems"
done
report "the drawing has all folders of src/, and no other"

allowed=
for folder in $order; do
	allowed="$allowed $folder"
	includes "src/$folder" | while read -r file included; do
		case $included in
		*/*)
			case " $allowed " in
			*" ${included%/*} "*) ;;
			*) echo "$file includes $included" ;;
			esac
			[ -f "src/$included" ] || echo "$file includes $included, which is not in src/"
			;;
		events.h | values.h)
			[ "$folder" != base ] || echo "$file includes $included" ;;
		shared.h | *.skel.h)
			[ "${folder%%/*}" = collect ] || echo "$file includes $included" ;;
		unwind_format.h | unwind_step.h)
			case ${folder%%/*} in
			unwind | collect) ;;
			*) echo "$file includes $included" ;;
			esac ;;
		jvm_format.h | python_format.h | ruby_format.h | usdt_format.h | v8_format.h)
			case ${folder%%/*} in
			unwind | symbol | collect) ;;
			*) echo "$file includes $included" ;;
			esac ;;
		pinchtrace_format.h)
			[ "$folder" != base ] || echo "$file includes $included" ;;
		*.inc) ;;
		*)
			echo "$file includes $included without its folder" ;;
		esac
	done >"$problems"
	report "src/$folder includes only$allowed"
done

# named_users: a line "FOLDER USER" for each one that a main header names
named_users() {
	for folder in $order; do
		sed -n 's/^ \* Used by: \(.*\)\.$/\1/p' "src/$folder"/*.[hd]* | tr ',' '\n' | sed "s|^ *|$folder |"
	done
}

for folder in $order; do
	[ "$(grep -l '^ \* Owns: ' "src/$folder"/*.[hd]* | wc -l)" = 1 ] || echo "src/$folder has not one header that says \"Owns:\""
	[ "$(grep -l '^ \* Used by: ' "src/$folder"/*.[hd]* | wc -l)" = 1 ] ||
		echo "src/$folder has not one header that says \"Used by:\""
done >"$problems"
report "the main header of each folder says what it owns, and who uses it"

named_users >"$named"
for folder in $order; do
	includes "src/$folder"
done | sed -n 's|^src/\([^ ]*\)/[^/ ]* \([^ ]*\)/[^/ ]*$|\2 \1|p' | sort -u | while read -r used user; do
	[ "$used" = "$user" ] || grep -q -x -e "$used $user" -e "$used any folder above" "$named" ||
		echo "$user uses $used, whose main header does not say so"
done >"$problems"

while read -r used user; do
	case $user in
	nobody | "any folder above") continue ;;
	esac
	includes "src/$user" | grep -q " $used/[^/]*$" || echo "$user does not use $used, whose main header says so"
done <"$named" >>"$problems"
report "a folder is used by those whom its main header names, and by no others"

brackets src | grep ' bpf/' | grep -v '^src/collect/' >"$problems"
report "only src/collect uses libbpf"

brackets src | grep -E ' (elfutils/|dwarf\.h|gelf\.h|libelf\.h|libiberty/)' |
	grep -v -e '^src/symbol/' -e '^src/unwind/.* dwarf\.h' >"$problems"
report "only src/symbol uses libelf, libdw and libiberty"

brackets src | grep -E ' (ncurses|curses|term)\.h' | grep -v -e '^src/tui/screen\.c ' -e '^src/tui/terminal/terminfo\.c ' >"$problems"
report "only src/tui/screen.c and terminal/terminfo.c use ncurses"

brackets src | grep ' capstone/' | grep -v -e '^src/spin/spin_step\.c ' -e '^src/symbol/elf/function_ends\.c ' >"$problems"
report "only src/spin/spin_step.c and src/symbol/elf/function_ends.c use Capstone"

includes bpf | while read -r file included; do
	case $included in
	events.h | values.h) ;;
	*) [ -f "bpf/$included" ] || echo "$file includes $included" ;;
	esac
done >"$problems"
report "bpf/ includes only itself and the events"

includes events >"$problems"
report "events/ includes nothing of ours"

includes tools/plecoc | while read -r file included; do
	[ -f "tools/plecoc/$included" ] || echo "$file includes $included"
done >"$problems"
report "tools/plecoc includes only itself"

includes lib | while read -r file included; do
	[ -f "lib/$included" ] || echo "$file includes $included"
done >"$problems"
grep -rnE '#include.*pinchtrace' src | grep -v pinchtrace_format >>"$problems"
report "lib/ includes only itself, and src/ only pinchtrace_format.h of it"

echo "1..$count"
exit $failed
