// SPDX-License-Identifier: GPL-2.0-or-later
import { useMemo } from "preact/hooks";
import { Bars } from "./bars";
import { described, times, words } from "./columns";
import { CopyCsv } from "./csv";
import { duration, shareOf, visible } from "./format";
import { Section, Swatch } from "./page";
import { type Column, Table } from "./table";
import { columnsOfReportThread, type Report, type ReportThread } from "./report";

const columns: Column<ReportThread>[] = [
	words("thread", t => t.title ?? t.name, true),
	{ title: "tid", value: t => t.tid, show: t => t.thread_count > 1 ? `${t.thread_count} ended` : String(t.tid), tip: t => `thread ${t.tid} of process ${t.pid}` },
	words("group", t => t.group), ...described(columnsOfReportThread), times("slices", t => t.slices), times("critical", t => t.critical_slices),
];

const host = words<ReportThread>("host", t => t.host ?? "", true);

function nameOf(thread: ReportThread): string {
	return thread.thread_count > 1 ? `${visible(thread.name)} (${thread.thread_count} ended)` : `${visible(thread.name)} ${thread.tid}`;
}

/** The threads of each host, the host first that has most CMetric; of a trace of one host, all. */
function byHost(threads: ReportThread[]): [string | null, ReportThread[]][] {
	const hosts = new Map<string | null, ReportThread[]>(), sum = (of: ReportThread[]) => of.reduce((ns, t) => ns + t.cmetric_ns, 0);

	for (const thread of threads)
		hosts.set(thread.host, [...hosts.get(thread.host) ?? [], thread]);
	return [...hosts].sort(([, a], [, b]) => sum(b) - sum(a));
}

function HostBars({ report, host, threads, most }: { report: Report; host: string | null; threads: ReportThread[]; most: number }) {
	const cmetric_ns = threads.reduce((ns, t) => ns + t.cmetric_ns, 0);

	return <>
		{host !== null && <h3>{visible(host)} <span class="muted">{shareOf(cmetric_ns, report.totals.cmetric_ns)} of CMetric</span></h3>}
		<Bars max={most} label={host === null ? "Threads by CMetric" : `Threads of ${visible(host)} by CMetric`} bars={threads.slice(0, 200).map(thread => ({
			name: nameOf(thread), text: duration(thread.cmetric_ns),
			tip: `${nameOf(thread)}\nCMetric ${duration(thread.cmetric_ns)}, ${shareOf(thread.cmetric_ns, report.totals.cmetric_ns)} of all\n` +
				`on a CPU ${duration(thread.cmetric_oncpu_ns)}\nran ${duration(thread.running_ns)}, blocked ${duration(thread.blocked_ns)}`,
			parts: [{ value: thread.cmetric_oncpu_ns, colour: "c-running" },
				{ value: thread.cmetric_ns - thread.cmetric_oncpu_ns, colour: "c-runnable" }],
		}))} />
	</>;
}

export function Threads({ report }: { report: Report }) {
	const threads = useMemo(() => [...report.threads].sort((a, b) => b.cmetric_ns - a.cmetric_ns), [report]);
	const hosts = useMemo(() => byHost(threads), [threads]), hasHosts = threads.some(thread => thread.host !== null);
	const most = threads[0]?.cmetric_ns ?? 0;

	return <Section id="threads" title="Threads" isHeavy
		about="CMetric is active time, divided by how many threads were active with it: who carried the load.">
		<div class="legend">
			<span><Swatch colour="c-running" />on a CPU</span><span><Swatch colour="c-runnable" />waiting for a CPU</span>
			<CopyCsv of="threads by CMetric" make={() => ({
				titles: ["thread", "tid", "CMetric on a CPU (ns)", "CMetric waiting for a CPU (ns)"],
				rows: threads.map(t => [t.name, t.tid, t.cmetric_oncpu_ns, t.cmetric_ns - t.cmetric_oncpu_ns]),
			})} />
		</div>
		{hosts.map(([host, of]) => <HostBars key={host} report={report} host={host} threads={of} most={most} />)}
		<Table name="threads" columns={hasHosts ? [host, ...columns] : columns} rows={threads} sort={hasHosts ? 4 : 3} />
	</Section>;
}
