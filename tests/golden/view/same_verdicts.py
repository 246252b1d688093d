#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Usage: same_verdicts.py SCHEMA. Of random values of each definition of the schema, as they are and changed at one
place, the validator of the end-to-end tests and python3-jsonschema say the same.
"""
import copy
import json
import os
import random
import sys

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "e2e"))
from lib_schema import Schema  # noqa: E402

VALUES = 8      # of each definition
CHANGES = 30    # of each value

ANYTHING = (None, True, False, 0, 1, -1, 2.0, 0.5, 1e300, 2 ** 70, "", "lock", "0x1f", [], {}, [1, 2])

chance = random.Random(1)


def value_of(schema, definitions, depth=0):
    """A value that the schema mostly allows."""
    def of(part):
        return value_of(part, definitions, depth + 1)

    if "$ref" in schema:
        return of(definitions[schema["$ref"].rpartition("/")[2]])
    for keyword in "anyOf", "enum":
        if keyword in schema:
            one = chance.choice(schema[keyword])
            return of(one) if keyword == "anyOf" else one
    if "const" in schema:
        return schema["const"]
    kinds = schema.get("type", "null")
    kind = kinds if isinstance(kinds, str) else chance.choice(kinds)
    if kind == "object":
        return {name: of(member) for name, member in schema.get("properties", {}).items()}
    if kind == "array":
        return [of(schema["items"]) for _ in range(schema.get("minItems", 0 if depth > 6 else chance.randrange(3)))]
    return {"string": "0xffff888104a3c118", "boolean": True, "null": None, "number": chance.random(),
            "integer": chance.randrange(1000)}[kind]


def others_than(value):
    if isinstance(value, list):
        return value + [0], value * 2, value[:1], value[1:]
    if isinstance(value, (int, float)):
        return -value, value + 0.5, value * 1.0, value * 2 ** 40
    return (value + "x", value[1:]) if isinstance(value, str) else ()


def change(value):
    """A copy in which one place, chosen at random, has something else, or nothing."""
    root = copy.deepcopy({"value": value})
    holder, key = root, "value"
    while isinstance(holder[key], (dict, list)) and holder[key] and chance.random() < 0.8:
        holder = holder[key]
        key = chance.choice(list(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
    if holder is not root and chance.random() < 0.3:
        del holder[key]
    else:
        holder[key] = chance.choice((*others_than(holder[key]), *ANYTHING))
    return root["value"]


def main(path):
    with open(path) as file:
        schema = json.load(file)
    definitions = schema["$defs"]
    valid = invalid = 0
    for name in definitions:
        one = {"$ref": f"#/$defs/{name}", "$defs": definitions}
        reference, ours = jsonschema.Draft202012Validator(one), Schema(one)
        for value in (value_of(one, definitions) for _ in range(VALUES)):
            for tried in value, *(change(value) for _ in range(CHANGES)):
                error = ours.find_error(tried)
                assert reference.is_valid(tried) == (error is None), f"{name}: {error}: {tried!r:.500}"
                valid, invalid = valid + (error is None), invalid + (error is not None)
    assert valid > 1000 and invalid > 1000, (valid, invalid)
    print(f"{valid} valid, {invalid} not")


main(*sys.argv[1:])
