#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons of runs of planted programs that differ in a known way."""
import json
import math
import sys

from lib import Skip, disk_directory, main, make_hello_files, parse, pinch, program, read, test


def record(trace, *arguments):
    result = pinch("record", "-q", "-o", trace, "--", program("held_longer"), *arguments)
    assert result.status == 0, result.text


def compare(*arguments, status=0):
    """What the JSON says."""
    result = pinch("compare", "--json", "-", *arguments)
    assert result.status == status, (result.status, result.text)
    reported = parse(result.out, "compare")
    check(reported)
    return reported


def check(comparison):
    """What holds of any comparison."""
    nodes = comparison["nodes"]
    for node in nodes:
        change = node["second"]["mean"] - node["first"]["mean"]
        assert abs(node["change"] - change) <= 1e-6 * (node["first"]["mean"] + node["second"]["mean"]), node
        if node["parent"] is not None:
            for side in ("first", "second"):
                assert node[side]["mean"] <= nodes[node["parent"]][side]["mean"] + 1, node
        assert (node["boldness"] == 0) == (not all(node["in"])), node
    changes = [abs(reason["change"]) for reason in comparison["reasons"]]
    assert changes == sorted(changes, reverse=True), "reasons are ranked"
    for changes in comparison["code"].values():
        check_code(changes["list"] if changes else [])


def check_code(rows):
    """What holds of functions that ran more or less, on whatever runs."""
    for row in rows:
        assert row["self"]["is_significant"] or row["total"]["is_significant"], row
        for side in ("first", "second"):
            assert row["self"][f"{side}_ns"] <= row["total"][f"{side}_ns"] + 1, row
        for of in (row["self"], row["total"]):
            rounded = 2 + 1e-8 * max(of["first_ns"], of["second_ns"])
            assert abs(of["change_ns"] - (of["second_ns"] - of["first_ns"])) <= rounded, row
            assert abs(of["change_error_ns"] - math.hypot(of["first_error_ns"], of["second_error_ns"])) <= rounded, row
            if of["is_significant"]:
                assert of["p"] < 0.05 and abs(of["change_ns"]) > of["change_error_ns"], row
    sizes = [abs(row["self"]["change_ns"]) if row["self"]["is_significant"] else 0 for row in rows]
    assert sizes == sorted(sizes, reverse=True), "functions are ranked"


def words(comparison):
    return [reason["words"] for reason in comparison["reasons"]]


def figure(comparison, name):
    return next(f for f in comparison["figures"] if f["name"] == name)


def is_below(nodes, node, label):
    while node["parent"] is not None:
        node = nodes[node["parent"]]
        if label in node["label"]:
            return True
    return False


@test("a lock that is held longer is named, with who waits for whom and how much more")
def held_longer():
    record("short.pinch", 10)
    record("long.pinch", 150)
    comparison = compare("short.pinch", "long.pinch")
    assert comparison["of"] == "runs" and not comparison["is_per_second"], comparison["sides"]
    # Three clerks wait ten times for 140 ms more, in which keeper sleeps; how long it looks whether they wait,
    # and sleeps between, is up to the machine.
    slept = sum(node["change"] for node in comparison["nodes"] if node["label"].startswith("sleep ")
                and is_below(comparison["nodes"], node, "lock vault_lock"))
    assert slept > 3e9, slept
    reason = comparison["reasons"][0]
    assert "clerk-* threads spend " in reason["words"] and "more in lock vault_lock" in reason["words"], \
        words(comparison)
    assert "open_vault" in reason["words"] and "waiting for keeper threads" in reason["words"], words(comparison)
    assert figure(comparison, "lost.lock")["change"] > 3e9, figure(comparison, "lost.lock")
    text = pinch("compare", "short.pinch", "long.pinch").out.decode()
    verdict = text.split("\n")[0]
    assert verdict.startswith("long.pinch took ") and "lock vault_lock" in verdict, text
    back = compare("long.pinch", "short.pinch")
    assert " less in lock vault_lock" in back["reasons"][0]["words"], words(back)
    assert back["reasons"][0]["change"] == -reason["change"], (back["reasons"][0], reason)


