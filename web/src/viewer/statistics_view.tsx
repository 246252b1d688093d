// SPDX-License-Identifier: GPL-2.0-or-later
// What the script in use says of all events together: a chart and a table for each of its statistics.
import { useMemo } from "preact/hooks";
import { count, duration, plural, share, visible } from "../format";
import { useRange } from "../range";
import { type Column, Table } from "../table";
import type { Session } from "./session";
import { figure, StatisticsChart } from "./statistics_chart";
import { type StatisticsCell, type StatisticsTable, type Unit, useStatistics } from "./statistics";

const UNITS: Record<NonNullable<Unit>, string> = { ns: "ns", bytes: "bytes", count: "" };

function columnsOf(table: StatisticsTable): Column<StatisticsCell[]>[] {
	return table.columns.map(({ name, unit }, i) => ({ title: visible(name), unit: unit ? UNITS[unit] : undefined, value: row => row[i], show: row => figure(row[i], unit), isWide: i === 0 }));
}

function leftOut(table: StatisticsTable): string {
	return [table.rows_left_out ? `${plural(table.rows_left_out, "row")} ${table.rows_left_out === 1 ? "is" : "are"} left out.` : "",
		table.texts_cut ? `${plural(table.texts_cut, "text")} ${table.texts_cut === 1 ? "is" : "are"} cut.` : ""].filter(Boolean).join(" ");
}

function One({ table }: { table: StatisticsTable }) {
	const columns = useMemo(() => columnsOf(table), [table]), said = leftOut(table), figures = <Table name={visible(table.title)} columns={columns} rows={table.rows} />;

	return <div class="statistics-table">
		<h3>{visible(table.title)}</h3>
		<StatisticsChart table={table} />
		{table.show === "table" ? figures : <details><summary>As a table</summary>{figures}</details>}
		{said && <p class="muted">{said}</p>}
	</div>;
}

/** What the statistics are of. */
function useWords(isOfAll: boolean): string {
	const selection = useRange();

	return isOfAll ? "Of all events." : selection ? `Of the selected ${duration(selection.to_ns - selection.from_ns)}, and of what the filters choose.` : "Of what the filters choose.";
}

export function StatisticsOfScript({ session }: { session: Session }) {
	const { made, start, isWanted, isStale, isOfAll } = useStatistics(session), words = useWords(isOfAll), { whole_ns, is_live } = session.trace;

	if (!isWanted)
		return null;
	return <div class="statistics" aria-label="Statistics of the script" role="group">
		<div class="choices">
			<p role="status" class="muted">{made.isRunning ? `Computing: ${share(Math.min(1, made.done_ns / Math.max(1, whole_ns)))} of the time`
				: made.tables === null ? "" : isStale ? "The statistics are of other filters or of another time." : `${words}${is_live ? ` Up to ${duration(made.until_ns)}.` : ""}`}</p>
			{!made.isRunning && (isStale || made.error) && <button type="button" onClick={start} data-tip={words}>Compute</button>}
		</div>
		{made.error && <p role="alert">{made.error}</p>}
		{made.notes.filter(note => note.startsWith("script error: ") || / left out/.test(note)).map(note => <p key={note} class="muted">{visible(note)}</p>)}
		{made.tables?.map((table, i) => <One key={`${i} ${table.title} ${count(table.columns.length)}`} table={table} />)}
	</div>;
}
