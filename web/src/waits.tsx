// SPDX-License-Identifier: GPL-2.0-or-later
// Where threads waited, for which locks, files and sockets, and which code was critical.
import { BlockedOn } from "./blocked_on";
import { described, ns, threads, words } from "./columns";
import { count, duration, plural, share, size, visible } from "./format";
import { Section } from "./page";
import { Stack, headline } from "./stack";
import { stateTitle } from "./states";
import { type Column, Table } from "./table";
import { columnsOfReportFile, columnsOfReportLock, columnsOfReportPath, columnsOfReportSocket, columnsOfReportWait } from "./report";
import type { Report, ReportFile, ReportLock, ReportPath, ReportSocket, ReportWait, ReportWaker } from "./report";
import type { LeftOut } from "./types";

const SHARE_MIN = 0.005;

const stackWords = (frames: { function: string | null }[]) => frames.map(frame => frame.function ?? "").join("\n");

function Wakers({ wakers, title }: { wakers: ReportWaker[]; title: string }) {
	const rest = 1 - wakers.reduce((sum, waker) => sum + waker.share, 0);

	if (!wakers.length)
		return null;
	return <>
		<h4>{title}</h4>
		{wakers.map((waker, i) => <details key={i}>
			<summary>{share(waker.share)}: {waker.context} {visible(waker.names ?? waker.name ?? "")}, {plural(waker.waits, "time")}, {
				duration(waker.wait_ns)} waited, {duration(waker.cmetric_ns)} of criticality</summary>
			<Stack frames={waker.stack} />
		</details>)}
		{rest > SHARE_MIN && <p class="muted">{share(rest)}: others, or unknown.</p>}
	</>;
}

const waitColumns: Column<ReportWait>[] = [
	words("where", w => headline(w.stack), true), words("for", w => w.object), { title: "cause", value: w => stateTitle(w.cause) },
	ns("lost", w => w.wait_ns - w.idle_ns), ...described(columnsOfReportWait),
];

function MoreWaits({ leftOut }: { leftOut?: LeftOut }) {
	const count = leftOut?.waits.reduce((sum, wait) => sum + wait.waits, 0);

	return count ? <p class="muted">{plural(count, "further call path")}, in which {
		duration(leftOut!.waits.reduce((sum, wait) => sum + wait.wait_ns, 0))} were lost, are not shown.</p> : null;
}

export function Waits({ report, leftOut }: { report: Report; leftOut?: LeftOut }) {
	return <Section id="waits" title="Waits" isHeavy about="Call paths at which threads waited, by the thread time that was lost there.">
		<Table name="waits" columns={waitColumns} rows={report.waits} sort={3} search={w => stackWords(w.stack)} detail={w => <>
			<h3>{stateTitle(w.cause)} {visible(w.object ?? "")}</h3>
			{w.is_estimated && <p class="muted">Estimated: not every stack was kept.</p>}
			<Stack frames={w.stack} hint={w.names_hint} />
			<BlockedOn on={w.blocked_on} />
			<Wakers wakers={w.wakers} title="Ended by" />
		</>} />
		<MoreWaits leftOut={leftOut} />
	</Section>;
}

const lockColumns: Column<ReportLock>[] = [
	words("lock", l => l.name ?? l.address, true), words("kind", l => l.kind), words("in", l => l.where),
	ns("waited", l => l.wait_ns - l.idle_ns), ...described(columnsOfReportLock), threads("queue", l => l.queue_max), words("holder", l => l.holder),
];

export function Locks({ report, leftOut }: { report: Report; leftOut?: LeftOut }) {
	return <Section id="locks" title="Locks" isHeavy about="Locks by the time that threads waited for them, and the threads that released them.">
		<Table name="locks" columns={lockColumns} rows={report.locks} sort={3} search={l => l.address} detail={l => <>
			<h3>{visible(l.name ?? l.address)}</h3>
			<p>{visible(l.kind)} at {visible(l.address)}: {plural(l.waits, "wait")}, up to {plural(l.queue_max, "thread")} at once; held {
				plural(l.holds, "time")} for {duration(l.hold_ns)} while others waited{l.holder ? `, mostly by ${visible(l.holder)}` : ""}.
				{l.spurious_wakeups ? ` ${plural(l.spurious_wakeups, "wake-up")} spurious.` : ""}</p>
			<BlockedOn on={l.blocked_on} />
			<Wakers wakers={l.unlockers} title="Released by" />
		</>} />
		{leftOut && report.locks.length > leftOut.locks_with_unlockers && <p class="muted">The threads that released them are listed for the {
			plural(leftOut.locks_with_unlockers, "lock")} with most time lost.</p>}
	</Section>;
}

const peerOf = (io: ReportFile | ReportSocket) => io.peer_name && `${io.peer_name} ${io.peer_thread ?? ""}${io.peer_pid ? ` (${io.peer_pid})` : ""}`;

const asked = <R extends ReportFile | ReportSocket>(): Column<R> =>
	({ title: "asked for", unit: "bytes", value: f => f.asked_bytes, show: f => f.asked_bytes ? size(f.asked_bytes) : "\u2013" });

const fileColumns: Column<ReportFile>[] = [
	words("file", f => f.path + (f.is_deleted ? " (deleted)" : ""), true), { title: "cause", value: f => stateTitle(f.cause) },
	ns("waited", f => f.wait_ns - f.idle_ns), ...described(columnsOfReportFile), asked(), words("other end", peerOf),
];

const socketColumns: Column<ReportSocket>[] = [
	words("peer", s => s.host ? `${s.host} (${s.peer})` : s.peer, true), words("family", s => s.family), words("local", s => s.local),
	ns("waited", s => s.wait_ns - s.idle_ns), ...described(columnsOfReportSocket), asked(), words("other end", peerOf),
];

export function Io({ report }: { report: Report }) {
	return <Section id="io" title="Files and sockets" isHeavy about="What threads read, wrote or waited on; idle waits are left out.">
		<h3>Files</h3>
		<Table name="files" columns={fileColumns} rows={report.files} sort={2} />
		<h3>Sockets</h3>
		<Table name="sockets" columns={socketColumns} rows={report.sockets} sort={3} />
	</Section>;
}

const pathColumns: Column<ReportPath>[] = [
	words("path", p => headline(p.stack), true), { title: "rank", value: p => p.rank, tip: p => `the ${p.rank}. by CMetric` }, words("threads", p => p.thread_names.join(", ")),
	...described(columnsOfReportPath), { title: "then", value: p => stateTitle(p.cause ?? "") },
];

export function Paths({ report }: { report: Report }) {
	return <Section id="paths" title="Call paths" isHeavy about="The code that ran while few threads were active, by its CMetric.">
		<Table name="call paths" columns={pathColumns} rows={report.paths} search={p => stackWords(p.stack)} detail={p => <>
			<h3>{headline(p.stack)}</h3>
			{p.functions.length > 0 && <ul>{p.functions.map((f, i) => <li key={i}>{visible(f.name ?? "?")}: {
				plural(f.samples, "sample")}{f.lines.map(line => line.line ? `, line ${line.line} ${count(line.samples)}` : "")}</li>)}</ul>}
			<Stack frames={p.stack} hint={p.names_hint} />
		</>} />
	</Section>;
}
