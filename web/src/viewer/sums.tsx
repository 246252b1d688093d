// SPDX-License-Identifier: GPL-2.0-or-later
// How the threads that are looked at spent the selected time, or else what is seen: in which states, and how long their waits were.
import { useEffect, useState } from "preact/hooks";
import { CopyCsv } from "../csv";
import { Doughnut } from "../doughnut";
import { count, duration, exactNs, plural, shareOf, visible } from "../format";
import { Section, Swatch } from "../page";
import { useRange } from "../range";
import { colourOf, stateTitle } from "../states";
import { wantedOf } from "./event_filters";
import { rangeWords } from "./graph";
import { LengthBoxes, Lengths } from "./lengths";
import { type PartQuery, partsOf, partText } from "./part_query";
import { rowKinds, WHOLE_WAITS } from "./row_kinds";
import { isAborted, query } from "./server";
import type { Session } from "./session";
import { useStored } from "./store";
import { rangesOf } from "./tiles";
import type { Stretch, WaitLengths } from "./trace";

const REST_MS = 250, AGAIN_MS = 40, LANES_AT_ONCE = 500;

interface Sums {
	ns: number[];			// by numbers of shares, of the chosen parts
	whole_ns: number;		// of all parts
	waits: WaitLengths;
}

/** Lanes whose sums are those of all threads that are looked at, none of which counts twice. */
function lanesOf(session: Session): number[] {
	const threads = session.reportedThreads;

	return threads ? threads.map(thread => session.tree.laneOfThread.get(thread)).filter(lane => lane !== undefined)
		: session.trace.lanes.filter(lane => lane.parent < 0 && lane.kind !== "cpu").map(lane => lane.id);
}

async function statesOf(session: Session, from: number, to: number, parts: PartQuery, signal: AbortSignal): Promise<number[]> {
	const ids = lanesOf(session).sort((a, b) => a - b), sums: number[] = session.trace.shares.map(() => 0);

	for (let i = 0; i < ids.length; i += LANES_AT_ONCE) {
		const got = await session.server.json<Stretch>(query("stretch", { from, to, lanes: rangesOf(ids.slice(i, i + LANES_AT_ONCE)), ...parts }), signal);
		for (const { ns } of got.lanes)
			ns.forEach((more, share) => { sums[share] += more; });
	}
	return sums;
}

/** As long as waits are not all found, the server looks for more with each question. */
async function waitsOf(session: Session, from: number, to: number, signal: AbortSignal): Promise<WaitLengths> {
	const kind = rowKinds.find(one => one.name === "waits")!, { filters } = session.store.state;
	const path = query("waits/lengths", wantedOf(kind, session.trace, filters, { from_ns: from, to_ns: to }, session.boxedThreads));

	for (;;) {
		const got = await session.server.json<WaitLengths>(path, signal);
		if (got.is_counted)
			return got;
		await new Promise(resolve => setTimeout(resolve, AGAIN_MS));
	}
}

function useSums(session: Session) {
	const selection = useRange(), [sums, setSums] = useState<Sums | null>(null), [error, setError] = useState("");
	const view = useStored(session.store, () => `${session.view.from_ns} ${session.view.to_ns}`).split(" ").map(Number);
	const filters = useStored(session.store, state => state.filters), boxed = useStored(session.store, state => state.boxed);
	const [from, to] = selection ? [Math.round(selection.from_ns), Math.round(selection.to_ns)] : view.map(Math.round);

	useEffect(() => {
		const abort = new AbortController();
		const timer = setTimeout(() => Promise.all([statesOf(session, from, to, {}, abort.signal), partText(filters) ? statesOf(session, from, to, partsOf(filters), abort.signal) : null, waitsOf(session, from, to, abort.signal)])
			.then(([all, chosen, waits]) => { setSums({ ns: chosen ?? all, whole_ns: all.reduce((sum, one) => sum + one, 0), waits }); setError(""); }, failed => isAborted(failed) || setError(String(failed.message ?? failed))), REST_MS);
		return () => {
			clearTimeout(timer);
			abort.abort();
		};
	}, [session, from, to, filters, boxed]);
	return { sums, error, range: { from_ns: from, to_ns: to }, isSelected: selection !== null };
}

function States({ session, ns, whole }: { session: Session; ns: number[]; whole: number }) {
	const chosen = session.chosenShares, isChosen = (share: number) => chosen === null || (chosen >>> share & 1) === 1;
	const used = ns.map((value, share) => ({ value, share, name: session.trace.shares[share] })).filter(({ value, share }) => value > 0 && isChosen(share));
	const others = whole - used.reduce((sum, { value }) => sum + value, 0);

	used.sort((a, b) => b.value - a.value);
	if (others > 0)
		used.push({ value: others, share: -1, name: "not chosen" });
	return <div class="shares">
		<Doughnut label="How the threads spent the time" unit="in all" shares={used.map(({ name, value }) => ({ name: stateTitle(name), value, colour: colourOf(name), tip: exactNs(value) }))} />
		<div>
			<CopyCsv of="the time by state" make={() => ({ titles: ["state", "time (ns)"], rows: used.map(({ name, value }) => [name, value]) })} />
			<ul class="slices">{used.map(({ name, value }) => <li key={name} data-tip={exactNs(value)}>
				<Swatch colour={colourOf(name)} /><span>{stateTitle(name)}</span><b>{shareOf(value, whole)}</b><span class="number">{duration(value)}</span></li>)}</ul>
		</div>
	</div>;
}

function Waits({ session, waits }: { session: Session; waits: WaitLengths }) {
	if (!waits.count)
		return <p class="muted">No wait begins in it.</p>;
	return <>
		<h3>Time waited, by the length of the waits</h3>
		<p class="muted">{plural(waits.count, "wait")}, {duration(waits.ns)} in all{waits.left_out > 0 && `; ${count(waits.left_out)} more are not counted: choose a shorter time`}.{session.store.state.filters.span?.trim() ? ` ${WHOLE_WAITS}` : ""}</p>
		<Lengths lengths={waits.lengths} />
		<LengthBoxes boxes={waits.boxes} onChoose={thread => session.store.set({ focus: session.tree.laneOfThread.get(thread) ?? null })} />
		{waits.box_left_out > 0 && <p class="muted">{plural(waits.box_left_out, "thread")} that waited for a shorter time have no box.</p>}
	</>;
}

export function SumsOfSelection({ session }: { session: Session }) {
	const { sums, error, range, isSelected } = useSums(session), filters = useStored(session.store, state => state.filters);

	return <Section id="sums" title={isSelected ? "Sums of the selection" : "Sums"} about={`How ${session.reportedThreads ? plural(session.reportedThreads.length, "thread") : "all threads"} spent ${
		rangeWords(range)}; waits are those that begin then${filters.object ? `, for ${visible(filters.object)}` : ""}${filters.cpu ? `, after which the thread ran on CPU ${visible(filters.cpu)}` : ""}${filters.span ? `, within spans ${visible(filters.span)}` : ""}${filters.longer ? ", and are as long as the list's" : ""}.`}>
		{error && <p role="alert">The sums cannot be made: {error}</p>}
		{sums ? <><States session={session} ns={sums.ns} whole={sums.whole_ns} /><Waits session={session} waits={sums.waits} /></> : !error && <p class="muted">{"Asking\u2026"}</p>}
	</Section>;
}
