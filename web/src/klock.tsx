// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel locks: by kind, how long their waits were, and each lock with those who waited.
import { useMemo, useState } from "preact/hooks";
import { Bars } from "./bars";
import { ns, times, words } from "./columns";
import { CopyCsv } from "./csv";
import { Doughnut } from "./doughnut";
import { count, duration, plural, shareOf, visible } from "./format";
import { KindBoxes, WaitHistogram } from "./klock_charts";
import { Section, Swatch } from "./page";
import { type Column, Table } from "./table";
import type { Histogram, ReportKlock } from "./report";
import type { KernelLocks } from "./types";

const KIND_COLOURS = 8;

type Waiter = ReportKlock["waiters"][number];

const none: Waiter = { name: "", context: null, pid: 0, tid: 0, waits: 0, wait_ns: 0, max_ns: 0, stack: null };

/** The thread that waited for it longest stands for all. */
const first = (lock: ReportKlock) => lock.waiters[0] ?? none;
const frames = (stacks: string[][], at: number | null) => at === null ? undefined : stacks[at];

/** What interrupts waited for is not what their thread did. */
function waiterName({ name, context, tid }: Waiter): string {
	const thread = name !== null ? visible(name) : tid ? "a thread" : context ? "an idle CPU" : "further threads";

	return context ? `${context} on ${thread}` : thread;
}

const ownerName = (owner: ReportKlock["owners"][number]) => owner.name !== null ? visible(owner.name) : owner.tid ? "a thread" : "readers";
const more = (lock: ReportKlock) => lock.waiters.length > 1 ? ` +${lock.waiters.length - 1}` : "";

/** With --acquisitions. */
const holdColumns: Column<ReportKlock>[] = [
	{ title: "taken", unit: "times", value: l => l.acquisitions ?? 0, show: l => count(l.acquisitions ?? 0),
		tip: l => `taken ${plural(l.acquisitions ?? 0, "time")}, waited for ${plural(l.waits, "time")}` },
	ns("taking", l => l.take_ns ?? 0), ns("held", l => l.hold_ns ?? 0),
	ns("mean hold", l => l.holds ? (l.hold_ns ?? 0) / l.holds : 0), ns("longest hold", l => l.max_hold_ns ?? 0),
];

/** Where it is waited for, or taken. */
function columnsOf({ stacks, acquisitions }: KernelLocks): Column<ReportKlock>[] {
	const top = (lock: ReportKlock) => visible(frames(stacks, first(lock).stack)?.[0] ?? lock.where ?? "");

	return [
		{ title: "address", value: l => l.address },
		{ title: "kind", value: l => l.kind },
		words("name", l => l.name, true),
		{ title: "thread", value: l => waiterName(first(l)), show: l => waiterName(first(l)) + more(l) },
		{ title: "pid", value: l => first(l).pid, tip: l => `process ${first(l).pid}` },
		{ title: "tid", value: l => first(l).tid, tip: l => `thread ${first(l).tid} of process ${first(l).pid}` },
		ns("waited", l => l.wait_ns),
		{ title: "waits", unit: "times", value: l => l.waits, show: l => count(l.waits) + (l.unfinished ? " \u2026" : ""),
			tip: l => plural(l.waits, "wait") + (l.unfinished ? `, ${count(l.unfinished)} of them not over` : "") },
		ns("mean", l => l.mean_ns), ns("p99", l => l.p99_ns), ns("longest", l => l.max_ns),
		...(acquisitions === undefined ? [] : holdColumns),
		{ title: "stack", value: top, isWide: true, tip: l => (frames(stacks, first(l).stack) ?? []).map(visible).join("\n") },
	];
}

interface Waiting {
	lock: ReportKlock;
	waiter: Waiter;
}

/** A row for each thread that waited for a lock. */
function waitingOf({ locks }: KernelLocks): Waiting[] {
	return locks.flatMap(lock => lock.waiters.map(waiter => ({ lock, waiter })));
}

