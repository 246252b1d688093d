# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a flame graph: width is time, a caller lies under what it calls (B. Gregg, 2011)."""

import html

WIDTH, ROW, TEXT_WIDTH = 1200, 17, 7        # px; of a letter
LEAST = 0.001                               # of the whole: what is narrower is not drawn


def tree_of(stacks):
    """stacks: {(outermost, ..., innermost): weight}. Returns {"weight": of all, "calls": {name: the same}}."""
    root = {"weight": 0, "calls": {}}
    for stack, weight in stacks.items():
        node = root
        node["weight"] += weight
        for name in stack:
            node = node["calls"].setdefault(name, {"weight": 0, "calls": {}})
            node["weight"] += weight
    return root


def colour(name):
    """The same one for a name in all graphs; the kernel's are blue."""
    number = sum(ord(c) * (i + 1) for i, c in enumerate(name))
    return f"hsl({(205 if name.endswith('_[k]') else 25) + number % 20},{55 + number % 30}%,{62 + number % 12}%)"


def boxes(node, name, x, depth, whole):
    """Yields (depth, x, width, name, weight), in parts of the whole."""
    width = node["weight"] / whole
    if width < LEAST:
        return
    yield depth, x, width, name, node["weight"]
    for called, child in sorted(node["calls"].items()):
        yield from boxes(child, called, x, depth + 1, whole)
        x += child["weight"] / whole


def draw(stacks, title, unit):
    """The text of an SVG file. unit: of the weights."""
    root = tree_of(stacks)
    drawn = list(boxes(root, title, 0, 0, root["weight"]))
    height = (max(box[0] for box in drawn) + 1) * ROW
    lines = ["<!-- SPDX-License-Identifier: GPL-2.0-or-later -->",
             f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="monospace" '
             'font-size="11">']
    for depth, x, width, name, weight in drawn:
        text = html.escape(name[:max(0, int(width * WIDTH / TEXT_WIDTH) - 1)])
        at_x, at_y = x * WIDTH, height - (depth + 1) * ROW
        lines.append(f'<g><title>{html.escape(name)}: {weight:,.0f} {unit}, {width:.1%}</title>'
                     f'<rect x="{at_x:.1f}" y="{at_y}" width="{width * WIDTH:.1f}" height="{ROW - 1}" '
                     f'fill="{colour(name)}"/><text x="{at_x + 3:.1f}" y="{at_y + 12}">{text}</text></g>')
    return "\n".join([*lines, "</svg>", ""])
