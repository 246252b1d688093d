// SPDX-License-Identifier: GPL-2.0-or-later
// How long an execution of each group spent in each state, on average: of the selected time since their beginnings, or of all of it.
import { useEffect, useState } from "preact/hooks";
import { duration, exactNs, signed } from "../format";
import { Section, Swatch } from "../page";
import { colourOf, stateTitle } from "../states";
import type { ExecutionPair } from "./execution_pair";
import type { Side } from "./execution_page";
import { rangeWords } from "./graph";
import { isAborted } from "./server";
import { useStored } from "./store";
import { stretchOfLanes } from "./stretches";

const SETTLED_MS = 200;

interface Mean {
	state: string;
	ns: [number, number];
}

/** The largest difference comes first. */
async function meansOf(pair: ExecutionPair, sides: Side[], signal: AbortSignal): Promise<Mean[]> {
	const range = pair.first.store.selection ?? pair.whole(pair.first), [a, b] = await Promise.all(sides.map(async ({ session, group }) =>
		(await stretchOfLanes(session.server, range, [0], {}, signal)).lanes[0].ns.map(ns => ns / Math.max(1, group.drawn))));

	return pair.first.trace.shares.map((state, share): Mean => ({ state, ns: [a[share], b[share]] })).filter(({ ns }) => ns[0] || ns[1])
		.sort((one, other) => Math.abs(other.ns[1] - other.ns[0]) - Math.abs(one.ns[1] - one.ns[0]));
}

function useMeans(pair: ExecutionPair, sides: Side[]) {
	const [found, setFound] = useState<{ list: Mean[]; error: string }>({ list: [], error: "" });
	const of = useStored(pair.first.store, () => JSON.stringify(pair.first.store.selection));

	useEffect(() => {
		const abort = new AbortController(), timer = setTimeout(() => meansOf(pair, sides, abort.signal).then(list => setFound({ list, error: "" }),
			error => isAborted(error) || setFound({ list: [], error: String(error.message ?? error) })), SETTLED_MS);
		return () => {
			clearTimeout(timer);
			abort.abort();
		};
	}, [of, pair]);
	return found;
}

export function ExecutionSums({ pair, sides }: { pair: ExecutionPair; sides: Side[] }) {
	const { list, error } = useMeans(pair, sides), selection = useStored(pair.first.store, () => JSON.stringify(pair.first.store.selection)), longest_ns = Math.max(1, ...list.flatMap(({ ns }) => ns));
	const chosen = useStored(pair.first.store, () => pair.first.chosenShares), isChosen = (state: string) => chosen === null || (chosen >>> pair.first.trace.shares.indexOf(state) & 1) === 1;
	const range = selection === "null" ? null : pair.first.store.selection, sampled = sides.filter(({ group }) => group.drawn < group.members.length);

	return <Section id="sums" title="Sums" about={`An execution on average, ${range ? `from ${rangeWords(range)} since its beginning` : "all of it"}: how much of it was spent how.${
		sampled.map(({ letter, group }) => ` ${letter}: of ${group.drawn} executions, evenly chosen among ${group.members.length}.`).join("")}`}>
		{error && <p role="alert">{error}</p>}
		<div class="difference-box" tabIndex={0} role="region" aria-label="Table of sums"><table class="differences">
			<thead><tr><th scope="col">State</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">B &minus; A</th><th scope="col">A above, B below</th></tr></thead>
			<tbody>{list.filter(({ state }) => isChosen(state)).map(({ state, ns }) => <tr key={state} data-state={state}>
				<td><Swatch colour={colourOf(state)} />{stateTitle(state)}</td>
				{ns.map((one, side) => <td class="number" key={side} data-ns={one} data-tip={exactNs(Math.round(one))}>{duration(Math.round(one))}</td>)}
				<td class="number">{signed(Math.round(ns[1] - ns[0]))}</td>
				<td class="bars" aria-hidden="true">{ns.map((one, side) => <span key={side} class="bar" style={{ width: `${100 * one / longest_ns}%`, minWidth: one ? "1px" : 0, background: `var(--${colourOf(state)})` }} />)}</td>
			</tr>)}</tbody>
		</table></div>
	</Section>;
}