function waitingColumns(stacks: string[][]): Column<Waiting>[] {
	const top = ({ lock, waiter }: Waiting) => visible(frames(stacks, waiter.stack)?.[0] ?? lock.where ?? "");

	return [
		{ title: "address", value: w => w.lock.address, tip: w => visible(w.lock.name ?? w.lock.address) }, { title: "kind", value: w => w.lock.kind },
		words("thread", w => waiterName(w.waiter), true), { title: "pid", value: w => w.waiter.pid, tip: w => `process ${w.waiter.pid}` },
		{ title: "tid", value: w => w.waiter.tid, tip: w => `thread ${w.waiter.tid} of process ${w.waiter.pid}` },
		ns("total", w => w.waiter.wait_ns), times("count", w => w.waiter.waits), ns("longest", w => w.waiter.max_ns),
		{ title: "stack", value: top, isWide: true, tip: w => (frames(stacks, w.waiter.stack) ?? []).map(visible).join("\n") },
	];
}

function WaitingThreads({ klock }: { klock: KernelLocks }) {
	const rows = useMemo(() => waitingOf(klock), [klock]), columns = useMemo(() => waitingColumns(klock.stacks), [klock]);

	return <>
		<h3>Waiting threads</h3>
		<Table name="waiting threads" columns={columns} rows={rows} sort={5} search={w => (frames(klock.stacks, w.waiter.stack) ?? []).join("\n")}
			detail={w => <><h3>{visible(w.lock.name ?? w.lock.address)}: {waiterName(w.waiter)}</h3><NamedStack frames={frames(klock.stacks, w.waiter.stack)} /></>} />
	</>;
}

const LOCK_BARS = 100;

/** The locks that threads waited for longest, by that time. */
function LockBars({ locks, whole }: { locks: ReportKlock[]; whole: number }) {
	const waited = [...locks].filter(lock => lock.wait_ns > 0).sort((a, b) => b.wait_ns - a.wait_ns).slice(0, LOCK_BARS);

	return <div class="chart">
		<div class="tools"><h3>Time waited, by lock</h3><CopyCsv of="the time waited by lock" make={() => ({
			titles: ["address", "name", "kind", "waited (ns)"], rows: waited.map(lock => [lock.address, lock.name, lock.kind, lock.wait_ns]) })} /></div>
		<Bars max={waited[0]?.wait_ns ?? 0} label="Time waited for each kernel lock" bars={waited.map(lock => ({
			name: visible(lock.name ?? lock.address), text: `${duration(lock.wait_ns)} \u00b7 ${shareOf(lock.wait_ns, whole)}`,
			tip: `${visible(lock.name ?? "no name")}\n${lock.kind} at ${lock.address}\n${duration(lock.wait_ns)}, ${plural(lock.waits, "wait")}`,
			parts: [{ value: lock.wait_ns, colour: "c-kernel-lock" }],
		}))} />
	</div>;
}

function NamedStack({ frames }: { frames: string[] | undefined }) {
	return frames?.length ? <ol class="stack">{frames.map((name, i) => <li key={i}>{visible(name)}</li>)}</ol>
		: <p class="muted">No stack was recorded.</p>;
}

function Detail({ lock, stacks }: { lock: ReportKlock; stacks: string[][] }) {
	return <>
		<h3>{visible(lock.name ?? lock.address)}</h3>
		<p>{lock.kind} at {lock.address}: {plural(lock.waits, "wait")}, {duration(lock.wait_ns)} in total; p50 {duration(lock.p50_ns)}, p90 {
			duration(lock.p90_ns)}, 99 % up to {duration(lock.p99_ns)}, at most {duration(lock.max_ns)}.
			{lock.unfinished > 0 && ` ${plural(lock.unfinished, "wait")} had not ended.`}</p>
		{(lock.acquisitions ?? 0) > 0 && <p>Taken {plural(lock.acquisitions ?? 0, "time")}, which took {duration(lock.take_ns ?? 0)}; held {
			duration(lock.hold_ns ?? 0)} in total, max {duration(lock.max_hold_ns ?? 0)}.</p>}
		{lock.waiters.length > 0 && <h4>Who waited</h4>}
		{lock.waiters.slice(0, 20).map((waiter, i) => <details key={i} open={!i}>
			<summary>{waiterName(waiter)} {waiter.tid} of process {waiter.pid}: {plural(waiter.waits, "wait")}, {duration(waiter.wait_ns)}</summary>
			<NamedStack frames={frames(stacks, waiter.stack)} />
		</details>)}
		{lock.owners.length > 0 && <h4>Who held it</h4>}
		{lock.owners.slice(0, 20).map((owner, i) => <details key={i}>
			<summary>{ownerName(owner)} {owner.tid || ""}, while others waited {duration(owner.wait_ns)}</summary>
			<NamedStack frames={frames(stacks, owner.stack)} />
		</details>)}
	</>;
}

