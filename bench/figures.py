# SPDX-License-Identifier: GPL-2.0-or-later
"""From measurements to the rows of the table, with their goals."""

from statistics import median, quantiles

MB = 1 << 20

GOAL_LOST = 0
GOAL_BESIDE_PERF = 0.5          # of the time that `perf sched record` adds
PERF_COSTS = 1.01               # so much at least in three rounds of four, or there is nothing to compare with
GOAL_BPF_EVENT_NS = 400
GOAL_COLLECTOR_EVENT_NS = 250
JUDGED_EVENTS = 10000           # a second; with fewer, what they cost is hidden by what time alone costs
GOAL_PEAK_BYTES = 64 * MB
GOAL_READY_S = 0.3
GOAL_AFTER_S = 0.3              # symbols cached
GOAL_AFTER_FIRST_S = 2.0        # symbols not cached
GOAL_SWITCH_NS = 130            # without a stack
GOAL_FRAME_NS = 80
GOAL_STACK_NS = 2000            # the median stack of MariaDB
GOAL_SYMBOLS_FIRST_S = 5.0      # 5000 places
GOAL_SYMBOLS_S = 1.0
GOAL_SYMBOLS_BYTES = 300 * MB
GOAL_DWARF = 10                 # times what pinch takes

MET, MISSED = "met", "MISSED"


class Row:
    """is_close: more rounds might change the verdict."""

    def __init__(self, figure, value, spread="", goal="", verdict="", rounds="", is_close=False):
        self.figure, self.value, self.spread = figure, value, spread
        self.goal, self.verdict, self.rounds, self.is_close = goal, verdict, rounds, is_close


def verdict(is_met):
    return MET if is_met else MISSED


def spread_of(values):
    """The middle half of the values; all of them when there are few."""
    if len(values) < 5:
        return min(values), max(values)
    quarters = quantiles(values, n=4, method="inclusive")
    return quarters[0], quarters[2]


def spread_text(values, form):
    if len(values) < 2:
        return ""
    low, high = spread_of(values)
    return f"{form(low)}..{form(high)}"


def is_close(values, limit):
    """Whether the values lie further apart than their median is from the limit."""
    low, high = spread_of(values)
    return high - low > abs(median(values) - limit)


def seconds(s):
    return f"{s:.3f} s"


def ratio(x):
    return f"x {x:.3f}"


def rate(per_s):
    return f"{per_s:,.0f} /s"


def megabytes(size_bytes):
    return f"{size_bytes / MB:.1f} MB"


def nanoseconds(ns):
    return f"{ns:.0f} ns"


def row_of(figure, values, form, goal="", is_met=None, is_close=False):
    return Row(figure, form(median(values)), spread_text(values, form), goal,
               "" if is_met is None else verdict(is_met(median(values))), len(values), is_close)


def at_most(figure, values, form, limit):
    return row_of(figure, values, form, f"<= {form(limit)}", lambda value: value <= limit, is_close(values, limit))


def at_least(figure, values, form, limit):
    return row_of(figure, values, form, f">= {form(limit)}", lambda value: value >= limit, is_close(values, limit))


def column(runs, path):
    """One figure of every run; path is like report.cost.events."""
    values = []
    for run in runs:
        value = run
        for key in path.split("."):
            value = value[key]
        values.append(value)
    return values


def wall_ratios(rounds, name, base="untraced"):
    return [one[name]["wall_s"] / one[base]["wall_s"] for one in rounds]


def beside_perf(rounds):
    """What pinch adds in each round, as a share of what perf adds in the median one."""
    figure, perf = "overhead, pinch / perf", wall_ratios(rounds, "perf")
    if spread_of(perf)[0] < PERF_COSTS:
        return Row(figure, "perf < 1 %", rounds=len(rounds))
    shares = [(wall - 1) / (median(perf) - 1) for wall in wall_ratios(rounds, "pinch")]
    return at_most(figure, shares, "{:.0%}".format, GOAL_BESIDE_PERF)


def beside_offcputime(rounds, reason):
    figure = "wall, offcputime"
    return row_of(figure, wall_ratios(rounds, "offcputime"), ratio) if not reason else \
        Row(figure, "", "", f"cannot run here: {reason}")


