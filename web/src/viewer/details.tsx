// SPDX-License-Identifier: GPL-2.0-or-later
// What a thread did at a place: what it waited for, who ended that, the way to the cause, and the waits alike.
import { useEffect, useState } from "preact/hooks";
import { duration, exactNs, plural, shareOf, visible } from "../format";
import { Swatch } from "../page";
import type { ResultPath, ResultPathPart } from "../report";
import { Stack } from "../stack";
import { colourOf, stateOfKind, stateTitle } from "../states";
import { AlikeWaits } from "./alike";
import { Jump } from "./jump";
import { titleOf } from "./lanes";
import { exactly } from "./moment";
import { isAborted, query } from "./server";
import type { Session } from "./session";
import { useStored } from "./store";
import type { Place, SliceDetail } from "./trace";
import { WhatIf } from "./what_if";

const STEPS_SHOWN = 40;

/** No wait for something. */
const runs = ["running", "spinning", "unknown"];

interface Asked {
	place: Place;
	detail?: SliceDetail;
	error?: string;
}

function useDetail(session: Session, place: Place | null): Asked | null {
	const [asked, setAsked] = useState<Asked | null>(null);
	const [again, setAgain] = useState(0);

	useEffect(() => session.server.onConnection(() => session.server.connection === "there" && setAgain(n => n + 1)), [session]);
	useEffect(() => {
		const abort = new AbortController();
		if (!place) {
			setAsked(null);
			return;
		}
		setAsked({ place });
		session.server.json<SliceDetail>(query("slice", { lane: place.lane, thread: session.trace.lanes[place.lane]?.thread, time: Math.round(place.time_ns) }), abort.signal)
			.then(detail => setAsked({ place, detail }), error => isAborted(error) || setAsked({ place, error: String(error.message ?? error) }));
		return () => abort.abort();
	}, [place?.lane, place?.time_ns, again]);
	return asked;
}

/** Of a thread that was ready: why it did not run. */
function CpuUsers({ session, detail }: { session: Session; detail: SliceDetail }) {
	const { users, cpu, begin_ns, end_ns } = detail, unknown_ns = users ? end_ns - begin_ns - users.reduce((sum, { ns }) => sum + ns, 0) : 0;

	if (!users?.length)
		return null;
	return <>
		<h4>Who had CPU {cpu} meanwhile</h4>
		<ol class="users">{users.map(({ thread, who, ns }) => <li key={who}>
			<Jump session={session} lane={session.tree.laneOfThread.get(thread)} begin_ns={begin_ns} end_ns={end_ns}>{visible(who)}</Jump>
			{" "}<span class="number" data-tip={exactNs(ns)}>{duration(ns)}, {shareOf(ns, end_ns - begin_ns)}</span></li>)}
			{unknown_ns > 0 && <li>others, or not known <span class="number" data-tip={exactNs(unknown_ns)}>{duration(unknown_ns)}, {shareOf(unknown_ns, end_ns - begin_ns)}</span></li>}</ol>
	</>;
}

function Waker({ session, detail }: { session: Session; detail: SliceDetail }) {
	const { waker, end_ns } = detail;

	if (!waker)
		return null;
	return <>
		<h4>{detail.share === "runnable" ? "Woken by" : "Ended by"}</h4>
		<p><Jump session={session} lane={session.tree.laneOfThread.get(waker.thread)} begin_ns={end_ns - 1} end_ns={end_ns}>{visible(waker.who)}</Jump></p>
		{waker.stack.length > 0 && <Stack frames={waker.stack} />}
	</>;
}

