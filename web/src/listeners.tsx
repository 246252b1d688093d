// SPDX-License-Identifier: GPL-2.0-or-later
// Sockets at which connections are taken: how many waited there, and how many were dropped.
import { times, words } from "./columns";
import { count } from "./format";
import { Section } from "./page";
import { type Column, Table } from "./table";
import type { Report, ReportListener } from "./report";

const columns: Column<ReportListener>[] = [
	words("process", l => `${l.name} ${l.pid}`), words("address", l => l.address, true),
	{ title: "processes", value: l => l.processes, show: l => count(l.processes) },
	times("dropped", l => l.drops),
	{ title: "waiting", value: l => l.waiting, show: l => l.waiting.toFixed(1) },
	{ title: "most", value: l => l.waiting_max, show: l => count(l.waiting_max) },
	{ title: "can wait", value: l => l.capacity, show: l => count(l.capacity) },
];

export function Listeners({ report }: { report: Report }) {
	if (!report.listeners.length)
		return null;
	return <Section id="listeners" title="Accept queues" isHeavy
		about="Connections that waited to be accepted, as seen up to ten times a second; dropped ones are counted all the time.">
		<Table name="accept queues" columns={columns} rows={report.listeners} sort={3} />
	</Section>;
}