@test("a trace against itself has no difference")
def itself():
    record("short.pinch", 10)
    comparison = compare("short.pinch", "short.pinch", "--fail-if", "duration > 0 %", "--fail-if", "lost.lock > 0 ns")
    assert not comparison["reasons"] and not comparison["unsure"], words(comparison)
    assert all(f["change"] == 0 for f in comparison["figures"]), comparison["figures"]
    assert all(n["change"] == 0 and n["boldness"] == 1 for n in comparison["nodes"])
    assert not any(changes and (changes["list"] or changes["unsure"]) for changes in comparison["code"].values())
    assert pinch("compare", "short.pinch", "short.pinch").out.startswith(b"No difference stands out")


@test("--fail-if: status 3 when one of them holds, before the files or behind them")
def fail_if():
    record("short.pinch", 10)
    record("long.pinch", 150)
    for conditions, status in (
            (["lost.lock > 10 %"], 3), (["lost.lock > 1 s"], 3), (["lost.lock > 1 min"], 2),
            (["lost.lock < 10 %"], 0), (["lost.lock > 100 s"], 0), (["wait.lock.count > 1000"], 0),
            (['edge "vault_lock" >= 50 %'], 3), (['edge "vault_lock" < 0 ms'], 0),
            (["lost.pipe > 1 ms", "duration > 100 ms"], 3), (["lost.pipe > 1 ms", "duration<0%"], 0)):
        options = [word for condition in conditions for word in ("--fail-if", condition)]
        for arguments in ([*options, "short.pinch", "long.pinch"], ["short.pinch", "long.pinch", *options],
                          ["short.pinch", *options, "long.pinch"]):
            result = pinch("compare", *arguments)
            assert result.status == status, (arguments, result.status, result.text, result.out)
            assert bool(result.text) == (status == 2), result.text
    comparison = compare("short.pinch", "long.pinch", "--fail-if", "lost.lock > 10 %", status=3)
    assert comparison["conditions"][0]["holds"] and comparison["conditions"][0]["change_share"] > 1
    result = pinch("compare", "short.pinch", "long.pinch", "--fail-if", 'edge "no_such_lock" > 1 ms')
    assert result.status == 0 and "no_such_lock" in result.text and result.text.count("\n") == 1, result.text


def edges_to(dot, words_of_label):
    """The attributes of edges to nodes with the words in their labels."""
    names = [line.split()[0] for line in dot.splitlines() if " [shape=" in line and words_of_label in line]
    return [line for line in dot.splitlines() if "->" in line and line.split()[2] in names]


@test("edges that one side does not have are dashed or dotted, others solid, and of five widths")
def dashes():
    record("plain.pinch", 10)
    record("rests.pinch", 10, 30)
    comparison = compare("plain.pinch", "rests.pinch", "--dot", "new.dot")
    assert any("take_a_rest" in w and "only in this run" in w for w in words(comparison)), words(comparison)
    compare("rests.pinch", "plain.pinch", "--dot", "gone.dot")
    for name, style in (("new.dot", "dotted"), ("gone.dot", "dashed")):
        dot = read(name)
        assert dot.startswith("digraph") and dot.rstrip().endswith("}"), dot
        rests = [e for e in edges_to(dot, "take_a_rest")]
        assert rests and all(f"style={style}" in e for e in rests), dot
        locks = edges_to(dot, "vault_lock")
        assert any("style=solid" in e for e in locks), dot
    result = pinch("compare", "plain.pinch", "rests.pinch", "--svg", "new.svg", "-o", "text")
    if "libgvc6" in result.text:
        raise Skip("Graphviz is not here")
    assert result.status == 0, result.text
    assert "<svg" in read("new.svg") and "take_a_rest" in read("new.svg")
    assert "take_a_rest" in read("text")