KLOCK_PROGRAMS = ("klock_begin", "klock_end", "nested_begin", "nested_end")


def klocks_lost(report):
    """What none of KLOCK_PROGRAMS has recorded: some record what others miss."""
    return sum(int(note.split()[0]) for note in report["notes"] if "waits for kernel locks were not recorded" in note)


def lost(run):
    losses = run["report"]["losses"]
    return (sum(losses[key] for key in
                ("records", "malformed", "late", "mappings", "threads_untracked")) +
            sum(program["missed"] for name, program in run.get("programs", {}).items() if name not in KLOCK_PROGRAMS) +
            klocks_lost(run["report"]))


def kept_share(run):
    """Of the critical slices, those whose stack was taken."""
    critical = run["report"]["totals"]["critical_slices"]
    return 1 - run["report"]["losses"]["stacks_not_kept"] / critical if critical else 1


def program_rows(runs):
    """What each BPF program that ran costs; the heaviest first."""
    costs = {}
    for run in runs:
        for name, program in run.get("programs", {}).items():
            if program["runs"]:
                costs.setdefault(name, []).append(
                    (program["run_ns"] / program["runs"],
                     program["runs"] / run["wall_s"], program["run_ns"]))
    for name, cost in sorted(costs.items(), key=lambda item: -sum(c[2] for c in item[1])):
        each = [c[0] for c in cost]
        yield Row(f"BPF {name}", nanoseconds(median(each)), spread_text(each, nanoseconds),
                  f"(at {rate(median(c[1] for c in cost))})", rounds=len(each))


def median_stack_rows(workload, stacks):
    if not all(one["taken"] for one in stacks):
        return
    median_ns = [one["median_ns"] for one in stacks]
    if workload.name == "mariadb":
        yield at_most("the median stack", median_ns, nanoseconds, GOAL_STACK_NS)
    else:
        yield row_of("the median stack", median_ns, nanoseconds)
    yield row_of("  frames, mean", [one["frames"] / one["taken"] for one in stacks],
                 "{:.1f}".format)


def event_row(figure, runs, cost, limit):
    costs = [run["report"]["cost"] for run in runs]
    each = [one[cost] / one["events"] for one in costs]
    is_judged = median(one["events"] / run["wall_s"] for one, run in zip(costs, runs)) >= JUDGED_EVENTS
    return at_most(figure, each, nanoseconds, limit) if is_judged else row_of(figure, each, nanoseconds)


def workload_rows(workload, warm, rounds, no_offcputime):
    """
    warm: a first run under pinch, with an empty cache of symbols; rounds: name -> result; no_offcputime: why it
    was not measured.
    """
    runs = [one["pinch"] for one in rounds]
    every = [warm] + runs
    yield row_of("wall, untraced", [one["untraced"]["wall_s"] for one in rounds], seconds)
    yield at_most("wall, pinch", wall_ratios(rounds, "pinch"), ratio, workload.ratio_max)
    yield row_of("wall, perf sched record", wall_ratios(rounds, "perf"), ratio)
    yield beside_offcputime(rounds, no_offcputime)
    yield beside_perf(rounds)
    yield row_of("context switches", [run["report"]["totals"]["switches"] / run["wall_s"]
                                      for run in runs], rate)
    yield row_of("events", [run["report"]["cost"]["events"] / run["wall_s"] for run in runs], rate)
    yield Row("events lost", str(max(map(lost, every))), "", str(GOAL_LOST),
              verdict(max(map(lost, every)) == GOAL_LOST), len(every))
    yield row_of("stacks kept", [kept_share(run) for run in runs], "{:.1%}".format)
    yield from median_stack_rows(workload, [run["report"]["stacks"] for run in runs])
    yield from program_rows(every)
    yield row_of("BPF, all programs", [run["report"]["cost"]["bpf_ns"] / 1e9 / run["wall_s"]
                                       for run in runs], "{:.1%} CPU".format)
    yield row_of("collector", [run["report"]["cost"]["collector_cpu_ns"] / 1e9 / run["wall_s"]
                               for run in runs], "{:.1%} CPU".format)
    yield event_row("BPF, an event", runs, "bpf_ns", GOAL_BPF_EVENT_NS)
    yield event_row("collector, an event", runs, "collector_cpu_ns", GOAL_COLLECTOR_EVENT_NS)
    peaks = [run["rss_peak_bytes"] for run in every if run["rss_peak_bytes"]]
    yield Row("peak memory", megabytes(max(peaks)), spread_text(peaks, megabytes),
              f"< {megabytes(GOAL_PEAK_BYTES)}", verdict(max(peaks) < GOAL_PEAK_BYTES), len(peaks))
    yield row_of("BPF maps", [run["maps_bytes"] for run in every if "maps_bytes" in run],
                 megabytes)
    ready = ([run["ready_s"] for run in every] if "ready_s" in warm else
             [run["report"]["cost"]["startup_ns"] / 1e9 for run in every])
    yield at_most("ready to trace", ready, seconds, GOAL_READY_S)
    yield at_most("report, first run", [warm["after_s"]], seconds, GOAL_AFTER_FIRST_S)
    yield at_most("report, later runs", column(runs, "after_s"), seconds, GOAL_AFTER_S)


