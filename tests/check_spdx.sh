#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each source file names its licence, the right one; no file names a place of one machine. TAP.
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
files=$(mktemp) problems=$(mktemp) || exit 1
trap 'rm -f "$files" "$problems"' EXIT
count=0 failed=0

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

# All that is tracked or about to be; where there is no git, all but the build.
if ! git -c safe.directory='*' ls-files --cached --others --exclude-standard >"$files" 2>/dev/null ||
	[ ! -s "$files" ]
then
	find . -type f ! -path './.git/*' ! -path './build/*' | sed 's|^\./||' >"$files"
fi

licence_of() {
	case $1 in
	bpf/*) echo "GPL-2.0-only OR BSD-2-Clause" ;;
	events/* | lib/* | tests/plecoc/golden/*.h) echo "BSD-2-Clause" ;;
	*) echo "GPL-2.0-or-later" ;;
	esac
}

# Data of tests is compared byte by byte, and prose has no place for the line.
is_exempt() {
	case $1 in
	tests/plecoc/golden/*.h) return 1 ;;
	tests/plecoc/golden/* | tests/plecoc/errors/*) ;;
	tests/golden/*.events | tests/golden/*.expect | tests/golden/*.txt | tests/golden/*.json) ;;
	tests/e2e/*.expect | tests/fuzz/*/*) ;;
	web/package-lock.json | tests/npm/package-lock.json | share/klock.json | share/dashboards/*.json | doc/evidence/*.json) ;;
	*.md | COPYING | NEWS | LICENSES/* | .gitignore | .gitattributes | .clang-format) ;;
	*) return 1 ;;
	esac
}

# The first few lines; the rest of the line except for the end of a comment or string.
while read -r file; do
	[ ! -f "$file" ] || is_exempt "$file" || printf '%s\t%s\n' "$(licence_of "$file")" "$file"
done <"$files" | awk -F '\t' '{
	found = ""
	for (i = 0; i < 8 && found == "" && (getline line <$2) > 0; i++)
		if (sub(/.*SPDX-License-Identifier: */, "", line)) {
			sub(/ *\*\/ *$/, "", line)
			sub(/ *-->.*$/, "", line)
			sub(/",?$/, "", line)
			found = line
		}
	close($2)
	# What stands in for the headers of the kernel may be reused with bpf/.
	if (found != $1 && !($2 ~ /^tests\/shim\// && found == "GPL-2.0-only OR BSD-2-Clause"))
		print $2 ": \"" found "\", not \"" $1 "\""
}' >"$problems"
report "each source file names its licence, the right one"

for licence in GPL-2.0-or-later BSD-2-Clause; do
	[ -s "LICENSES/$licence.txt" ] || echo "LICENSES/$licence.txt is missing" >>"$problems"
done
report "the texts of the licences are there"

# In two pieces, or this file would be one of them.
place='(^|[^A-Za-z0-9_.-])/(wor''k|tmp/m''e|tmp/bash_jo''bs)(/|[^A-Za-z0-9_-]|$)'
tr '\n' '\0' <"$files" | xargs -0 grep -sIHnE "$place" >"$problems"
report "no file names a place of one machine"

echo "1..$count"
exit $failed
