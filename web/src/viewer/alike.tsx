// SPDX-License-Identifier: GPL-2.0-or-later
// All waits like one: how long they are, and the longest ones.
import { useEffect, useState } from "preact/hooks";
import { duration, exactNs, plural, visible } from "../format";
import { LogAxis, logScale } from "../log_axis";
import { useWidth } from "../page";
import { useRange } from "../range";
import { rangeWords } from "./graph";
import { Jump } from "./jump";
import { exactly } from "./moment";
import { isAborted, query } from "./server";
import type { Session } from "./session";
import type { Alike, Place } from "./trace";

const REST_MS = 200, HEIGHT_PX = 80, AXIS_PX = 22, SIDE_PX = 18, STEP = 2 ** 0.25, LONGEST = 10;

function Lengths({ alike }: { alike: Alike }) {
	const { ref, width } = useWidth<HTMLDivElement>(), { lengths } = alike;
	const most = Math.max(1, ...lengths.map(length => length.ns)), last = lengths[lengths.length - 1];
	const scale = logScale(lengths[0].up_to_ns / STEP, last.up_to_ns, SIDE_PX, Math.max(1, width - 2 * SIDE_PX));

	return <div ref={ref} class="drawn"><svg width={width} height={HEIGHT_PX + AXIS_PX} role="img" aria-label="Time waited, by the length of the waits">
		<LogAxis scale={scale} y={HEIGHT_PX} height={HEIGHT_PX} />
		{lengths.map(({ up_to_ns, count, ns }) => {
			const left = scale.x(up_to_ns / STEP), height = count ? Math.max(1, ns / most * (HEIGHT_PX - 4)) : 0;
			return <rect key={up_to_ns} x={left} y={HEIGHT_PX - height} width={Math.max(1, scale.x(up_to_ns) - left - 0.5)} height={height} class="c-lock"
				data-tip={`up to ${duration(up_to_ns)}: ${plural(count, "wait")}, ${duration(ns)} in all`} />;
		})}
	</svg></div>;
}

/** Of the selected time, else of the whole trace. */
export function AlikeWaits({ session, place }: { session: Session; place: Place }) {
	const [alike, setAlike] = useState<Alike | null>(null), [error, setError] = useState(""), selection = useRange();
	const { from_ns, to_ns } = selection ?? session.whole;

	useEffect(() => {
		const abort = new AbortController();
		const timer = setTimeout(() => session.server.json<Alike>(query("alike", { lane: place.lane, thread: session.trace.lanes[place.lane]?.thread, time: Math.round(place.time_ns),
			from: from_ns, to: to_ns }), abort.signal).then(setAlike, failed => isAborted(failed) || setError(String(failed.message ?? failed))), REST_MS);
		setAlike(null);
		setError("");
		return () => {
			clearTimeout(timer);
			abort.abort();
		};
	}, [place.lane, place.time_ns, from_ns, to_ns]);
	return <>
		<h4>All waits like this</h4>
		{error ? <p class="muted">{error}</p> : !alike ? <p class="muted">{"Looking for them\u2026"}</p> : <>
			<p data-tip={exactNs(alike.ns)}>{plural(alike.count, "wait")} for {visible(alike.what)}, {duration(alike.ns)} in all
				{alike.is_cut || selection ? `, from ${rangeWords(alike)}` : ""}.</p>
			{alike.is_cut && <p class="muted">There may be more behind that: select a shorter stretch of time.</p>}
			{alike.lengths.length > 0 && <Lengths alike={alike} />}
			<ol class="longest">{alike.longest.slice(0, LONGEST).map((wait, i) => <li key={i}>
				<Jump session={session} lane={session.tree.laneOfThread.get(wait.thread)} begin_ns={wait.begin_ns} end_ns={wait.end_ns}>
					{`${duration(wait.end_ns - wait.begin_ns)}, ${visible(wait.who)} at ${exactly(wait.begin_ns)}`}</Jump>
				{wait.ended_by && <span class="muted"> ended by {visible(wait.ended_by)}</span>}</li>)}</ol>
		</>}
	</>;
}
