// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that poll and work by turns: how long an iteration takes, and what is done in it.
import { ns, words } from "./columns";
import { count, duration, plural, share, visible } from "./format";
import { Section } from "./page";
import { Stack } from "./stack";
import { type Column, Table } from "./table";
import type { Report, ReportBlockedOn, ReportEventLoop } from "./report";

const busyOf = ({ polled_ns, work }: ReportEventLoop) => work ? work.ns / (polled_ns + work.ns) : 0;

const columns: Column<ReportEventLoop>[] = [
	words("thread", l => `${l.name} ${l.tid}`, true),
	{ title: "iterations", value: l => l.iterations, show: l => count(l.iterations) },
	ns("half", l => l.p50_ns), ns("99 %", l => l.p99_ns), ns("longest", l => l.max_ns),
	{ title: "busy", value: busyOf, show: l => share(busyOf(l)) },
];

function Work({ title, work }: { title: string; work: ReportBlockedOn | null }) {
	const code = work?.code[0];

	return work?.text ? <>
		<h4>{title}</h4>
		<p>{duration(work.ns)}: {visible(work.text)}.</p>
		{code && <Stack frames={code.stack} />}
	</> : null;
}

export function EventLoops({ report }: { report: Report }) {
	if (!report.event_loops.length)
		return null;
	return <Section id="loops" title="Event loops" isHeavy
		about="Iterations last from a poll that blocked to the next one; polls that found something ready at once are within them.">
		<Table name="event loops" columns={columns} rows={report.event_loops} sort={4} detail={l => <>
			<h3>{visible(l.name)} {l.tid}, {l.syscall}</h3>
			{l.unread_looks > 0 && <p>Input lay unread at {count(l.unread_looks)} of {plural(l.looks, "look")}, some for more than {duration(l.unread_ns)}.</p>}
			<Work title="In all iterations" work={l.work} />
			<Work title={`In ${plural(l.long_iterations, "iteration")} of ${duration(l.long_min_ns)} and more${2 * l.short_turn_samples > l.turn_samples ? ", of several turns each" : ""}`} work={l.long_work} />
			<Work title={`In the longest one, at ${duration(l.max_at_ns)}`} work={l.longest} />
		</>} />
	</Section>;
}
