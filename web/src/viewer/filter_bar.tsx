// SPDX-License-Identifier: GPL-2.0-or-later
// The filters of hosts, processes, threads and causes: what they choose is what the page is about.
import { plural } from "../format";
import { stateTitle } from "../states";
import { whoseNames } from "./chosen";
import { savedScripts } from "./scripts";
import type { Session } from "./session";
import { type FilterName, useStored } from "./store";

const PART_FILTERS: [FilterName, string, string, string][] = [
	["object", "Only waits for this", "lock, file, peer", "Waits for what is called so; everything else is pale"],
	["cpu", "Only this CPU", "CPU", "What ran on this CPU, and waits after which the thread ran there next; everything else is pale"],
	["span", "Only this span", "span, >1ms", "What threads did in executions of spans of this name, or longer than >1ms, shorter than <5ms; everything else is pale"],
];
const HINTS = { host: "host", process: "process or pid", thread: "thread or tid" };

/** The scripts that the browser has, and the one in use. */
function ScriptMenu({ session }: { session: Session }) {
	const script = useStored(session.store, state => state.script), saved = savedScripts(), names = [...new Set([...saved.keys(), ...script ? [script] : []])].sort();

	useStored(session.store, state => state);	// one may have been saved
	return names.length ? <select class="filter" aria-label="Script in use" value={script} data-tip="Its filter chooses events of the list, and its activities are in the graph"
		onKeyDown={event => event.stopPropagation()}
		onChange={({ currentTarget: { value } }) => value ? void session.scripts.start(value, saved.get(value) ?? "") : session.scripts.forget()}>
		<option value="">no script</option>
		{names.map(name => <option key={name} value={name} disabled={!saved.has(name)}>{name}</option>)}
	</select> : null;
}

export function FilterBar({ session }: { session: Session }) {
	const filters = useStored(session.store, state => state.filters), chosen = session.filteredThreads;
	const shown = whoseNames.filter(name => name !== "host" || session.trace.lanes.filter(lane => lane.kind === "host").length > 1);
	const set = (name: string, text: string) => session.store.set({ filters: { ...session.store.state.filters, [name]: text }, row: 0 });

	return <div class="choices" role="group" aria-label="Filter of the page"><span class="muted">Only</span>
		{shown.map(name => <input type="search" class="filter" key={name} value={filters[name] ?? ""} placeholder={HINTS[name]} aria-label={`Only this ${name}`}
			data-tip={`Graph, lists, report and what is saved are of these alone; several are separated by commas, and !name leaves out`}
			onInput={event => set(name, event.currentTarget.value)} onKeyDown={event => event.stopPropagation()} />)}
		<input type="search" class="filter" value={filters.cause ?? ""} placeholder="cause or state" aria-label="Only this cause" list="causes"
			data-tip="Other states are pale; sums, lists of waits and wake-ups are of these alone" onInput={event => set("cause", event.currentTarget.value)} onKeyDown={event => event.stopPropagation()} />
		<datalist id="causes">{session.trace.shares.map(name => <option key={name} value={stateTitle(name)} />)}</datalist>
		{PART_FILTERS.map(([name, label, hint, tip]) => <input type="search" class="filter" key={name} value={filters[name] ?? ""} placeholder={hint} aria-label={label} data-tip={tip}
			onInput={event => set(name, event.currentTarget.value)} onKeyDown={event => event.stopPropagation()} />)}
		<ScriptMenu session={session} />
		{chosen && <span class="muted" role="status">{plural(chosen.size, "thread")}</span>}
	</div>;
}
