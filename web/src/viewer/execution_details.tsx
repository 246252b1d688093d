// SPDX-License-Identifier: GPL-2.0-or-later
// The execution that was clicked: what it did at that time, and where it is in the trace.
import { useEffect, useState } from "preact/hooks";
import { duration, exactNs, visible } from "../format";
import { Swatch } from "../page";
import { Stack } from "../stack";
import { colourOf, stateTitle } from "../states";
import type { Side } from "./execution_page";
import { type Executions, linkTo } from "./executions";
import { exactly } from "./moment";
import { isAborted, query } from "./server";
import { useStored } from "./store";
import type { Lane, SliceDetail } from "./trace";

interface Asked {
	detail?: SliceDetail;
	error?: string;
}

function useDetail({ session }: Side): Asked {
	const place = useStored(session.store, state => state.slice), [asked, setAsked] = useState<Asked>({});

	useEffect(() => {
		const abort = new AbortController();
		setAsked({});
		if (place)
			session.server.json<SliceDetail>(query("slice", { lane: place.lane, time: Math.round(place.time_ns) }), abort.signal)
				.then(detail => setAsked({ detail }), error => isAborted(error) || setAsked({ error: String(error.message ?? error) }));
		return () => abort.abort();
	}, [place?.lane, place?.time_ns]);
	return asked;
}

/** begin_ns: when the execution begins. */
function State({ detail, begin_ns }: { detail: SliceDetail; begin_ns: number }) {
	const { share, what, syscall, stack, waker } = detail;

	return <>
		<p class="what"><Swatch colour={colourOf(share)} /><b>{what ? visible(what) : stateTitle(share)}</b></p>
		<dl class="plain">
			<div><dt>state</dt><dd>{stateTitle(share)}</dd></div>
			<div><dt>thread</dt><dd>{visible(detail.who)}</dd></div>
			<div data-tip={exactNs(detail.end_ns - detail.begin_ns)}><dt>length</dt><dd>{duration(detail.end_ns - detail.begin_ns)}</dd></div>
			<div><dt>since</dt><dd>{exactly(detail.begin_ns - begin_ns)} of the execution</dd></div>
			{syscall && <div><dt>system call</dt><dd>{visible(syscall)}</dd></div>}
		</dl>
		{waker && <><h4>{share === "runnable" ? "Woken by" : "Ended by"}</h4><p>{visible(waker.who)}</p>{waker.stack.length > 0 && <Stack frames={waker.stack} />}</>}
		{stack.length > 0 && <><h4>Call path</h4>{detail.is_stack_of_another && <p class="muted">None was recorded of this wait: it is that of another one for the same.</p>}<Stack frames={stack} /></>}
	</>;
}

export function ExecutionDetails({ side, of, lanes, panel }: { side: Side; of: Executions; lanes: Map<number, Lane>; panel: { current: HTMLElement | null } }) {
	const { session, group } = side, place = useStored(session.store, state => state.slice), { detail, error } = useDetail(side);
	const execution = place ? group.members[place.lane - 1] : undefined;

	if (!place || execution === undefined)
		return null;
	const begin_ns = of.begins_ns[execution], length_ns = of.lengths_ns[execution], lane = lanes.get(of.threads[execution]);
	return <aside class="details" ref={panel} tabIndex={-1} aria-label={`Details of an execution of ${side.letter}`}>
		<button type="button" class="close" aria-label="Close the details" onClick={() => session.store.set({ slice: null })}>&times;</button>
		<h3>Execution #{execution + 1}</h3>
		<dl class="plain">
			<div data-tip={exactNs(length_ns)}><dt>duration</dt><dd>{duration(length_ns)}</dd></div>
			<div><dt>begins</dt><dd>{exactly(begin_ns)}</dd></div>
		</dl>
		<p><a href={linkTo(of, execution, lane, "events")}>In the trace</a>{" "}<a href={linkTo(of, execution, lane, "waits")}>Its waits</a></p>
		{error ? <p role="alert">{error}</p> : detail ? <State detail={detail} begin_ns={begin_ns} /> : <p class="muted">{"Asking\u2026"}</p>}
	</aside>;
}
