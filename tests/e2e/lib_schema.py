# SPDX-License-Identifier: GPL-2.0-or-later
"""
Checks JSON against a JSON Schema, 2020-12, of which it knows what the schemas in doc/ use; a keyword that it does
not know is an error. A schema is compiled once, into functions: python3-jsonschema reads it again for each value,
which took longer than the tests that asked. tests/golden/view/same_verdicts.py compares the two.
"""
import re

TYPES = {
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "string": lambda value: type(value) is str,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "number": lambda value: type(value) in (int, float),
    "integer": lambda value: type(value) is int or type(value) is float and value.is_integer(),
}

# Rules of members, which are one.
OF_MEMBERS = {"properties", "required", "additionalProperties"}

# No rules.
ANNOTATIONS = {"$schema", "$id", "$comment", "$defs", "title", "description"}


class Schema:
    """find_error() returns None, or where and what is wrong first, as text."""

    def __init__(self, schema):
        self._schema = schema
        self._references = {}
        self._check = self._compile(schema)

    def find_error(self, value):
        error = self._check(value)
        return error and f"${''.join(error[:-1])}: {error[-1]}"

    # Each check is a function: of a value, None, or the way to what is wrong and what that is, as a tuple.

    def _compile(self, schema):
        checks = [getattr(self, "_check_" + keyword.lstrip("$"))(operand)
                  for keyword, operand in schema.items() if keyword not in ANNOTATIONS | OF_MEMBERS]
        if OF_MEMBERS & schema.keys():
            checks.append(self._check_members(schema.get("properties", {}), schema.get("required", ()),
                                              schema.get("additionalProperties", {})))
        return checks[0] if len(checks) == 1 else lambda value: next(filter(None, (c(value) for c in checks)), None)

    def _check_members(self, properties, required, others):
        required, of_other = frozenset(required), self._compile(others) if others else None
        checks = [(name, self._compile(schema)) for name, schema in properties.items()]

        def check(value):
            if type(value) is not dict:
                return None
            if not required <= value.keys():
                return f"without {', '.join(sorted(required - value.keys()))}",
            for name, of_member in checks:
                if name in value and (error := of_member(value[name])):
                    return f".{name}", *error
            for name in value.keys() - properties.keys() if of_other else ():
                if error := of_other(value[name]):
                    return f".{name}", *error
            return None
        return check

    def _check_items(self, schema):
        of_item = self._compile(schema)

        def check(value):
            if type(value) is list:
                for i, item in enumerate(value):
                    if error := of_item(item):
                        return f"[{i}]", *error
            return None
        return check

    def _check_ref(self, name):
        if name not in self._references:
            schema = self._schema
            for part in name.removeprefix("#/").split("/"):
                schema = schema[part]
            self._references[name] = None       # it may refer to itself
            self._references[name] = self._compile(schema)
        return self._references[name] or (lambda value: self._references[name](value))

    def _check_anyOf(self, schemas):
        checks = [self._compile(schema) for schema in schemas]

        def check(value):
            errors = [of_one(value) for of_one in checks]
            return None if None in errors else errors[0]
        return check

    def _check_type(self, names):
        tests = [TYPES[name] for name in ([names] if type(names) is str else names)]
        if len(tests) == 1:
            is_one = tests[0]
            return lambda value: None if is_one(value) else (f"{value!r:.100} is no {names}",)
        return lambda value: None if any(is_one(value) for is_one in tests) else (f"{value!r:.100} is none of {names}",)

    def _check_enum(self, values):
        assert all(type(value) in (str, type(None)) for value in values), "numbers equal booleans in Python"
        values = frozenset(values)
        return lambda value: None if type(value) in (str, type(None)) and value in values else \
            (f"{value!r:.100} is none of {values}",)

    def _check_const(self, constant):
        return lambda value: None if value == constant and type(value) is not bool else \
            (f"{value!r:.100} is not {constant!r}",)

    def _check_minimum(self, least):
        return lambda value: (f"{value} is less than {least}",) if TYPES["number"](value) and value < least else None

    def _check_maximum(self, most):
        return lambda value: (f"{value} is more than {most}",) if TYPES["number"](value) and value > most else None

    def _check_minItems(self, least):
        return lambda value: (f"fewer than {least}",) if type(value) is list and len(value) < least else None

    def _check_maxItems(self, most):
        return lambda value: (f"more than {most}",) if type(value) is list and len(value) > most else None

    def _check_pattern(self, pattern):
        search = re.compile(pattern).search
        return lambda value: (f"{value!r:.100} is not like {pattern}",) \
            if type(value) is str and not search(value) else None