/** Of all locks: the kinds' histograms in one. */
function sumOf(histograms: Histogram[]): Histogram {
	const sums = new Map<number, number>();

	for (const histogram of histograms)
		for (const [from, waits] of histogram)
			sums.set(from, (sums.get(from) ?? 0) + waits);
	return [...sums].sort((a, b) => a[0] - b[0]);
}

function aboutOf(klock: KernelLocks, whole: number): string {
	const waited = klock.locks.filter(lock => lock.waits > 0).length;
	const waits = `Threads waited ${duration(whole)} for ${plural(waited, "kernel lock")} within ${duration(klock.duration_ns)}, spinning and asleep. Recording these waits took ${duration(klock.tracing_ns)}; the times do not include it.`;

	return klock.acquisitions === undefined ? waits
		: `${waits} They took locks ${plural(klock.acquisitions, "time")}; recording them adds ${duration(klock.take_cost_ns ?? 0)} to the taking and ${duration(klock.hold_cost_ns ?? 0)} to the holding each time; the times do not include it.`;
}

export function Klock({ klock }: { klock: KernelLocks }) {
	const [chosen, choose] = useState<ReportKlock | null>(null);
	const kinds = useMemo(() => [...klock.kinds].sort((a, b) => b.wait_ns - a.wait_ns), [klock]);
	const columns = useMemo(() => columnsOf(klock), [klock]);
	const all = useMemo(() => sumOf(kinds.map(kind => kind.histogram)), [kinds]);
	const whole = kinds.reduce((sum, kind) => sum + kind.wait_ns, 0);
	const shares = kinds.map((kind, i) => ({ name: kind.kind, value: kind.wait_ns, colour: `k-${i % KIND_COLOURS}`, tip: plural(kind.waits, "wait") }));
	const found = (lock: ReportKlock) => lock.waiters.map(t => `${t.name ?? ""} ${t.tid} ${t.pid}`).join("\n") + "\n" +
		(frames(klock.stacks, first(lock).stack) ?? []).join("\n");

	if (!klock.locks.length)
		return <Section id="klock" title="Kernel locks"><p class="muted">No thread waited for a kernel lock.</p></Section>;
	return <Section id="klock" title="Kernel locks" about={aboutOf(klock, whole)}
		tools={<CopyCsv of="waits by kind" make={() => ({ titles: ["kind", "waits", "total (ns)"], rows: kinds.map(k => [k.kind, k.waits, k.wait_ns]) })} />}>
		{kinds.length > 0 && <div class="columns">
			<div class="chart shares">
				<Doughnut shares={shares} label="Time waited, by the kind of lock" unit="waited" />
				<ul class="slices">{kinds.map((kind, i) => <li key={kind.kind} data-tip={plural(kind.waits, "wait")}>
					<Swatch colour={`k-${i % KIND_COLOURS}`} /><span>{kind.kind}</span><b>{shareOf(kind.wait_ns, whole)}</b>
					<span class="muted number">{duration(kind.wait_ns)}</span></li>)}</ul>
			</div>
			<KindBoxes kinds={kinds} />
		</div>}
		{kinds.length > 0 && <WaitHistogram of={chosen ? visible(chosen.name ?? chosen.address) : "all locks"}
			histogram={chosen ? chosen.histogram : all} />}
		{kinds.length > 0 && <LockBars locks={klock.locks} whole={whole} />}
		<h3>Locks</h3>
		<Table name="kernel locks" columns={columns} rows={klock.locks} sort={6} search={found} onChoose={choose}
			detail={lock => <Detail lock={lock} stacks={klock.stacks} />} />
		{kinds.length > 0 && <WaitingThreads klock={klock} />}
	</Section>;
}
