# SPDX-License-Identifier: GPL-2.0-or-later
"""
What tests ask graphs and critical paths: to find nodes in them, to say in a few lines what is there
instead, and the laws that both obey.
"""
import signal

from lib import LIMIT_S, PINCH, parse, pinch, start, wait_attached


def record(*command, status=0, options=()):
    result = pinch("record", "-q", "-o", "t.pinch", *options, "--", *command)
    assert result.status == status, result.text


CHOOSING = {"--thread", "--process", "--span", "--from", "--to", "--merge"}


def graph(*options, trace="t.pinch"):
    """The nodes, each with its children, of which the first is the root; without a choice of all threads."""
    if not CHOOSING & set(options):
        options = (*options, "--all")
    return graph_as_asked(*options, trace=trace)


def graph_as_asked(*options, trace="t.pinch"):
    """The same; without a choice of the thread and the time that pinch chooses."""
    result = pinch("graph", "--min", 0, "--json", "-", *options, trace)
    assert result.status == 0, result.text
    reported = parse(result.out, "graph")
    nodes = reported["nodes"]
    for node in nodes:
        node["children"] = []
    for node in nodes[1:]:
        nodes[node["parent"]]["children"].append(node)
    check_sums(nodes)
    if "--merge" in options or not CHOOSING & set(options) and "--all" not in options:
        check_contexts(nodes[0], [])
    nodes[0]["to_ns"], nodes[0]["lost_ns"] = reported["to_ns"], reported.get("lost_ns")
    nodes[0]["from_ns"] = reported["from_ns"]
    return nodes[0]


def check_sums(nodes):
    assert nodes, "a graph has a root"
    for node in nodes:
        parts = sum(child["ns"] for child in node["children"])
        assert parts == node["ns"] or not parts or node["is_cycle"] or node["is_cut"], \
            f"{node['label']}: {parts} of {node['ns']} ns"


def check_contexts(node, above):
    """No thread is in a wait twice on the way to a node, of those that are called alike."""
    for child in node["children"]:
        context = [(node["label"], child["label"])] if child["kind"] == "wait" else []
        assert not set(context) & set(above), f"{context} is below itself:\n{picture(node)}"
        check_contexts(child, above + context)


def below(node, *way):
    """The nodes that words of labels lead to, one below the other."""
    if not way:
        return [node]
    return [last for child in node["children"] if way[0] in child["label"]
            for last in below(child, *way[1:])]


def anywhere(node, begin):
    """The nodes at any depth whose labels begin so."""
    for child in node["children"]:
        if child["label"].startswith(begin):
            yield child
        yield from anywhere(child, begin)


def heaviest(node, *way):
    found = below(node, *way)
    assert found, f"nothing below {node['label']} is {' > '.join(way)}:\n{picture(node)}"
    return max(found, key=lambda n: n["ns"])


def picture(node, depth=0):
    lines = [f"{node['ns'] / 1e6:10.1f} ms {'  ' * depth}{node['label']}"]
    if depth < 6:
        lines += [picture(child, depth + 1) for child in node["children"][:6]]
    return "\n".join(lines)


def path(*options):
    result = pinch("critical-path", "--json", "-", *options, "t.pinch")
    assert result.status == 0, result.text
    reported = parse(result.out, "critical-path")
    parts_ns = sum(part["end_ns"] - part["begin_ns"] for part in reported["parts"])
    assert parts_ns == sum(row["ns"] for row in reported["sums"]), "the sums are those of the parts"
    for before, after in zip(reported["parts"], reported["parts"][1:]):
        assert before["end_ns"] == after["begin_ns"], (before, after)
    return reported, parts_ns


def part(origin_ns, begin_ns, end_ns):
    """The options for a part of the trace."""
    return "--from", f"{begin_ns - origin_ns}ns", "--to", f"{end_ns - origin_ns}ns"


def start_recording(pids, *options):
    recorder = start(PINCH, "record", "-q", "-o", "t.pinch", *options, "-p", ",".join(map(str, pids)))
    wait_attached(recorder)
    return recorder


def stop_recording(recorder):
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(LIMIT_S) == 0