@test("parts of runs are compared by the second")
def parts():
    record("long.pinch", 60)
    comparison = compare("long.pinch", "long.pinch", "--to", "300ms")
    assert comparison["is_per_second"] and not comparison["reasons"]
    whole = figure(compare("long.pinch", "long.pinch"), "cpu.running")["first"]["mean"]
    clerks = [figure(compare("--thread", thread, "long.pinch", "long.pinch"), "cpu.running")["first"]["mean"]
              for thread in ("clerk-0", "clerk-1", "clerk-2")]
    assert all(clerks) and sum(clerks) < whole, (clerks, whole)


def record_server(trace, *options):
    result = pinch("record", "-q", "-o", trace, *options, "--", program("span_server"))
    assert result.status == 0, result.text


REQUEST = ("--span", "request=recvfrom(fd=socket)..sendto")


@test("slow requests of a server are a group of their own, and the lock that they wait for is named")
def requests():
    record_server("t.pinch", *REQUEST)
    comparison = compare("t.pinch", "--groups", 2)
    assert comparison["of"] == "executions" and comparison["sides"] == ["fast executions", "slow executions"], comparison["sides"]
    fast, slow = (group["duration_ns"] for group in comparison["groups"])
    # Twelve of 120 wait for 20 ms at least; what the machine keeps from its CPU may be as slow.
    assert slow["n"] + len(comparison["outliers"]) >= 12 and fast["n"] + slow["n"] + len(comparison["outliers"]) == 120, \
        comparison["groups"]
    assert slow["mean"] > fast["mean"] + 5e6, comparison["groups"]
    reason = next((r for r in comparison["reasons"] if "lock shared_lock" in r["words"]), None)
    assert reason and reason["change"] > 5e6 and reason["p"] < 0.05, words(comparison)
    assert "Server::handle" in reason["words"] and "waiting for client threads" in reason["words"], words(comparison)
    assert compare("t.pinch", "--groups", 2) == comparison, "the same each time"
    compare("t.pinch", "--groups", 2, "--fail-if", "lost.lock > 5 ms", status=3)


@test("groups are made by chosen figures, chosen ones are compared, and one alone is drawn")
def chosen():
    record_server("t.pinch", *REQUEST)
    comparison = compare("t.pinch", "--groups", 3, "--feature", "duration")
    means = [group["duration_ns"]["mean"] for group in comparison["groups"]]
    sizes = [group["duration_ns"]["n"] for group in comparison["groups"]]
    assert len(means) == 3 and means == sorted(means) and sum(sizes) + len(comparison["outliers"]) == 120, means
    executions = parse(pinch("spans", "--json", "-", "t.pinch").out, "spans")["executions"]
    longest_ns = max(execution["duration_ns"] for execution in executions)
    assert all(outlier["duration_ns"] < longest_ns for outlier in comparison["outliers"]), comparison["outliers"]
    options = ("--groups", 3, "--feature", "duration", "t.pinch")
    other = compare(*options, "--between", "2,3")
    assert other["sides"] == ["executions of group 2", "executions of group 3"], other["sides"]
    assert [figure(other, "duration")[side]["mean"] for side in ("first", "second")] == means[1:], other["figures"][0]
    assert compare(*options, "--between", "3,1")["figures"][0]["change"] < 0
    text = pinch("compare", *options, "--between", "2,3").out.decode()
    assert "(first)" in text and "(second)" in text and "(slow)" not in text, text
    labels = set()
    for group in (1, 2, 3):
        result = pinch("compare", *options, "--group", group, "--json", "-", "--min", 0)
        assert result.status == 0, result.text
        nodes = parse(result.out, "graph")["nodes"]
        assert abs(nodes[0]["ns"] - means[group - 1] * sizes[group - 1]) <= 1 + 1e-9 * nodes[0]["ns"], (nodes[0], means)
        labels |= {node["label"] for node in nodes if group > 1}
    result = pinch("compare", *options, "--group", 3, "--dot", "group.dot", "-o", "group.txt")
    assert result.status == 0 and read("group.dot").startswith("digraph"), result.text
    assert read("group.txt").startswith(f"Group 3 of 3: {sizes[2]} execution"), read("group.txt")
    assert any("lock shared_lock" in label for label in labels), labels