def per_run(run):
    program = run["programs"]["sched_switch"]
    return program["run_ns"] / program["runs"]


def stacks_per_run(run):
    """Of the storm's switches; nearly every run of sched_switch is one of them."""
    totals, losses = run["report"]["totals"], run["report"]["losses"]
    return (totals["critical_slices"] - losses["stacks_not_kept"]) / totals["slices"]


def per_stack(one):
    """What a switch with a stack costs; the others cost what they do without."""
    share = stacks_per_run(one["full"])
    return (per_run(one["full"]) - (1 - share) * per_run(one["bare"])) / share


def stack_rows(rounds):
    """rounds: by frames, those of yield_storm with as many; each tracer takes its own time."""
    for frames, some in rounds.items():
        ours = [one["pinch"]["report"]["stacks"] for one in some]
        theirs = [one["get_stack"]["stacks"] for one in some]
        yield row_of(f"stack of {frames} frames", [each["ns"] / each["taken"] for each in ours],
                     nanoseconds)
        yield at_most("  a frame", [each["ns"] / each["frames"] for each in ours], nanoseconds,
                      GOAL_FRAME_NS)
        yield row_of("  by bpf_get_stack, by frame pointers",
                     [each["ns"] / each["taken"] for each in theirs], nanoseconds)


def dwarf_rows(rounds):
    """rounds of a mutex storm: untraced, under pinch, under perf record --call-graph dwarf."""
    def extra_s(name):
        return [one[name]["busy_s"] - one["untraced"]["busy_s"] for one in rounds]

    data = [(one["pinch"]["report"]["cost"]["event_bytes"], one["dwarf"]["data_bytes"])
            for one in rounds]
    yield row_of("data, pinch", [ours for ours, _ in data], megabytes)
    yield row_of("data, perf record --call-graph dwarf", [theirs for _, theirs in data], megabytes)
    yield at_least("  times as much", [theirs / ours for ours, theirs in data], ratio, GOAL_DWARF)
    yield row_of("CPU time, pinch, all of it", extra_s("pinch"), seconds)
    yield row_of("CPU time, perf record and script", extra_s("dwarf"), seconds)
    yield at_least("  times as much", [theirs / ours for ours, theirs in
                                       zip(extra_s("pinch"), extra_s("dwarf"))], ratio, GOAL_DWARF)


def spin_rows(by_command):
    """By command, rounds of it: untraced, under pinch, under pinch with --spin-inactive."""
    for command, rounds in by_command.items():
        for name, title in (("plain", "without"), ("spin", "with --spin-inactive")):
            runs = [one[name] for one in rounds]
            yield row_of(f"{command}, {title}", wall_ratios(rounds, name), ratio)
            yield row_of("  collector", [run["report"]["cost"]["collector_cpu_ns"] / 1e9 /
                                         run["wall_s"] for run in runs], "{:.1%} CPU".format)
            yield row_of("  report", column(runs, "after_s"), seconds)
            yield row_of("  samples", column(runs, "report.balance.samples.running"),
                         "{:,.0f}".format)
            yield row_of("  of them spinning", column(runs, "report.balance.samples.spinning"),
                         "{:,.0f}".format)


