#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests plecoc: run.sh PLECOC. Prints TAP. UPDATE=1 writes what golden/ and errors/ expect again:
# review the diff then.
#
# golden/X.pleco compiles to X.h, X.json and X.table; errors/X.pleco is refused with the words of X.expect.

export LC_ALL=C.UTF-8
plecoc=$(realpath "${1:?usage: run.sh PLECOC}")
cd "$(dirname "$0")" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0
CC=${CC:-gcc} CXX=${CXX:-g++} CLANG=${CLANG:-clang}
multiarch=-I/usr/include/$($CC -print-multiarch 2>/dev/null)

# report STATUS SENTENCE: what went wrong is in $tmp/log
report() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		failed=$((failed + 1))
		echo "not ok $count - $2"
		sed 's/^/# /' "$tmp/log"
	fi
}

# check SENTENCE COMMAND...: the command must succeed
check() {
	sentence=$1
	shift
	"$@" >"$tmp/log" 2>&1
	report $? "$sentence"
}

skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

have() { command -v "$1" >/dev/null; }

# status EXPECTED COMMAND...: its exit status is this one; leaves its words in $tmp/out and $tmp/err
status() {
	expected=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	actual=$?
	cat "$tmp/err"
	[ $actual = "$expected" ] || { echo "exit status $actual, not $expected"; return 1; }
}

# refused MESSAGE ARGUMENT...: exit status 1, nothing on standard output, exactly this message first
refused() {
	message=$1
	shift
	status 1 "$plecoc" "$@" || return 1
	[ ! -s "$tmp/out" ] || { echo "it wrote to standard output"; return 1; }
	[ "$(head -n 1 "$tmp/err")" = "$message" ] || { echo "expected: $message"; return 1; }
}

usage_error() {
	status 2 "$plecoc" "$@" && [ ! -s "$tmp/out" ] && grep -q "Try 'plecoc --help'" "$tmp/err"
}

same() {	# same EXPECTED ACTUAL
	if [ -n "$UPDATE" ]; then cp "$2" "$1"; else diff -u "$1" "$2"; fi
}

compiles() {	# compiles HEADER COMPILER...: alone, and included twice
	printf '#include "%s"\n#include "%s"\n' "$1" "$1" >"$tmp/use.c"
	shift
	"$@" -Wall -Wextra -Werror -fsyntax-only "$tmp/use.c"
}

# Events without fields have names there, too, and not only their texts.
json_in_header() {	# json_in_header X.json X.h: with trigraphs, and with all warnings
	printf '#include <stdio.h>\n#include "%s"\nint main(void) { return fputs(TRACE_DEFS_JSON, stdout) < 0; }\n' "$2" >"$tmp/json.c"
	$CC -std=c11 -Wall -Wextra -Werror -o "$tmp/json" "$tmp/json.c" && "$tmp/json" >"$tmp/said" || return 1
	jq -e 'all(.[].events[]; has("name"))' "$tmp/said" >"$tmp/out" || return 1
	if jq -e 'any(.[].events[]; type == "string")' "$1" >"$tmp/out"; then
		jq 'map_values(.events |= map_values(.text))' "$tmp/said" >"$tmp/texts" && jq . "$1" | diff - "$tmp/texts"
	else
		diff "$1" "$tmp/said"
	fi
}

compiles_with_own_types() {	# of the includer, as a BPF program would
	cat >"$tmp/own.c" <<-EOF
	#define __PINCH_KERNEL_TYPES
	typedef unsigned char __u8;
	typedef signed char __s8;
	typedef unsigned short __u16;
	typedef short __s16;
	typedef unsigned int __u32;
	typedef int __s32;
	typedef unsigned long long __u64;
	typedef long long __s64;
	#include "$1"
	EOF
	$CLANG -target bpf -nostdinc -Wall -Wextra -Werror -fsyntax-only "$tmp/own.c"
}

