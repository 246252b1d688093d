#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Usage: keep.py FUZZER DIRECTORY. Of what is kept for the fuzzer and what is in the directory, keeps
what covers the most code, byte for byte, within the bounds below.
"""
import os
import shutil
import subprocess
import sys
import tempfile

BYTES_MAX = 64 << 10
FILES_MAX = 100


def covered(fuzzer, directories):
    """File: the code that it covers. What libFuzzer writes down to go on after a crash says it."""
    with tempfile.TemporaryDirectory() as scratch:
        notes = os.path.join(scratch, "notes")
        least = os.path.join(scratch, "least")
        os.mkdir(least)
        subprocess.run([fuzzer, "-set_cover_merge=1", "-use_counters=0", "-rss_limit_mb=2048",
                        f"-merge_control_file={notes}", least, *directories],
                       check=True, stderr=subprocess.DEVNULL)
        with open(notes) as file:
            lines = file.read().splitlines()
    names = lines[2:2 + int(lines[0])]
    features = {}
    for line in lines[2 + len(names):]:
        word, number, *rest = line.split()
        if word == "FT":
            features[names[int(number)]] = set(rest)
    return features


def is_lasting(fuzzer, name):
    """What these have as changes to programs means another thing where another compiler is."""
    if os.path.basename(fuzzer) not in ("symbol_fuzz", "variable_fuzz"):
        return True
    with open(name, "rb") as file:
        return file.read(4) == b"\x7fELF"


def choose(features):
    left = set().union(*features.values())
    sizes = {name: os.path.getsize(name) for name in features}
    chosen, size_bytes = [], 0
    while left and len(chosen) < FILES_MAX:
        fitting = [name for name in features if size_bytes + sizes[name] <= BYTES_MAX]
        best = max(fitting, default=None,
                   key=lambda name: (len(features[name] & left) / (sizes[name] + 64), name))
        if not best or not features[best] & left:
            break
        chosen.append(best)
        size_bytes += sizes[best]
        left -= features[best]
    return chosen, size_bytes, len(left)


def main():
    fuzzer, found = sys.argv[1:]
    root = os.path.dirname(os.path.abspath(__file__))
    kept = os.path.join(root, "corpus", os.path.basename(fuzzer))
    os.makedirs(kept, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    if not os.listdir(kept) + os.listdir(found):
        sys.exit(f"there is nothing in {found}: make fuzz")
    chosen, size_bytes, missing = choose({
        name: places for name, places in covered(fuzzer, [kept, found]).items()
        if is_lasting(fuzzer, name)})
    contents = {}
    for name in chosen:
        with open(name, "rb") as file:
            contents[os.path.basename(name)] = file.read()
    shutil.rmtree(kept)
    os.mkdir(kept)
    for name, data in contents.items():
        with open(os.path.join(kept, name), "wb") as file:
            file.write(data)
    print(f"{os.path.basename(fuzzer)}: {len(chosen)} files, {size_bytes} bytes; "
          f"{missing} places are left out")


if __name__ == "__main__":
    main()
