// SPDX-License-Identifier: GPL-2.0-or-later
// The filters that are on, each with a button that takes it off, and what of the page does not follow them.
import { visible } from "../format";
import { partNames } from "./part_query";
import type { Session } from "./session";
import { type FilterName, filterNames, useStored } from "./store";

const TITLES: Record<FilterName, string> = { host: "host", cpu: "CPU", process: "process", thread: "thread", subsystem: "subsystem", event: "event", search: "text in the list", cause: "cause",
	object: "waited for", span: "span", longer: "length in the list" };

const EVERYTHING = "graph, sums, lists, report and what is saved";

const PARTS = "Graph with overview and curves, sums, waits, wake-ups, activities with a chosen part while they lasted";

/** Where each holds, and how. */
const REACH: Record<FilterName, string> = {
	host: EVERYTHING, process: EVERYTHING, thread: EVERYTHING,
	cpu: `${PARTS}, and events: what ran on the CPU, and waits after which the thread ran there next; the report has a section of these parts. What is saved as a trace does not follow`,
	subsystem: "Events; circles and messages of the graph: of a message, both events have to be chosen. The rest does not follow",
	event: "Events; circles and messages of the graph: of a message, both events have to be chosen. The rest does not follow",
	search: "The list that has this filter",
	cause: "Graph with overview and curves, sums, waits, wake-ups and the report. Events, activities and what is saved as a trace do not follow",
	object: `${PARTS}, and the report. Events and what is saved as a trace do not follow`,
	span: `${PARTS}, and events: what the threads of these executions did while they lasted; the report has a section of these parts. Circles and what is saved as a trace do not follow: for one execution, select its time`,
	longer: "Lists of what lasts, and the lengths of waits",
};

export function filterTitle(name: FilterName): string {
	return TITLES[name];
}

export function FiltersOn({ session }: { session: Session }) {
	const filters = useStored(session.store, state => state.filters), on = filterNames.filter(name => filters[name]?.trim());
	const off = (name: FilterName) => session.store.set({ filters: { ...session.store.state.filters, [name]: "" }, row: 0 });

	if (!on.length)
		return null;
	return <div class="choices filters-on" role="group" aria-label="Filters that are on"><span class="muted">Filters</span>
		{on.map(name => <button type="button" key={name} aria-label={`Take off the filter of ${TITLES[name]}: ${filters[name]}`} data-tip={`${REACH[name]}. A click takes it off`} onClick={() => off(name)}>
			{TITLES[name]}: {visible(filters[name]!)} <span aria-hidden="true">{"\u00d7"}</span></button>)}
		{on.length > 1 && <button type="button" onClick={() => session.store.set({ filters: {}, row: 0 })}>All off</button>}
		{on.some(name => partNames.includes(name)) && <span class="muted">Pale is what is not chosen{filters.object?.trim() ? "; CPUs do not wait" : ""}.</span>}
	</div>;
}
