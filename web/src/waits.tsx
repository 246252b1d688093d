// SPDX-License-Identifier: GPL-2.0-or-later
// Where threads waited, for which files and sockets, and which code was critical.
import { BlockedOn } from "./blocked_on";
import { described, ns, words } from "./columns";
import { count, duration, plural, size, visible } from "./format";
import { Section } from "./page";
import { Stack, headline } from "./stack";
import { stateTitle } from "./states";
import { type Column, Table } from "./table";
import { columnsOfReportFile, columnsOfReportPath, columnsOfReportSocket, columnsOfReportWait } from "./report";
import type { Report, ReportFile, ReportPath, ReportSocket, ReportWait } from "./report";
import type { LeftOut } from "./types";
import { Wakers } from "./wakers";

const stackWords = (frames: { function: string | null }[]) => frames.map(frame => frame.function ?? "").join("\n");

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