def table_rows(rounds):
    for name in rounds[0]:
        each = [one[name] for one in rounds]
        yield row_of(f"{name}, {each[0]['tables']} files", [one["s"] for one in each], seconds)
        yield row_of("  rows", [one["rows"] for one in each], "{:,.0f}".format)
        yield row_of("  memory in the kernel", [one["bytes"] for one in each], megabytes)


def symbol_rows(rounds):
    yield row_of("places", [one["places"] for one in rounds], "{:,.0f}".format)
    yield row_of("frames, with inlined ones", [one["first"]["frames"] for one in rounds],
                 "{:,.0f}".format)
    yield at_most("first time", [one["first"]["s"] for one in rounds], seconds,
                  GOAL_SYMBOLS_FIRST_S)
    yield at_most("from the cache", [one["again"]["s"] for one in rounds], seconds, GOAL_SYMBOLS_S)
    yield at_most("memory of the worker", [one["rss_bytes"] for one in rounds], megabytes,
                  GOAL_SYMBOLS_BYTES)


def switch_rows(rounds, cpu_count):
    """rounds of yield_storm: untraced, without stacks, with stacks, each with its `runs`; get_stack."""
    bare, full = [one["bare"] for one in rounds], [one["full"] for one in rounds]

    def wall_per_switch(one, name):
        extra_s = one[name]["wall_s"] - one["untraced"]["wall_s"]
        return extra_s * cpu_count * 1e9 / one[name]["report"]["totals"]["switches"]

    yield row_of("context switches", [run["report"]["totals"]["switches"] / run["wall_s"]
                                      for run in bare], rate)
    empty = [one["get_stack"]["stacks"]["nothing"] for one in rounds]
    empty_ns = [one["ns"] / one["runs"] for one in empty]
    yield row_of("switch without a stack, as counted", [per_run(run) for run in bare], nanoseconds)
    yield row_of("an empty program, as counted", empty_ns, nanoseconds)
    yield at_most("switch without a stack", [per_run(run) - ns for run, ns in zip(bare, empty_ns)],
                  nanoseconds, GOAL_SWITCH_NS)
    yield row_of("stacks taken then", [stacks_per_run(run) for run in bare], "{:.2%}".format)
    yield row_of("the same by CPU time", [wall_per_switch(one, "bare") for one in rounds],
                 nanoseconds)
    yield row_of("switch with a stack", [per_stack(one) for one in rounds], nanoseconds)
    yield row_of("stacks taken then", [stacks_per_run(run) for run in full], "{:.2%}".format)
    yield row_of("mean of both by CPU time", [wall_per_switch(one, "full") for one in rounds],
                 nanoseconds)
    worst = max(map(lost, bare + full))
    yield Row("events lost", str(worst), "", str(GOAL_LOST), verdict(worst == GOAL_LOST))


def verdict_text(row):
    return row.verdict + ", close" * row.is_close


def table_text(sections):
    """sections: (name, rows)."""
    cells = [("", "median", "spread", "rounds", "goal", "")]
    for name, rows in sections:
        cells.append((name,))
        cells += [("  " + row.figure, row.value, row.spread, str(row.rounds), row.goal, verdict_text(row))
                  for row in rows]
    widths = [max(len(line[i]) for line in cells if len(line) > 1) for i in range(5)]
    text = []
    for line in cells:
        if len(line) == 1:
            text.append(f"\n{line[0]}")
            continue
        figure, value, spread, rounds, goal, result = line
        text.append(f"{figure:<{widths[0]}}  {value:>{widths[1]}}  {spread:>{widths[2]}}  {rounds:>{widths[3]}}  "
                    f"{goal:<{widths[4]}}  {result}".rstrip())
    return "\n".join(text)


def summary_text(sections):
    judged = [(name, row) for name, rows in sections for row in rows if row.verdict]
    counts = {v: sum(row.verdict == v for _, row in judged) for v in (MET, MISSED)}
    lines = [f"goals: {counts[MET]} met, {counts[MISSED]} missed"]
    lines += [(f"  {verdict_text(row)}: {name}: {row.figure} {row.value}" +
               (f", goal {row.goal}" if row.goal else ""))
              for name, row in judged if row.verdict != MET or row.is_close]
    return "\n".join(lines)
