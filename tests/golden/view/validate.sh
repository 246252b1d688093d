#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each golden JSON report is valid by doc/report-schema.json. Each schema in doc/ is one, and what src/report and
# src/results say. With UPDATE they are written again.
# A broken report must be refused, or this test would not see a schema that allows anything.
cd "$(dirname "$0")/../../.." || exit 1
schema=doc/report-schema.json
python=/usr/bin/python3
if ! $python -c 'import jsonschema' 2>/dev/null; then
	echo "1..0 # SKIP python3-jsonschema is not installed"
	exit 0
fi
set -- tests/golden/view/*.json
echo "1..$(($# + 4))"
failed=0

# check NUMBER NAME COMMAND...
check()
{
	number=$1 name=$2
	shift 2
	if output=$("$@" 2>&1); then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		echo "$output" | sed 's/^/# /' | head -20
		failed=1
	fi
}

valid()		# REPORT...
{
	# shellcheck disable=SC2046,SC2086 # no name has a space
	$python -m jsonschema $(printf -- '-i %s ' "$@") "$schema"
}

are_schemas()
{
	$python -c 'import json, jsonschema, sys
for path in sys.argv[1:]:
    jsonschema.Draft202012Validator.check_schema(json.load(open(path)))' doc/*-schema.json
}

refuses()
{
	broken=$(mktemp) || return 1
	sed 's/"wall_ns": [0-9]*/"wall_ns": -1/' "$1" >"$broken"
	! valid "$broken" 2>/dev/null
	result=$?
	rm -f "$broken"
	return $result
}

are_made_of_fields()
{
	result=0
	for made in doc/*-schema.json; do
		[ -z "$UPDATE" ] || cp "${O:-build}/gen/${made#doc/}" "$made"
		diff -u "$made" "${O:-build}/gen/${made#doc/}" || result=1
	done
	return $result
}

check 1 "the schemas say what the fields say (make golden-update writes them)" are_made_of_fields
check 2 "the schemas are schemas" are_schemas
check 3 "a negative time is refused" refuses "$1"
check 4 "the validator of the end-to-end tests says what python3-jsonschema says" \
	$python tests/golden/view/same_verdicts.py "$schema"
number=5
valid "$@" >/dev/null 2>&1 && which=true || which=valid		# only if not all are: which of them
for report in "$@"; do
	check $number "${report##*/} is valid" $which "$report"
	number=$((number + 1))
done
exit $failed
