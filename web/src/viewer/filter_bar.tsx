// SPDX-License-Identifier: GPL-2.0-or-later
// The filters of hosts, processes and threads: what they choose is what the whole page is about.
import { plural } from "../format";
import { whoseNames } from "./chosen";
import type { Session } from "./session";
import { useStored } from "./store";

const HINTS = { host: "host", process: "process or pid", thread: "thread or tid" };

export function FilterBar({ session }: { session: Session }) {
	const filters = useStored(session.store, state => state.filters), chosen = session.filteredThreads;
	const shown = whoseNames.filter(name => name !== "host" || session.trace.lanes.filter(lane => lane.kind === "host").length > 1);
	const set = (name: string, text: string) => session.store.set({ filters: { ...session.store.state.filters, [name]: text }, row: 0 });

	return <div class="choices" role="group" aria-label="Filter of the page"><span class="muted">Only</span>
		{shown.map(name => <input type="search" class="filter" key={name} value={filters[name] ?? ""} placeholder={HINTS[name]} aria-label={`Only this ${name}`}
			data-tip={`Graph, lists, report and what is saved are of these alone; several are separated by commas`}
			onInput={event => set(name, event.currentTarget.value)} onKeyDown={event => event.stopPropagation()} />)}
		{chosen && <span class="muted" role="status">{plural(chosen.size, "thread")}</span>}
	</div>;
}