@test("what calls asked for, who was woken, and with --system what disks did, are figures too")
def counted():
    make_hello_files()
    for trace, options in (("plain.pinch", ()), ("all.pinch", ("--system",))):
        result = pinch("record", "-q", "-o", trace, *options, "--", program("main_read"), disk_directory())
        assert result.status == 0, result.text
    comparison = compare("plain.pinch", "all.pinch")
    plain, both = ({f["name"]: f[side]["mean"] for f in comparison["figures"]} for side in ("first", "second"))
    for figures in plain, both:
        assert figures["io.count"] > 0 and figures["io.bytes"] > 4000 * figures["io.count"], figures
        assert figures["wakes"] > 0 and figures["wait.file.count"] >= figures["io.count"], figures
    assert not plain["block.count"] and not plain["interrupts"], plain
    # A thread that runs the queue may issue another one's flush, which has no bytes.
    assert both["block.count"] > 0 and both["block.bytes"] > 4000 * both["block.count"], both
    assert both["interrupts"] > 0, both


@test("executions of two traces: of the same one no difference, of two spans one must be chosen")
def executions():
    record_server("t.pinch", *REQUEST, "--span", "inner=span_server:Server::descend")
    result = pinch("compare", "t.pinch")
    assert result.status == 1 and "--span" in result.text and result.text.count("\n") == 1, result.text
    comparison = compare("--span", "request", "t.pinch", "t.pinch")
    assert comparison["of"] == "executions" and comparison["sides"] == ["executions of t.pinch"] * 2, comparison["sides"]
    assert figure(comparison, "duration")["first"]["n"] == 120 and not comparison["reasons"], words(comparison)
    # Three within each other: the outermost counts.
    comparison = compare("--span", "inner", "t.pinch", "t.pinch")
    assert figure(comparison, "duration")["first"]["n"] == 120, figure(comparison, "duration")


def record_code(trace, *arguments):
    # By the tick a run of half a second has too few samples to be sure of a difference each time.
    result = pinch("record", "-q", "--sample-hz", 1000, "-o", trace, "--", program(arguments[0]), *arguments[1:])
    assert result.status == 0, result.text


def code_row(found, kind, name):
    return next((row for row in found["code"][kind]["list"] if row["name"] == name), None)


def is_about(value, expected, error):
    return abs(value - expected) <= 4 * error


@test("the function behind more running is named, with how much of it that is and how sure that is")
def more_running():
    record_code("half.pinch", "changed_code", "compressor", 50)
    record_code("whole.pinch", "changed_code", "compressor", 100)
    found = compare("half.pinch", "whole.pinch")
    running = figure(found, "cpu.running")["change"]
    for kind in ("cpu", "cmetric"):
        hot = code_row(found, kind, "hot")
        assert hot and hot["total"]["is_significant"] and hot["total"]["change_ns"] > 0, found["code"][kind]
        assert hot["is_own"] and all(hot["samples"]), hot
    total = code_row(found, "cpu", "hot")["total"]
    # How fast the CPU is may change between runs, by less than this.
    assert 0.3 < total["first_ns"] / total["second_ns"] < 0.75, total
    assert code_row(found, "cpu", "pack_blocks")["total"]["change_ns"] <= 1.05 * running, found["code"]["cpu"]
    assert any(row["name"].startswith("hot < ") for row in found["code"]["paths"]["list"]), found["code"]["paths"]
    reason = next(r for r in found["reasons"] if " more running" in r["words"])
    assert " more of it in hot" in reason["words"] and " ± " in reason["words"], reason
    back = compare("whole.pinch", "half.pinch")
    assert " less of it in hot" in " ".join(words(back)), words(back)
    assert code_row(back, "cpu", "hot")["total"]["change_ns"] == -total["change_ns"], back["code"]["cpu"]
    text = pinch("compare", "half.pinch", "whole.pinch").out.decode()
    for line in ("Functions by CPU time", "Functions by CMetric", "Call paths by CMetric", "Groups of threads by CMetric"):
        assert line in text, text
    assert any(line.endswith("  hot") and " ± " in line for line in text.splitlines()), text
    part = compare("half.pinch", "whole.pinch", "--to", "400ms")
    assert part["is_per_second"] and part["code"]["cmetric"] is None and part["configurations"] is None, part["code"]


