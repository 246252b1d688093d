// SPDX-License-Identifier: GPL-2.0-or-later
// What threads did in the chosen parts of their time: of CPUs, of executions of spans, and of what waits are for in them.
import { count, duration, exactNs, plural, shareOf, visible } from "./format";
import { Section } from "./page";
import type { ReportParts, ReportPartThread, ReportPartWait } from "./report";
import { stateTitle } from "./states";
import { type Column, Table } from "./table";

const listed = (names: string[]) => names.map(visible).join(", ");

export function ChosenParts({ parts }: { parts: ReportParts }) {
	const asked = [["CPU", listed(parts.cpus)], ["spans", listed(parts.spans)], ["cause", parts.causes.map(stateTitle).join(", ")], ["for", listed(parts.objects)],
		["time", `${duration(parts.ns)}, ${shareOf(parts.ns, parts.all_ns)} of the time of all threads`]];
	const states: Column<ReportParts["states"][number]>[] = [
		{ title: "state", value: row => stateTitle(row.state) },
		{ title: "chosen time", value: row => row.ns, show: row => duration(row.ns), tip: row => exactNs(row.ns) },
		{ title: "of what is chosen", value: row => row.ns, show: row => shareOf(row.ns, parts.ns) },
		{ title: "of all of this state", value: row => row.ns / row.all_ns, show: row => shareOf(row.ns, row.all_ns) }];
	const waits: Column<ReportPartWait>[] = [
		{ title: "state", value: row => stateTitle(row.state) },
		{ title: "waited for", value: row => visible(row.object ?? "") },
		{ title: "chosen time", value: row => row.ns, show: row => duration(row.ns), tip: row => exactNs(row.ns) },
		{ title: "waits", value: row => row.waits, show: row => count(row.waits) }];
	const threads: Column<ReportPartThread>[] = [
		{ title: "thread", value: row => visible(row.name) },
		{ title: "chosen time", value: row => row.ns, show: row => duration(row.ns), tip: row => exactNs(row.ns) },
		{ title: "of it on a CPU", value: row => row.running_ns, show: row => duration(row.running_ns), tip: row => exactNs(row.running_ns) }];

	return <Section id="parts" title="Chosen parts" about="What threads did on these CPUs, and in waits after which they ran there next; in these executions of spans. All else in the report but activities is of all.">
		<dl class="figures">{asked.filter(([, figure]) => figure).map(([name, figure]) => <div key={name}><dt>{name}</dt><dd>{figure}</dd></div>)}</dl>
		<Table name="states" columns={states} rows={parts.states} />
		{parts.waits.length > 0 && <><h3>Waits</h3><Table name="waits" columns={waits} rows={parts.waits} /></>}
		{parts.waits_left_out_ns > 0 && <p class="muted">{duration(parts.waits_left_out_ns)} of other waits {"have"} no row.</p>}
		{parts.threads.length > 0 && <><h3>Threads</h3><Table name="threads" columns={threads} rows={parts.threads} /></>}
		{parts.threads_left_out > 0 && <p class="muted">{plural(parts.threads_left_out, "thread")} with less chosen time have no row.</p>}
	</Section>;
}