# The JSON says where each field is; the compiler must agree.
layout_agrees() {	# layout_agrees X.json X.h
	{
		printf '#include <stddef.h>\n#include "%s"\n' "$2"
		jq -r '
		to_entries[] | .key as $subsys | .value.name as $name | .value.events | to_entries[] |
		.key as $event | .value | objects |
		("struct ev_" + ($name + "_" + .name | ascii_downcase)) as $struct |
		("EV_" + ($name + "_" + .name | ascii_upcase)) as $id |
		"_Static_assert(sizeof(\($struct)) == \(.size), \"size\");",
		"_Static_assert(\($id) >> 16 == \($subsys) && (\($id) & 65535) == \($event), \"id\");",
		(.fields as $all | .fields[] | select((.flexible | not) or .name == ([$all[] | select(.flexible)][0].name)) |
			"_Static_assert(offsetof(\($struct), \(.name)) == \(.offset), \"offset\");",
			(select(.count) | "_Static_assert(sizeof(((\($struct) *)0)->\(.name)) / " +
				"sizeof(((\($struct) *)0)->\(.name)[0]) == \(.count), \"count\");"))
		' "$1"
	} >"$tmp/layout.c" && $CC -std=gnu11 -Wall -Werror -fsyntax-only "$tmp/layout.c"
}

