// SPDX-License-Identifier: GPL-2.0-or-later
// Data for the page that no run gives: large, hostile, or of commands to come. The same each time.
import { golden } from "./browser.mjs";

export const HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\u202e\"'";

/** A generator of its own: what is drawn must not differ from run to run. */
export function numbers(seed = 1) {
	let state = seed >>> 0;

	return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

export function timelines(threads, parts = 240) {
	const next = numbers(7), states = ["running", "runnable", "lock", "condition", "file"];
	const all = Object.fromEntries(states.map(state => [state, new Array(parts).fill(0)]));
	const rows = Array.from({ length: threads }, (_, tid) => {
		const of = Object.fromEntries(states.map(state => [state, new Array(parts).fill(0)]));
		for (let i = 0, state = "running"; i < parts; i++) {
			state = next() < 0.15 ? states[Math.floor(next() * states.length)] : state;
			of[state][i] = 1000;
			all[state][i] += 1000;
		}
		return { name: `worker-${tid}`, tid: 100 + tid, pid: 100, threads: 1, states: of };
	});

	return { begin_ns: 1e12, part_ns: 1e7, whole_ns: parts * 1e7, parts, threads: rows.slice(0, 256), left_out: Math.max(0, threads - 256), all };
}

export function graph(count) {
	const next = numbers(3), kinds = ["thread", "wait", "running", "cpu", "disk"];
	const nodes = [{ parent: null, kind: "threads", label: "all threads", ns: 4e9, count: 1, max_ns: 4e9, is_cycle: false, is_cut: false }];

	for (let i = 1; i < count; i++) {
		const parent = Math.floor(next() * Math.min(i, 40)), kind = kinds[Math.floor(next() * kinds.length)];
		nodes.push({ parent, kind, label: `${kind} ${i}`, ns: Math.round(nodes[parent].ns * next() * 0.7), count: 1 + i, max_ns: 1e6,
			is_cycle: false, is_cut: false });
	}
	return { from_ns: 0, to_ns: 4e9, nodes };
}

export function criticalPath(count) {
	const next = numbers(5), kinds = ["running", "cpu", "disk", "timer"];
	const parts = [];

	for (let i = 0, at = 1e12; i < count; i++) {
		const kind = kinds[Math.floor(next() * kinds.length)], end_ns = at + Math.round(next() * 2e6);
		parts.push({ begin_ns: at, end_ns, depth: Math.floor(next() * 3), thread: 1, who: "main (tid 1)", kind, what: kind, end: null });
		at = end_ns;
	}
	const sums = kinds.map(kind => ({ ns: 1e8, count: 100, max_ns: 2e6, thread: 1, who: "main (tid 1)", kind, what: kind, end: null }));
	return { thread: 1, sums, parts, left_out: 0 };
}

export function wholeReport() {
	const report = golden("pipeline.json");

	return { report: { ...report, verdict: { ...report.verdict, lines: ["Main bottleneck (82 % of non-idle thread time): threads wait for work_mutex.",
		"Evidence: 1,214 waits", "Try next: hold it for less time"] } }, timelines: timelines(24), marks: marks(24),
		graph: graph(80), path: criticalPath(2000) };
}

export function largeReport() {
	const { report, ...rest } = wholeReport();
	const many = (list, count) => Array.from({ length: count }, (_, i) => ({ ...list[i % list.length], name: `n${i}`, tid: i }));

	return { ...rest, timelines: timelines(1000, 360), graph: { ...graph(200), nodes: graph(200).nodes.map(node =>
		({ ...node, label: `${node.label} in a_function_with_a_long_name::and_parameters(int, char const*)` })) }, report: { ...report, threads: many(report.threads, 10000),
		locks: many(report.locks, 20000), paths: many(report.paths, 1000) } };
}

/** Of two hosts. */
export function hostsReport() {
	const { report, ...rest } = wholeReport();

	return { ...rest, report: { ...report, threads: report.threads.map((thread, i) => ({ ...thread, host: i % 3 ? "web1" : "db" })) } };
}

/** A report of a server without debug information, whose call paths begin in the kernel and in libc. */
export function strippedReport() {
	const { report, ...rest } = wholeReport();
	const frame = (name, module, is_kernel = false) => ({ function: name, file: null, line: null, module, offset: 0x40, is_inlined: false, is_kernel,
		is_guessed: false, is_tail_call: false });
	const stack = [frame("futex_wait", "[kernel]", true), frame("syscall", "libc.so.6"), frame("srw_lock::wait", "serverd"), frame(null, "serverd"),
		frame("start_thread", "libc.so.6"), frame("clone3", "libc.so.6")];
	const nameless = [stack[0], stack[1], frame(null, "serverd"), frame("log_write", "serverd"), stack[4]];

	return { ...rest, report: { ...report, waits: report.waits.slice(0, 2).map((wait, i) => ({ ...wait, stack: i ? nameless : stack })),
		paths: report.paths.slice(0, 1).map(path => ({ ...path, stack })), code: { ...report.code, samples: 0, stacks: [] } },
		folds: [["syscall", "libc.so.6", "-"], ["start_thread", "libc.so.6", "thread start"], ["clone3", "libc.so.6", "thread start"]] };
}

/** Locks of which each object of a type has one. */
export function lockClassesReport() {
	const { report, ...rest } = wholeReport(), [lock] = report.locks;
	const made = (name, kind, where, i, waits) => ({ ...lock, name, kind, where, address: `0x${(0x7300 + i).toString(16)}`, waits, wait_ns: waits * 1e6, idle_ns: 0,
		max_ns: 1e6 + i * 1e4, unlockers: [], blocked_on: null, holder: null });

	return { ...rest, report: { ...report, locks: [made("work_mutex", "mutex", "work", 70, 1), made(null, "join", "main", 71, 500),
		...Array.from({ length: 33 }, (_, i) => made(null, "futex", "commit(int)", i, 2)), made("cache.lock", "mutex", "get", 40, 20),
		made("cache.lock", "mutex", "put", 41, 10), made(null, "rwlock", "read", 0x4f0, 3)] } };
}

/** A report of which the page has the first waits, locks and call paths only. */
export function partialReport() {
	const { report, ...rest } = wholeReport();

	return { ...rest, report: { ...report, totals: { ...report.totals, paths: report.paths.length + 4000, critical_cmetric_ns: 5e9 } },
		left_out: { waits: [{ cause: "lock", waits: 7000, wait_ns: 4e9 }, { cause: "file", waits: 500, wait_ns: 1e9 }], locks_with_unlockers: 1 },
		graph: { ...rest.graph, left_out: 12345 } };
}

/** The same report with something hostile wherever a program chooses a name. */
export function hostileReport() {
	const report = JSON.parse(JSON.stringify(golden("pipeline.json"), (key, value) =>
		["name", "function", "file", "path", "object", "command", "module", "holder", "title", "where", "host", "group"].includes(key) &&
			typeof value === "string" ? HOSTILE : value));

	report.verdict.lines = [HOSTILE, HOSTILE, HOSTILE];
	return { report, timelines: { ...timelines(3), threads: timelines(3).threads.map(t => ({ ...t, name: HOSTILE })) },
		marks: { ...marks(3), names: [HOSTILE, HOSTILE] },
		graph: { ...graph(10), nodes: graph(10).nodes.map(n => ({ ...n, label: HOSTILE })) },
		path: { ...criticalPath(10), sums: criticalPath(10).sums.map(s => ({ ...s, who: HOSTILE, what: HOSTILE })) } };
}

export function emptyReport() {
	return { report: golden("nothing.json"),
		timelines: { begin_ns: 0, part_ns: 1, whole_ns: 0, parts: 0, threads: [], left_out: 0, all: {} }, graph: { from_ns: 0, to_ns: 0, nodes: [] },
		path: { thread: 1, sums: [], parts: [], left_out: 0 } };
}

/** A request in each thread, every tenth of the time. */
function marks(threads) {
	const { whole_ns } = timelines(1), all = [];

	for (let row = 0; row < threads; row++)
		for (let i = 1; i < 10; i++)
			all.push([row, i * whole_ns / 10, i % 2, 100 * row + i]);
	return { names: ["request.BEGIN", "request.END"], marks: all, left_out: 7 };
}

const KINDS = ["mutex", "rwsem read", "rwsem write", "spinlock", "rtmutex", "percpu-rwsem"];

function histogramOf(next) {
	return Array.from({ length: 12 }, (_, i) => [2 ** (8 + 2 * i), Math.floor(next() * 1000 * Math.exp(-((i - 5) ** 2) / 8))]);
}

function lockOf(i, next) {
	const wait_ns = Math.round(1e9 * next() ** 6) + 1, waits = 1 + Math.floor(next() * 500);
	const waiters = Array.from({ length: 1 + i % 3 }, (_, t) => ({ name: `worker-${(i + t) % 64}`, context: null, pid: 4000, tid: 4001 + (i + t) % 64,
		waits: Math.ceil(waits / 3), wait_ns: Math.round(wait_ns / 3), max_ns: Math.min(wait_ns, 5e5), stack: i % 200 }));

	return { address: "0xffff8880" + (i * 64).toString(16).padStart(8, "0"), name: i % 3 ? `i_rwsem of /srv/data/${i}` : null,
		kind: KINDS[i % KINDS.length], waits, wait_ns, mean_ns: Math.round(wait_ns / waits), p50_ns: 4000, p90_ns: 90000, p99_ns: 700000,
		max_ns: Math.min(wait_ns, 5e6), unfinished: i % 1000 ? 0 : 1, waiters,
		owners: i % 2 ? [] : [{ name: "writer", tid: 4999, wait_ns: Math.round(wait_ns / 2), stack: (i + 1) % 200 }], histogram: histogramOf(next) };
}

export function klock(count) {
	const next = numbers(11);
	const locks = Array.from({ length: count }, (_, i) => lockOf(i, next));
	const kinds = KINDS.map(kind => ({ kind, waits: 1000, wait_ns: 1 + locks.filter(l => l.kind === kind).reduce((sum, l) => sum + l.wait_ns, 0),
		p25_ns: 2000, p50_ns: 9000, p75_ns: 60000, max_ns: 5e6, histogram: histogramOf(next) }));
	const stacks = Array.from({ length: 200 }, (_, i) => [`down_write_${i}`, "ext4_buffered_write_iter", "vfs_write", "ksys_write", "do_syscall_64"]);

	return { duration_ns: 1e10, tracing_ns: 3e6, locks, kinds, stacks };
}

const error_ns = 4e6;

function codeDifference(first_ns, second_ns) {
	return { first_ns, first_error_ns: error_ns, second_ns, second_error_ns: error_ns, change_ns: second_ns - first_ns, change_error_ns: 1.4 * error_ns,
		p: second_ns === first_ns ? 1 : 0.0001, is_significant: second_ns !== first_ns };
}

function codeChange(name, self, total) {
	return { name, is_own: true, samples: [100, 160], self: codeDifference(...self), total: codeDifference(...total) };
}

export function comparedCode() {
	return {
		cpu: { list: [codeChange("compress_block", [3e8, 9e8], [3e8, 9e8]), codeChange("pack", [0, 0], [4e8, 1e9])], unsure: 3 },
		cmetric: { list: [codeChange("compress_block", [1e8, 5e8], [1e8, 5e8])], unsure: 0 },
		paths: { list: [codeChange("compress_block < pack", [1e8, 5e8], [1e8, 5e8])], unsure: 0 },
	};
}

export function configurations(runs, groups = ["pack-*", "refine-*", "cutter"]) {
	return {
		traces: Array.from({ length: runs }, (_, i) => ({ name: `run-${i + 1}.trace`, wall_ns: 1e9 - 1e8 * i, cmetric_ns: 1e9 - 1e8 * i, threads: 3 + i })),
		groups: groups.map((name, k) => ({ name, parts: Array.from({ length: runs }, (_, i) => ({ threads: k === 2 && i ? 0 : 1 + i,
			cmetric_ns: k === 2 && i ? 0 : (5 - k) * 1e8, most_ns: k === 2 && i ? 0 : (5 - k) * 1e8 / (1 + i) })) })),
	};
}

export function comparison(count) {
	const next = numbers(13);
	const sample = mean => ({ n: 20, mean, deviation: mean / 10 });
	const differ = (first, second) => ({ first: sample(first), second: sample(second), change: second - first,
		change_share: first ? (second - first) / first : null, d: 2.1, p: 0.0004 });
	const nodes = [{ parent: null, kind: "threads", label: "all threads", boldness: 0, in: [20, 20], ...differ(1e9, 1.6e9) }];

	for (let i = 1; i < count; i++) {
		const parent = Math.floor(next() * Math.min(i, 12)), of = nodes[parent];
		const first = i % 5 === 4 ? 0 : of.first.mean * next() * 0.5, second = i % 5 === 3 ? 0 : of.second.mean * next() * 0.5;
		nodes.push({ parent, kind: "wait", label: `lock ${i} in work()`, boldness: first && second ? 1 + i % 7 % 5 : 0, in: [first ? 20 : 0, second ? 20 : 0], ...differ(first, second) });
	}
	return { of: "runs", is_per_second: false, sides: ["before.trace", "after.trace"], conditions: [{ condition: "lost.lock > 10 %", holds: true }],
		reasons: [{ words: "threads wait longer for work_mutex", node: 1, ...differ(1e8, 6e8) }], unsure: 2,
		figures: [{ name: "duration", ...differ(1e9, 1.6e9) }, { name: "wakes", ...differ(120, 840) }, { name: "faults", ...differ(0, 0) }], nodes,
		code: comparedCode(), configurations: configurations(2) };
}