/** Each leads to its lane. */
function PathSteps({ session, path }: { session: Session; path: ResultPath }) {
	const [shown, show] = useState(STEPS_SHOWN), { parts } = path, offset_ns = session.trace.first_ns;
	const whole_ns = path.sums.reduce((sum, part) => sum + part.ns, 0);
	const words = (part: ResultPathPart) => `${visible(part.who)} ${visible(part.what)}${part.end ? `, ended by ${visible(part.end)}` : ""}`;

	if (!parts.length)
		return null;
	return <>
		<h4>The way to its cause</h4>
		<p class="muted">What it could not go on without, moment by moment. Each step leads to its lane.</p>
		<ol class="steps">{parts.slice(0, shown).map((part, i) => <li key={i} data-tip={`${exactNs(part.end_ns - part.begin_ns)} since ${exactly(part.begin_ns - offset_ns)}`}
			style={{ paddingLeft: `${Math.min(part.depth, 6) * 12}px` }}>
			<Swatch colour={colourOf(stateOfKind(part.kind))} />
			<Jump session={session} lane={session.tree.laneOfThread.get(part.thread)} begin_ns={part.begin_ns - offset_ns} end_ns={part.end_ns - offset_ns}>{words(part)}</Jump>
			<span class="number">{duration(part.end_ns - part.begin_ns)} <b>{shareOf(part.end_ns - part.begin_ns, whole_ns)}</b></span>
		</li>)}</ol>
		{parts.length > shown && <button type="button" onClick={() => show(parts.length)}>All {plural(parts.length, "step")}</button>}
		{path.left_out ? <p class="muted">{plural(path.left_out, "part")}, none longer than these, are not in the list.</p> : null}
		{path.sums.length > 1 && <><h4>In sum</h4>
			<ul class="sums">{path.sums.slice(0, 8).map((sum, i) => <li key={i} data-tip={`${plural(sum.count, "time")}, the longest ${duration(sum.max_ns)}`}>
				<span>{visible(sum.who)} {visible(sum.what)}</span><b>{shareOf(sum.ns, whole_ns)}</b><span class="muted number">{duration(sum.ns)}</span></li>)}</ul></>}
	</>;
}

function Found({ session, place, detail }: { session: Session; place: Place; detail: SliceDetail }) {
	const { begin_ns, end_ns, what, share, syscall, cpu, stack } = detail;

	return <>
		<p class="what"><Swatch colour={colourOf(share)} /><b>{what ? visible(what) : stateTitle(share)}</b></p>
		<dl class="plain">
			<div><dt>state</dt><dd>{stateTitle(share)}</dd></div>
			<div data-tip={exactNs(end_ns - begin_ns)}><dt>length</dt><dd>{duration(end_ns - begin_ns)}</dd></div>
			<div><dt>since</dt><dd>{exactly(begin_ns)}</dd></div>
			<div><dt>until</dt><dd>{exactly(end_ns)}</dd></div>
			{syscall && <div><dt>system call</dt><dd>{visible(syscall)}</dd></div>}
			{cpu !== undefined && <div><dt>CPU</dt><dd>{cpu}</dd></div>}
		</dl>
		<div class="choices">
			<button type="button" onClick={() => session.reveal(place.lane, begin_ns, end_ns)}>Show</button>
			<button type="button" onClick={() => session.select({ from_ns: begin_ns, to_ns: end_ns })}>Select its time</button>
		</div>
		<CpuUsers session={session} detail={detail} /><Waker session={session} detail={detail} />
		{stack.length > 0 && <><h4>Call path</h4>
			{detail.is_stack_of_another && <p class="muted">None was recorded of this wait: it is that of another one for the same.</p>}
			<Stack frames={stack} /></>}
		{detail.path && <PathSteps session={session} path={detail.path} />}
		{!runs.includes(share) && <>{share !== "runnable" && <AlikeWaits session={session} place={place} />}
			<WhatIf key={`${place.lane} ${begin_ns}`} session={session} detail={detail} /></>}
	</>;
}

export function Details({ session, panel }: { session: Session; panel: { current: HTMLElement | null } }) {
	const place = useStored(session.store, state => state.slice), asked = useDetail(session, place);
	const lane = session.lane(place?.lane ?? null);

	if (!place || !asked)
		return null;
	return <aside class="details" ref={panel} tabIndex={-1} aria-label="Details of the slice">
		<button type="button" class="close" aria-label="Close the details" onClick={() => session.store.set({ slice: null })}>&times;</button>
		<h3>{lane ? titleOf(lane) : "A thread that this trace has not"}</h3>
		{asked.error ? <p role="alert">{asked.error}</p> : !asked.detail ? <p class="muted">{"Asking\u2026"}</p>
			: <Found session={session} place={place} detail={asked.detail} />}
	</aside>;
}
