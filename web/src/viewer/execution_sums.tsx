// SPDX-License-Identifier: GPL-2.0-or-later
// How long an execution of each group spent in each state, on average, and whether that may be chance: of the selected time since their beginnings,
// or of all of it. And which threads they are of.
import { useEffect, useState } from "preact/hooks";
import { duration, exactNs, signed } from "../format";
import { Section, Swatch } from "../page";
import { colourOf, stateTitle } from "../states";
import type { ExecutionPair } from "./execution_pair";
import { ExecutionThreads } from "./execution_threads";
import type { Side } from "./execution_page";
import { rangeWords } from "./graph";
import { isAborted, query } from "./server";
import { useStored } from "./store";
import type { Means, Sample } from "./trace";

const SETTLED_MS = 200;

const SIGNIFICANT = 0.05;

interface Mean {
	state: string;
	ns: [number, number];
	error_ns: [number, number];		// standard errors of both
	change_ns: number;
	p: number | null;				// null: not known
}

/** Of a mean of a sample. */
function errorOf({ n, deviation }: Sample): number {
	return n > 1 ? deviation / Math.sqrt(n) : 0;
}

/** The largest difference comes first. */
async function meansOf(pair: ExecutionPair, sides: Side[], signal: AbortSignal): Promise<Mean[]> {
	const { from_ns, to_ns } = pair.first.store.selection ?? pair.whole(pair.first), [a, b] = sides;
	const { states } = await a.session.server.json<Means>(query("means", { other: b.group.number, from: Math.round(from_ns), to: Math.round(to_ns) }), signal);

	return states.map(({ share, first, second, change, p }): Mean => ({ state: pair.first.trace.shares[share], ns: [first.mean, second.mean], error_ns: [errorOf(first), errorOf(second)], change_ns: change, p }))
		.sort((one, other) => Math.abs(other.change_ns) - Math.abs(one.change_ns));
}

/** What Welch's t-test says of a difference, corrected for all states. */
function chanceWords(p: number | null): string {
	return p === null ? "\u2013" : p < 0.001 ? "< 0.001" : p.toFixed(3);
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

	return <Section id="sums" title="Sums" about={`An execution on average, ${range ? `from ${rangeWords(range)} since its beginning` : "all of it"}: how much of it was spent how, with standard errors, and the probability of such a difference by chance.${
		sampled.map(({ letter, group }) => ` ${letter}: of ${group.drawn} executions, evenly chosen among ${group.members.length}.`).join("")}`}>
		{error && <p role="alert">{error}</p>}
		<div class="difference-box" tabIndex={0} role="region" aria-label="Table of sums"><table class="differences">
			<thead><tr><th scope="col">State</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">B &minus; A</th><th scope="col" class="number">p</th><th scope="col">A above, B below</th></tr></thead>
			<tbody>{list.filter(({ state }) => isChosen(state)).map(({ state, ns, error_ns, change_ns, p }) => <tr key={state} data-state={state}>
				<td><Swatch colour={colourOf(state)} />{stateTitle(state)}</td>
				{ns.map((one, side) => <td class="number" key={side} data-ns={one} data-error={error_ns[side]} data-tip={`${exactNs(Math.round(one))}\nstandard error ${exactNs(Math.round(error_ns[side]))}`}>
					{duration(Math.round(one))} <span class="muted">&plusmn; {duration(Math.round(error_ns[side]))}</span></td>)}
				<td class="number">{signed(Math.round(change_ns))} <span class="muted">&plusmn; {duration(Math.round(Math.hypot(...error_ns)))}</span></td>
				<td class="number" data-p={p ?? ""} data-tip={p === null || p < SIGNIFICANT ? undefined : "may be chance"}>{chanceWords(p)}</td>
				<td class="bars" aria-hidden="true">{ns.map((one, side) => <span key={side} class="bar" style={{ width: `${100 * one / longest_ns}%`, minWidth: one ? "1px" : 0, background: `var(--${colourOf(state)})` }} />)}</td>
			</tr>)}</tbody>
		</table></div>
		<ExecutionThreads sides={sides} />
	</Section>;
}
