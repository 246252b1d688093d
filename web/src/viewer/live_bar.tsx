// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of a trace that is recorded while it is looked at.
import { useEffect, useState } from "preact/hooks";
import { duration, share, size, visible } from "../format";
import type { Live } from "./live";
import { moment } from "./moment";
import type { Session } from "./session";
import { useStored } from "./store";
import type { Now } from "./trace";

function useNow(live: Live): { now: Now | null; isPaused: boolean } {
	const [, again] = useState(0);

	useEffect(() => live.on(() => again(n => n + 1)), [live]);
	return live;
}

/** How long the trace is: it may grow. */
export function Length({ session }: { session: Session }) {
	const whole = useStored(session.store, () => session.trace.whole_ns - session.trace.begin_ns);

	return <>{duration(whole)}</>;
}

function onDisk({ trace_bytes, budget_bytes, index_bytes }: Now): string {
	return `${budget_bytes ? `${size(trace_bytes)} of ${size(budget_bytes)}` : size(trace_bytes)} on disk, index ${size(index_bytes)}`;
}

function ended(now: Now): string {
	return now.exit_status === undefined ? "" : `The command has ended with exit status ${now.exit_status}.`;
}

function Phase({ now, isPaused }: { now: Now; isPaused: boolean }) {
	switch (now.phase) {
	case "recording": return <><strong class={isPaused ? "" : "recording"}>{isPaused ? "Paused, still recording" : now.exit_status === undefined ? "Recording" : "Ending"}</strong>{` ${visible(now.what ?? "")} `}
		<span class="muted">{onDisk(now)}</span></>;
	case "indexing": return <>{now.was_followed ? `${ended(now)} What is here can be used; names and the index of the whole come: ${share(now.done)}` : `What is here can be used; the index of the rest is being made: ${share(now.done)}`}</>;
	case "stopped": return <>{`What is here stays, and nothing more comes: ${visible(now.message ?? "")}. ${ended(now)}`}</>;
	default: return <>{ended(now)}</>;
	}
}

/** Not of a file that is whole. */
export function LiveBar({ session, live }: { session: Session; live: Live }) {
	const { now, isPaused } = useNow(live), isFollowing = useStored(session.store, state => state.follow !== null);

	if (!now || (now.phase === "whole" && now.exit_status === undefined && now.kept_from_ns === undefined))
		return null;
	return <div class="live">
		<span role="status"><Phase now={now} isPaused={isPaused} /></span>
		{now.kept_from_ns !== undefined && <span>{`The ring has overwritten what was before ${moment(now.kept_from_ns, 1e8)}.`}</span>}
		{now.phase === "recording" && <span class="choices" role="group" aria-label="While it is recorded">
			<button type="button" aria-pressed={isFollowing} data-tip="Stay at the end (E); dragging away ends that" onClick={() => isFollowing ? session.stay() : session.follow()}>Follow</button>
			<button type="button" aria-pressed={isPaused} data-tip="The picture stands still, the recording goes on (R)" onClick={() => live.pause(!isPaused)}>Pause</button>
			<a class="button" href="save" download data-tip="What there is by now, as a trace">Save</a>
		</span>}
	</div>;
}
