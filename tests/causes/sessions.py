#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Renews the sessions in a document (default: doc/recipes.md). Under each line "<!-- session: CASE -->": the text that
pinch shows of that planted cause, to the first line of its table of time. Under each line "<!-- shell: NAME -->": what
a shell prints after each line that begins with "$ "; pinch and the planted programs are in its path. Private
directories become "/srv/". As root.

ONLY: a part of the names of cases, as in run.py, or of the sessions in shells.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run              # noqa: E402
import lib              # noqa: E402
from lib_causes import RIGHT    # noqa: E402

DOCUMENT = os.path.join(HERE, "..", "..", "doc", "recipes.md")
SESSION = re.compile(r"(<!-- session: (.*?) -->\n```text\n).*?(```\n)", re.DOTALL)
SHELL = re.compile(r"(<!-- shell: (.*?) -->\n```console\n)(.*?)(```\n)", re.DOTALL)
SHELL_SECONDS_MAX = 120
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


def shell_script(lines):
    """Each command is printed before it runs, and at the end all that it has started is over."""
    echo = "".join(f"printf '$ %s\\n' {shlex.quote(line)}\n{line}\n" for line in lines)
    # As at a terminal: what is started in the background does not ignore Ctrl-C.
    return "set -m\n" + echo + "for job in $(jobs -p); do kill -KILL -- -$job; wait $job; done >/dev/null 2>&1\n"


def rerun(match, root):
    if os.environ.get("ONLY", "") not in match[2]:
        return match[0]
    directory = tempfile.mkdtemp(dir=root)
    paths = [os.path.dirname(lib.PINCH)] + [os.path.join(os.path.dirname(lib.PINCH), part) for part in ("programs", "programs/causes")]
    environment = {**os.environ, "PATH": ":".join(paths + [os.environ["PATH"]])}
    lines = [line[2:] for line in match[3].split("\n") if line.startswith("$ ")]
    done = subprocess.run(["bash", "-c", shell_script(lines)], cwd=directory, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SHELL_SECONDS_MAX, text=True)
    print(f"status {done.returncode}  {match[2]}", flush=True)
    return match[1] + done.stdout.replace(directory + "/", "/srv/") + match[4]


def main():
    path = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else DOCUMENT)
    chosen = {case.name: case for case in run.load_cases()}
    root = tempfile.mkdtemp(prefix="pinch-causes-")
    os.chmod(root, 0o755)
    os.environ["XDG_CACHE_HOME"] = os.path.join(root, "cache")
    try:
        text = SESSION.sub(lambda match: renewed(match, chosen, root), lib.read(path))
        text = SHELL.sub(lambda match: rerun(match, root), text)
    finally:
        lib.stop_all()
        os.chdir("/")
        run.shutil.rmtree(root, ignore_errors=True)
    with open(path, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