@test("what slow executions run more is named, before what all of them run")
def slow_code():
    result = pinch("record", "-q", "-o", "t.pinch", "--span", "request=span_work:serve_request", "--", program("span_work"))
    assert result.status == 0, result.text
    # Who is kept from a CPU is slow, too, and interrupts make groups of their own: what differs is how much is run.
    found = compare("t.pinch", "--groups", 2, "--feature", "cpu.running")
    sizes = [group["duration_ns"]["n"] for group in found["groups"]]
    assert abs(sizes[0] - 320) <= 32 and abs(sizes[1] - 80) <= 16, found["groups"]
    rebuild = code_row(found, "cpu", "rebuild_index")
    assert rebuild and rebuild["total"]["is_significant"] and rebuild["total"]["change_ns"] > 0, found["code"]
    answer = code_row(found, "cpu", "answer")
    assert not answer or abs(answer["total"]["change_ns"]) < rebuild["total"]["change_ns"] / 2, found["code"]
    # All of the running time is in it; the ends of an execution are not to the sample's nanosecond.
    serve, running = code_row(found, "cpu", "serve_request"), figure(found, "cpu.running")
    for side in ("first", "second") if serve else ():
        of = serve["total"]
        assert is_about(of[f"{side}_ns"], running[side]["mean"], of[f"{side}_error_ns"] + 1e4), (serve, running)


STAFF = (("one.pinch", 1, 1), ("packers.pinch", 2, 4), ("refiners.pinch", 4, 2))


@test("groups of threads stand side by side for as many runs as are given, with CMetric and threads as their reports say")
def configurations():
    for trace, *staff in STAFF:
        record_code(trace, "staffed_stages", *staff)
    names = [trace for trace, *_ in STAFF]
    result = pinch("compare", "--json", "-", *names)
    assert result.status == 0, result.text
    found = json.loads(result.out)
    assert found["of"] == "configurations" and [trace["name"] for trace in found["traces"]] == names, found["traces"]
    groups = {group["name"]: group["parts"] for group in found["groups"]}
    assert [part["threads"] for part in groups["refine-*"]] == [1, 2, 4], groups
    assert [part["threads"] for part in groups["pack-*"]] == [1, 4, 2], groups
    assert [part["threads"] for part in groups["cutter"]] == [1, 1, 1], groups
    for i, name in enumerate(names):
        report = json.loads(pinch("report", "-q", "--json", "-", name).out)
        trace = found["traces"][i]
        assert trace["wall_ns"] == report["target"]["wall_ns"] and trace["threads"] == report["totals"]["threads"], trace
        assert trace["cmetric_ns"] == report["totals"]["cmetric_ns"], trace
        # The rows' own rounding: a nanosecond each.
        whole = sum(parts[i]["cmetric_ns"] for parts in groups.values())
        assert abs(whole - trace["cmetric_ns"]) <= trace["threads"], (whole, trace)
        for parts in groups.values():
            assert parts[i]["most_ns"] <= parts[i]["cmetric_ns"] <= parts[i]["most_ns"] * max(1, parts[i]["threads"]) + 1
    text = pinch("compare", *names).out.decode()
    assert text.startswith("3 runs: shortest ") and "3: refiners.pinch" in text, text
    assert any(line.split()[:1] == ["pack-*"] and line.split()[-1] == "2" for line in text.splitlines()), text
    two = compare(*names[:2])["configurations"]
    assert [group["name"] for group in two["groups"]] and two["traces"] == found["traces"][:2], two
    assert pinch("compare", *names, "--html", "three.html").status == 0
    assert "data-part=\"configurations\"" in read("three.html"), "the page has no groups"


