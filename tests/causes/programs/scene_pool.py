#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Planted cause: a pool of two processes gets seven short tasks and, at the end, a long one. Cured: the long one comes
in ten parts.
Known answer: render_scene() in one process of the pool.
"""
import multiprocessing

import planted


def compute(steps):
    total = 0
    for step in range(steps):
        total += step * step % 97
    return total


def render_scene(parts):
    return compute(4000000 // parts)


def render_icon(_):
    return compute(100000)


def run_task(task):
    name, parts = task
    return render_scene(parts) if name == "scene" else render_icon(parts)


def main():
    scene = [("scene", 10)] * 10 if planted.is_cured else [("scene", 1)]
    with multiprocessing.Pool(2) as pool:
        while True:
            pool.map(run_task, [("icon", 1)] * 7 + scene, 1)
            planted.done()


if __name__ == "__main__":
    main()
