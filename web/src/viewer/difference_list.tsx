// SPDX-License-Identifier: GPL-2.0-or-later
// The differences between two sides, as bars: for each name of threads and each state, how long on either side.
import { useEffect, useState } from "preact/hooks";
import { duration, exactNs, plural, signed, visible } from "../format";
import { Section, Swatch } from "../page";
import { colourOf, stateTitle } from "../states";
import { type Difference, differencesOf, rangeOfSide } from "./differences";
import { rangeWords } from "./graph";
import type { Pair } from "./pair";
import { isAborted } from "./server";
import { useStored } from "./store";

const SETTLED_MS = 200, FIRST = 20, MORE = 100, SIDES = ["A", "B"] as const;

/** Asked for again when what it is of is another time, or of others. */
function useDifferences(pair: Pair) {
	const [found, setFound] = useState<{ list: Difference[] | null; error: string }>({ list: null, error: "" });
	const of = useStored(pair.first.store, ({ filters, words }) => JSON.stringify([rangeOfSide(pair.first), rangeOfSide(pair.second), filters, words, pair.first.trace.key, pair.second.trace.key]));

	useEffect(() => {
		const abort = new AbortController();
		const timer = setTimeout(() => differencesOf(pair, abort.signal).then(list => setFound({ list, error: "" }),
			error => isAborted(error) || setFound({ list: null, error: String(error.message ?? error) })), SETTLED_MS);
		return () => {
			clearTimeout(timer);
			abort.abort();
		};
	}, [of]);
	return found;
}

function Line({ difference, longest_ns }: { difference: Difference; longest_ns: number }) {
	const { name, state, threads, ns, change_ns } = difference, only = !threads[0] ? "B" : !threads[1] ? "A" : null;

	return <tr data-name={name} data-state={state}>
		<td class="words">{visible(name)}{only ? <span class="muted"> only in {only}</span> : threads[0] !== threads[1] || threads[0] > 1 ? <span class="muted"> {`${threads[0]}, ${threads[1]} threads`}</span> : null}</td>
		<td><Swatch colour={colourOf(state)} />{stateTitle(state)}</td>
		{ns.map((one, side) => <td class="number" key={side} data-ns={one} data-tip={exactNs(one)}>{duration(one)}</td>)}
		<td class="number" data-ns={change_ns} data-tip={`${change_ns < 0 ? "\u2212" : "+"}${exactNs(Math.abs(change_ns))}`}>{signed(change_ns)}</td>
		<td class="bars" aria-hidden="true">{ns.map((one, side) => <span key={side} class="bar" style={{ width: `${100 * one / longest_ns}%`, minWidth: one ? "1px" : 0, background: `var(--${colourOf(state)})` }} />)}</td>
	</tr>;
}

export function DifferenceList({ pair }: { pair: Pair }) {
	const { list, error } = useDifferences(pair), [limit, setLimit] = useState(FIRST), longest_ns = Math.max(1, ...(list ?? []).flatMap(one => one.ns));
	const isSelection = useStored(pair.first.store, () => pair.first.store.selection !== null);
	const words = SIDES.map((side, i) => `${side} ${rangeWords(rangeOfSide(i ? pair.second : pair.first))}`).join("; ");

	return <Section id="differences" title="Differences" about={`${isSelection ? "Of the selected time" : "Of all the time"}: ${words}. Threads of the same name are added up, and the largest difference is first.`}>
		{error && <p role="alert">{error}</p>}
		{list && (list.length ? <div class="difference-box" tabIndex={0} role="region" aria-label="Table of differences"><table class="differences">
			<thead><tr><th scope="col">Threads</th><th scope="col">State</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th>
				<th scope="col" class="number">B &minus; A</th><th scope="col">A above, B below</th></tr></thead>
			<tbody>{list.slice(0, limit).map(one => <Line key={`${one.name} ${one.state}`} difference={one} longest_ns={longest_ns} />)}</tbody>
		</table></div> : <p class="muted">No thread that is looked at lived then.</p>)}
		{list && list.length > limit && <button type="button" onClick={() => setLimit(limit + MORE)}>{plural(list.length - limit, "smaller difference")}</button>}
	</Section>;
}