@test("--folded has the CMetric of call paths in both runs, which add up to what the reports have")
def folded():
    record_code("half.pinch", "changed_code", "compressor", 50)
    record_code("whole.pinch", "changed_code", "compressor", 100)
    result = pinch("compare", "--folded", "-", "half.pinch", "whole.pinch")
    assert result.status == 0, result.text
    lines = [line.rsplit(" ", 2) for line in result.out.decode().splitlines()]
    assert len({stack for stack, _, _ in lines}) == len(lines), "a path has two lines"
    for side, trace in ((1, "half.pinch"), (2, "whole.pinch")):
        report = json.loads(pinch("report", "-q", "--json", "-", "--top", 1000, trace).out)
        whole = sum(stack["cmetric_ns"] for stack in report["code"]["stacks"])
        assert abs(sum(int(line[side]) for line in lines) * 1000 - whole) <= 500 * len(lines), trace
    hot = [(int(first), int(second)) for stack, first, second in lines if stack.endswith(";hot")]
    assert sum(first for first, _ in hot) < sum(second for _, second in hot), hot


@test("what is no trace, has no executions, or is no condition: one message, exit status 1 or 2")
def bad():
    record("t.pinch", 1)
    with open("text", "w", encoding="utf-8") as file:
        file.write("no trace\n")
    for arguments, status, about in (
            (("t.pinch",), 1, "--span"), (("t.pinch", "text"), 1, "text is not a pinch trace"),
            (("nothing", "t.pinch"), 1, "nothing"), ((), 2, "no trace given"),
            (("t.pinch",) * 17, 2, "at most 16"), (("t.pinch",) * 3 + ("--fail-if", "duration > 1 s"), 2, "leave out"),
            (("t.pinch",) * 3 + ("--from", "1ms"), 2, "leave out"), (("t.pinch", "t.pinch", "text"), 1, "text is not a"),
            (("t.pinch", "t.pinch", "--folded", "f", "--from", "1ms"), 1, "whole runs"), (("--groups", "7", "t.pinch"), 2, "--groups"),
            (("--groups", "1", "t.pinch"), 2, "--groups"), (("--feature", "lost.lok", "t.pinch"), 2, "no figure 'lost.lok'"),
            (("--cycle", "nap", "t.pinch"), 2, "no cause 'nap'"), (("--cycle", "child", "t.pinch"), 1, "waits twice for child"),
            (("--cycle", "sleep", "--span", "s", "t.pinch"), 2, "one of them"),
            (("--between", "1", "t.pinch"), 2, "--between"), (("--between", "2,2", "t.pinch"), 2, "--between"),
            (("--between", "0,1", "t.pinch"), 2, "--between"), (("--group", "7", "t.pinch"), 2, "--group"),
            (("--group", "1", "t.pinch", "t.pinch"), 2, "of one trace"), (("--between", "1,2", "--group", "1", "t.pinch"), 2, "leave out"), (("--min", "x", "t.pinch"), 2, "--min"),
            (("--fail-if", "lost.lok > 1 %", "t.pinch", "t.pinch"), 2, "lost.lock"),
            (("--fail-if", "lost.lock", "t.pinch", "t.pinch"), 2, "compares with >"),
            (("--thread", "nobody", "t.pinch", "t.pinch"), 1, "nobody")):
        result = pinch("compare", *arguments)
        assert result.status == status and about in result.text and result.text.count("\n") == 1, \
            (arguments, result.status, result.text)


if __name__ == "__main__":
    sys.exit(main(jobs=2))
