// SPDX-License-Identifier: GPL-2.0-or-later
// All waits like one: how long they are, and the longest ones.
import { useEffect, useState } from "preact/hooks";
import { duration, exactNs, plural, visible } from "../format";
import { useRange } from "../range";
import { rangeWords } from "./graph";
import { Jump } from "./jump";
import { Lengths } from "./lengths";
import { exactly } from "./moment";
import { isAborted, query } from "./server";
import type { Session } from "./session";
import type { Alike, Place } from "./trace";

const REST_MS = 200, LONGEST = 10;

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
			{alike.lengths.length > 0 && <Lengths lengths={alike.lengths} />}
			<ol class="longest">{alike.longest.slice(0, LONGEST).map((wait, i) => <li key={i}>
				<Jump session={session} lane={session.tree.laneOfThread.get(wait.thread)} begin_ns={wait.begin_ns} end_ns={wait.end_ns}>
					{`${duration(wait.end_ns - wait.begin_ns)}, ${visible(wait.who)} at ${exactly(wait.begin_ns)}`}</Jump>
				{wait.ended_by && <span class="muted"> ended by {visible(wait.ended_by)}</span>}</li>)}</ol>
		</>}
	</>;
}
