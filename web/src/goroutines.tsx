// SPDX-License-Identifier: GPL-2.0-or-later
// What goroutines of Go programs waited for: of each process a table, by how many waited on average.
import { words } from "./columns";
import { plural, share, visible } from "./format";
import { Section } from "./page";
import { Stack, headline } from "./stack";
import { type Column, Table } from "./table";
import type { Report, ReportGoProcess, ReportGoroutineWait } from "./report";

const estimate = (mean: number, error: number) => `${mean.toFixed(1)} \u00b1 ${error.toFixed(1)}`;

const ownOf = ({ stack, own_frame }: ReportGoroutineWait) => headline(stack.slice(own_frame, own_frame + 1));

const columns: Column<ReportGoroutineWait>[] = [
	words("waits in", w => w.what), words("called by", w => w.stack.length ? ownOf(w) : "", true), words("made by", w => headline(w.creator)),
	{ title: "for", value: w => w.kind },
	{ title: "goroutines", value: w => w.waiting, show: w => estimate(w.waiting, w.waiting_error) },
];

function Process({ process: p }: { process: ReportGoProcess }) {
	return <>
		<h3>Process {p.pid}</h3>
		<p>{estimate(p.waiting, p.waiting_error)} wait, {estimate(p.runnable, p.runnable_error)} are ready to run, {
			estimate(p.running, p.running_error)} run, {estimate(p.in_syscall, p.in_syscall_error)} are in system calls. Sampled {
			plural(p.samples, "time")}{p.examined_share < 1 && `, each time ${share(p.examined_share)} of them`}.</p>
		<Table name={`goroutines of process ${p.pid}`} columns={columns} rows={p.waits} sort={4} detail={w => <>
			<h3>{visible(w.what)}</h3>
			<p>{estimate(w.waiting, w.waiting_error)} goroutines, at most {w.waiting_max.toFixed(0)} in one sample. Go calls it {visible(w.reason)}.</p>
			<Stack frames={w.stack} />
			{w.creator.length > 0 && <><h4>Made by</h4><Stack frames={w.creator} /></>}
		</>} />
	</>;
}

export function Goroutines({ report }: { report: Report }) {
	if (!report.goroutines.length)
		return null;
	return <Section id="goroutines" title="Goroutines" isHeavy about="What goroutines waited for: how many on average, estimated from samples.">
		{report.goroutines.map(process => <Process key={process.pid} process={process} />)}
	</Section>;
}