# What is in the table is what the JSON says.
table_agrees() {	# table_agrees X.json X.table
	cat >"$tmp/table.c" <<-EOF
	#include <stdbool.h>
	#include <stdint.h>
	#include <stdio.h>
	enum { FIELD_UNSIGNED, FIELD_SIGNED, FIELD_CHAR };
	enum { STRINGS_NONE, STRINGS_ANY, STRINGS_COUNT, STRINGS_BY_FIELD };
	enum { MEANS_NOTHING, MEANS_THREAD, MEANS_STACK, MEANS_MOMENT };
	enum { ROLE_REFERS, ROLE_NAMES, ROLE_ABOUT };
	struct event_field {
		const char *name;
		int kind, width_bytes, offset_bytes, count, is_flexible;
		int length_field_count, length_fields[4], strings, string_count, meaning, role;
	};
	static const struct {
		const char *subsys, *event, *text;
		int size_bytes, is_flexible, meanings, field_count, about_thread_offset, time_field_count;
		const unsigned int *time_fields;
		const struct event_field *fields;
	} table[64][64] = {
	#include "$2"
	};
	static void show(const struct event_field *f)
	{
		static const char *const kinds[] = { "u", "s", "char" };
		printf("%s %s", f->name, kinds[f->kind]);
		if (f->kind != FIELD_CHAR)
			printf("%d", 8 * f->width_bytes);
		printf(" %d %d %d", f->offset_bytes, f->count, f->is_flexible);
		for (int i = 0; i < f->length_field_count; i++)
			printf(" +%d", f->length_fields[i]);
		printf(" %d %d %d %d\\n", f->strings, f->strings > STRINGS_ANY ? f->string_count : 0, f->meaning, f->role);
	}
	int main(void)
	{
		for (int i = 0; i < 64 * 64; i++) {
			int s = i / 64, e = i % 64;
			if (!table[s][e].event)
				continue;
			printf("%d %d %s %s\\n", s, e, table[s][e].subsys, table[s][e].text);
			if (table[s][e].field_count)
				printf("%s %d\\n", table[s][e].event, table[s][e].size_bytes);
			for (int f = 0; f < table[s][e].field_count; f++)
				show(&table[s][e].fields[f]);
		}
	}
	EOF
	# shellcheck disable=SC2016 # the variables are those of jq
	$CC -std=gnu11 -Wall -Wextra -Werror -o "$tmp/table" "$tmp/table.c" && "$tmp/table" >"$tmp/said" &&
		jq -r '
		to_entries[] | .key as $subsys | .value.name as $name | .value.events | to_entries[] |
		.key as $event | .value | "\($subsys) \($event) \($name) \(.text? // .)",
		(objects | select(.fields != []) | "\(.name) \(.size)", (.fields as $all | .fields[] |
			def number($of): [$all[].name] | index($of);
			"\(.name) \(.type) \(.offset) \(.count // 0) \(if .flexible then 1 else 0 end)" +
			([.length[]? | " +\(number(.))"] | add // "") +
			(if .strings == true then " 1 0" elif (.strings | type) == "number" then " 2 \(.strings)"
				elif .strings then " 3 \(number(.strings))" else " 0 0" end) +
			" \({"thread": 1, "stack": 2, "moment": 3}[.means // .names // .about // ""] // 0)" +
			" \(if .names then 1 elif .about then 2 else 0 end)"))
		' "$1" | diff - "$tmp/said"
}

#
# What good files compile to
#
for pleco in golden/*.pleco; do
	name=$(basename "$pleco" .pleco)
	check "golden/$name compiles to a header" status 0 "$plecoc" --header "$pleco"
	cp "$tmp/out" "$tmp/$name.h"
	check "the header of golden/$name is the expected one" same "golden/$name.h" "$tmp/$name.h"
	check "golden/$name compiles to JSON" status 0 "$plecoc" --json "$pleco"
	cp "$tmp/out" "$tmp/$name.json"
	check "the JSON of golden/$name is the expected one" \
		same "golden/$name.json" "$tmp/$name.json"
	check "golden/$name compiles to a table" status 0 "$plecoc" --table "$pleco"
	cp "$tmp/out" "$tmp/$name.table"
	check "the table of golden/$name is the expected one" \
		same "golden/$name.table" "$tmp/$name.table"
	check "gcc accepts the header of golden/$name" compiles "$tmp/$name.h" "$CC" -std=gnu11
	check "g++ accepts the header of golden/$name" compiles "$tmp/$name.h" "$CXX" -x c++ -std=gnu++14
	if have jq; then
		check "TRACE_DEFS_JSON in the header of golden/$name is its JSON" json_in_header "$tmp/$name.json" "$tmp/$name.h"
	else
		skip "TRACE_DEFS_JSON in the header of golden/$name is its JSON" "no jq"
	fi
	if have "$CLANG"; then
		check "clang for BPF accepts the header of golden/$name" \
			compiles "$tmp/$name.h" "$CLANG" -target bpf "$multiarch"
		check "the header of golden/$name works with kernel types of the includer" \
			compiles_with_own_types "$tmp/$name.h"
	else
		skip "clang for BPF accepts the header of golden/$name" "no $CLANG"
		skip "the header of golden/$name works with kernel types of the includer" "no $CLANG"
	fi
	if have jq; then
		check "the JSON of golden/$name parses" jq -e . "$tmp/$name.json"
		check "header and JSON of golden/$name agree on sizes, offsets and numbers" \
			layout_agrees "$tmp/$name.json" "$tmp/$name.h"
		check "table and JSON of golden/$name say the same" \
			table_agrees "$tmp/$name.json" "$tmp/$name.table"
	else
		skip "the JSON of golden/$name parses" "no jq"
		skip "header and JSON of golden/$name agree on sizes, offsets and numbers" "no jq"
		skip "table and JSON of golden/$name say the same" "no jq"
	fi
done

# Listings 3.2 and 3.3 of the description of Pleco, which are not ours to update.
cat >"$tmp/listing_3_2" <<EOF
#define TRACE_SUBSYS_KERNEL 0
#define TRACE_EVENT_KERNEL_CSWITCH 0
#define TRACE_EVENT_KERNEL_BZERO 1
#define TRACE_EVENT_KERNEL_TIMER 2
#define TRACE_EVENT_KERNEL_TIMER_SYNC 3
#define TRACE_SUBSYS_MEMSERV 1
#define TRACE_EVENT_MEMSERV_ALLOC 0
#define TRACE_NUM_SUBSYSTEMS 2
EOF
grep '^#define TRACE_[SEN]' "$tmp/seed.h" >"$tmp/macros"
check "listing 3.1 of the Barrelfish report gives exactly the macros of listing 3.2" \
	diff "$tmp/listing_3_2" "$tmp/macros"
has_no_structs() { ! grep -E 'struct|enum|include' "$tmp/seed.h"; }
check "without fields the header has neither structs nor includes" has_no_structs
listing_3_3='{
	"0": { "name": "kernel", "events": {
		"0": "Context Switch", "1": "Buffer zeroing", "2": "TIMER", "3": "TIMER_SYNC" } },
	"1": { "name": "memserv", "events": { "0": "ALLOC" } } }'
if have jq; then
	# shellcheck disable=SC2016 # the variables are those of jq
	check "listing 3.1 of the Barrelfish report gives the JSON of listing 3.3" \
		jq -e --argjson listing "$listing_3_3" '. == $listing' "$tmp/seed.json"
	text='say "hi" \ a	tab	raw
line'
	# shellcheck disable=SC2016
	check "the escapes of a text mean the same in the JSON" \
		jq -e --arg text "$text" '."0".events."0".text == $text' "$tmp/texts.json"
else
	skip "listing 3.1 of the Barrelfish report gives the JSON of listing 3.3" "no jq"
	skip "the escapes of a text mean the same in the JSON" "no jq"
fi

#
# Errors of bad files
#
for pleco in errors/*.pleco; do
	name=$(basename "$pleco" .pleco)
	check "errors/$name is refused" status 1 "$plecoc" --json "$pleco"
	cp "$tmp/err" "$tmp/message"
	check "errors/$name gets its message" same "errors/$name.expect" "$tmp/message"
done
for mode in --header --json --table; do
	check "$mode writes nothing on an error" \
		refused "errors/bad_character.pleco:2:10: error: unexpected character '@'" \
		$mode golden/fields.pleco errors/bad_character.pleco
done

#
# Several files
#
check "files are numbered in the order given" \
	status 0 "$plecoc" --header golden/fields.pleco golden/seed.pleco
grep '^#define TRACE_[SN]' "$tmp/out" >"$tmp/macros"
cat >"$tmp/expected" <<EOF
#define TRACE_SUBSYS_SCHED 0
#define TRACE_SUBSYS_BLOCK 1
#define TRACE_SUBSYS_KERNEL 2
#define TRACE_SUBSYS_MEMSERV 3
#define TRACE_NUM_SUBSYSTEMS 4
EOF
check "subsystem numbers go on from one file to the next" diff "$tmp/expected" "$tmp/macros"
gives_struct_to_all() {
	"$plecoc" --header golden/seed.pleco golden/fields.pleco | grep -q '^struct ev_kernel_bzero {'
}
check "fields in one file give the events of all files a struct" gives_struct_to_all
printf 'subsystem x { };\nsubsystem KERNEL { };\n' >"$tmp/again.pleco"
check "a subsystem of another file is a duplicate, and the message says where that is" refused \
	"$tmp/again.pleco:2:11: error: duplicate subsystem 'KERNEL': the first, 'kernel', is at golden/seed.pleco:1:11" \
	--json golden/seed.pleco "$tmp/again.pleco"
printf 'subsystem kernel_timer { event sync "" };\n' >"$tmp/collide.pleco"
check "macros that collide across files are an error" refused \
	"$tmp/collide.pleco:1:32: error: event 'sync' of 'kernel_timer' would have the macro TRACE_EVENT_KERNEL_TIMER_SYNC, as has event 'TIMER_SYNC' of 'kernel' at golden/seed.pleco:5:11" \
	--json golden/seed.pleco "$tmp/collide.pleco"
check "a file given twice is a duplicate" refused \
	"golden/seed.pleco:1:11: error: duplicate subsystem 'kernel': the first, 'kernel', is at golden/seed.pleco:1:11" \
	--json golden/seed.pleco golden/seed.pleco
: >"$tmp/empty.pleco"
check "an empty file declares nothing" status 0 "$plecoc" --json "$tmp/empty.pleco"
check "and its JSON is an empty object" [ "$(cat "$tmp/out")" = "{}" ]

#
# Limits
#
many() {	# many COUNT BEFORE EACH AFTER: EACH is a printf format with the number
	awk -v count="$1" -v before="$2" -v each="$3" -v after="$4" \
		'BEGIN { print before; for (i = 0; i < count; i++) printf(each "\n", i); print after }'
}
many 65535 'subsystem s {' 'event e%d "",' '};' >"$tmp/events.pleco"
check "65535 events in a subsystem are accepted" \
	status 0 "$plecoc" --header "$tmp/events.pleco"
check "and the last one has the number 65534" \
	grep -qx '#define TRACE_EVENT_S_E65534 65534' "$tmp/out"
many 65536 'subsystem s {' 'event e%d "",' '};' >"$tmp/events.pleco"
check "65536 events in a subsystem are refused" \
	refused "$tmp/events.pleco:65537:7: error: more than 65535 events in subsystem 's'" \
	--header "$tmp/events.pleco"
many 65535 '' 'subsystem s%d { event e "" }' '' >"$tmp/subsystems.pleco"
check "65535 subsystems are accepted" status 0 "$plecoc" --json "$tmp/subsystems.pleco"
check "one more in another file is refused" \
	refused "golden/seed.pleco:1:11: error: more than 65535 subsystems" \
	--json "$tmp/subsystems.pleco" golden/seed.pleco
printf 'subsystem last { event e "" { u64 x; } };\n' >"$tmp/last.pleco"
many 65534 '' 'subsystem s%d { }' '' >"$tmp/subsystems.pleco"
check "65535 subsystems give a header" \
	status 0 "$plecoc" --header "$tmp/subsystems.pleco" "$tmp/last.pleco"
cp "$tmp/out" "$tmp/subsystems.h"
check "in which no event id overflows" compiles "$tmp/subsystems.h" "$CC" -std=gnu11
printf 'subsystem s { event e "" { u8 a[65535]; u8 b[1]; } };\n' >"$tmp/array.pleco"
check "an array of 65535 is accepted" status 0 "$plecoc" --json "$tmp/array.pleco"
many 2049 'subsystem s { event e "" {' 'u64 x%d[65535];' '} };' >"$tmp/large.pleco"
check "an event above 1 GiB is refused" \
	refused "$tmp/large.pleco:2050:5: error: event 'e' is larger than 1073741824 bytes" \
	--json "$tmp/large.pleco"

#
# The output file
#
dir=$tmp/dir
mkdir "$dir"
check "-o writes the file" status 0 "$plecoc" --json golden/seed.pleco -o "$dir/new"
check "with what standard output would get" diff golden/seed.json "$dir/new"
check "and nothing beside it" [ "$(ls -A "$dir")" = new ]
check "its mode obeys the umask" [ "$(stat -c %a "$dir/new")" = \
	"$(umask 022; touch "$dir/touched"; stat -c %a "$dir/touched")" ]
rm "$dir/touched"
chmod 640 "$dir/new"
ln -s new "$dir/link"
check "a symbolic link can be the output" \
	status 0 "$plecoc" --header golden/seed.pleco -o "$dir/link"
check "it stays a link" [ -L "$dir/link" ]
check "and the file it names is replaced" diff golden/seed.h "$dir/new"
check "which keeps its mode" [ "$(stat -c %a "$dir/new")" = 640 ]
rm "$dir/link"

before=$(stat -c '%i %y %s' "$dir/new")
check "an error in the input is an error with -o too" \
	refused "errors/odd_size.pleco:2:8: error: event 'E' would be 29 bytes long, not a multiple of 8: put a 3-byte padding field at its end" \
	--header golden/seed.pleco errors/odd_size.pleco -o "$dir/new"
check "on an error the output file is not touched" [ "$(stat -c '%i %y %s' "$dir/new")" = "$before" ]
"$plecoc" --json errors/odd_size.pleco -o "$dir/none" 2>/dev/null
check "nor created, nor anything beside it" [ "$(ls -A "$dir")" = new ]
limited() { (ulimit -f 1; refused "$@"); }
check "a file that cannot be written in full is an error" \
	limited "plecoc: cannot write $dir/new: File too large" \
	--header "$tmp/subsystems.pleco" -o "$dir/new"
check "and leaves the old one, and no other" \
	[ "$(stat -c '%i %y %s' "$dir/new") $(ls -A "$dir")" = "$before new" ]
check "an output in no directory is an error" \
	refused "plecoc: cannot write $dir/none/x: No such file or directory" \
	--json golden/seed.pleco -o "$dir/none/x"
check "a directory as output is an error" \
	refused "plecoc: cannot write $dir: Is a directory" --json golden/seed.pleco -o "$dir"
if [ -c /dev/full ]; then
	check "a full device named by -o is an error" \
		refused "plecoc: cannot write /dev/full: No space left on device" \
		--json golden/seed.pleco -o /dev/full
	check "and the device is still there" [ -c /dev/full ]
	full() { "$plecoc" "$@" >/dev/full; }
	for arguments in "--json golden/seed.pleco" "--header golden/fields.pleco" --help --version
	do
		# shellcheck disable=SC2086 # they are several
		check "$arguments fails on a full standard output" status 1 full $arguments
		check "and says so" grep -qx \
			"plecoc: cannot write to standard output: No space left on device" "$tmp/err"
	done
fi
closed() { "$plecoc" "$@" >&-; }
check "a closed standard output is an error" status 1 closed --json golden/seed.pleco

#
# As large as the ones of an operating system
#
large() {	# large: 20 subsystems with 50 events each, every other one with fields
	for subsystem in $(seq 20); do
		echo "subsystem part_$subsystem {"
		for event in $(seq 50); do
			echo "event EVENT_$event \"What happens $event\""
			[ $((event % 2)) = 0 ] || echo "{ u64 address; u32 size; u32 flags; char name[16]; }"
		done
		echo "};"
	done
}
large >"$tmp/large.pleco"
check "a schema of 1,000 events compiles to a header" status 0 "$plecoc" --header "$tmp/large.pleco"
cp "$tmp/out" "$tmp/large.h"
check "and to JSON" status 0 "$plecoc" --json "$tmp/large.pleco"
cp "$tmp/out" "$tmp/large.json"
check "g++ accepts the header" compiles "$tmp/large.h" "$CXX" -x c++ -std=gnu++14
if have jq; then
	check "both have all events" layout_agrees "$tmp/large.json" "$tmp/large.h"
	check "and the program has their names" json_in_header "$tmp/large.json" "$tmp/large.h"
else
	skip "both have all events" "no jq"
	skip "and the program has their names" "no jq"
fi

#
# The command line
#
check "a missing file is an error" \
	refused "plecoc: cannot open $dir/none: No such file or directory" --json "$dir/none"
check "a directory is no input" \
	refused "plecoc: cannot read $dir: Is a directory" --json "$dir"
check "--help is fine" status 0 "$plecoc" --help
check "and goes to standard output" grep -q '^Usage: plecoc --header' "$tmp/out"
check "--version is fine" status 0 "$plecoc" --version
check "and names the program" grep -q '^plecoc ' "$tmp/out"
check "no arguments are wrong usage" usage_error
check "no mode is wrong usage" usage_error golden/seed.pleco
check "no file is wrong usage" usage_error --json
check "two modes are wrong usage" usage_error --json --header golden/seed.pleco
check "the table and another mode are wrong usage" usage_error --table --json golden/seed.pleco
check "an unknown option is wrong usage" usage_error --xml golden/seed.pleco
check "-o without a file is wrong usage" usage_error --json golden/seed.pleco -o
check "two outputs are wrong usage" usage_error --json golden/seed.pleco -o "$dir/a" -o "$dir/b"
cp golden/seed.pleco "$dir/in.pleco"
check "an input as the output is wrong usage" \
	usage_error --json "$dir/in.pleco" -o "$dir/../dir/in.pleco"
check "and stays what it was" diff golden/seed.pleco "$dir/in.pleco"

echo "1..$count"
[ $failed = 0 ]
