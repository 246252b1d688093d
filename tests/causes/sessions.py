#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Renews the sessions in a document (default: doc/recipes.md): under each line "<!-- session: CASE -->", the text that
pinch shows of that planted cause, to the first line of its table of time. Private directories become "/srv/". As root.

ONLY: a part of the names of cases, as in run.py.
"""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run              # noqa: E402
import lib              # noqa: E402
from lib_causes import RIGHT    # noqa: E402

DOCUMENT = os.path.join(HERE, "..", "..", "doc", "recipes.md")
SESSION = re.compile(r"(<!-- session: (.*?) -->\n```text\n).*?(```\n)", re.DOTALL)
TABLE = re.compile(r"^Time of all threads", re.MULTILINE)
PRIVATE = re.compile(r"/tmp/pinch-causes-\w+/tmp\w+/")


def session_of(text):
    return PRIVATE.sub("/srv/", TABLE.split(text)[0].rstrip() + "\n")


def renewed(match, chosen, root):
    name = match[2]
    if name not in chosen:
        return match[0]
    outcome = run.run_once(chosen[name], root)
    print(f"{outcome['score']:6} {name}", flush=True)
    # What is shown is what a user should see.
    return match[1] + session_of(outcome["text"]) + match[3] if outcome["score"] == RIGHT else match[0]


def main():
    path = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else DOCUMENT)
    chosen = {case.name: case for case in run.load_cases()}
    root = tempfile.mkdtemp(prefix="pinch-causes-")
    os.chmod(root, 0o755)
    os.environ["XDG_CACHE_HOME"] = os.path.join(root, "cache")
    try:
        text = SESSION.sub(lambda match: renewed(match, chosen, root), lib.read(path))
    finally:
        lib.stop_all()
        os.chdir("/")
        run.shutil.rmtree(root, ignore_errors=True)
    with open(path, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
