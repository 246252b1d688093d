// SPDX-License-Identifier: GPL-2.0-or-later
// What would be gained if waits like one took half the time: predicted by a replay.
import { useEffect, useRef, useState } from "preact/hooks";
import { duration, shareOf, visible } from "../format";
import { useRange } from "../range";
import type { ReportFrame, ResultWhatif } from "../report";
import { stateTitle } from "../states";
import { isAborted, query } from "./server";
import type { Session } from "./session";
import type { SliceDetail } from "./trace";

const SCALE = 0.5;

interface Changed {
	words: string;
	query: Record<string, string>;
}

/** The program's own function in which it waits. */
function ownFunction(stack: ReportFrame[]): string | null {
	const own = stack.find(frame => frame.function && !frame.is_kernel && frame.module !== "libc.so.6" && !/^\[|^ld-|^libpthread|^libstdc/.test(frame.module ?? "["));

	return own?.function ?? null;
}

/** The lock of this name, else the waits in this function, else all waits of this cause. */
function changeOf({ what, share, stack }: SliceDetail): Changed {
	const lock = /^(?:lock|mutex|rwlock|condition|semaphore|barrier) (?!in )(\S+)$/.exec(what)?.[1];
	const own = / in (.+)$/.exec(what)?.[1] ?? ownFunction(stack);

	if (lock)
		return { words: `waits for ${visible(lock)}`, query: { lock } };
	return own ? { words: `waits in ${visible(own)}`, query: { waits: own } } : { words: `all waits of the cause ${stateTitle(share)}`, query: { cause: share } };
}

export function WhatIf({ session, detail }: { session: Session; detail: SliceDetail }) {
	const [told, tell] = useState<ResultWhatif | string | null>(null), abort = useRef<AbortController | null>(null), selection = useRange();
	const change = changeOf(detail);
	const ask = () => {
		abort.current?.abort();
		abort.current = new AbortController();
		tell("");
		session.server.json<ResultWhatif>(query("whatif", { from: selection?.from_ns, to: selection?.to_ns, scale: SCALE, ...change.query }), abort.current.signal)
			.then(tell, error => isAborted(error) || tell(String(error.message ?? error)));
	};

	useEffect(() => () => abort.current?.abort(), []);
	return <>
		<h4>What if it were half</h4>
		<p class="muted">Predicted by a replay of {selection ? "the selected time" : "the whole trace"}, with {change.words} half as long.</p>
		{told === null ? <button type="button" onClick={ask}>Predict</button> : told === "" ? <p class="muted" role="status">{"Replaying\u2026"}</p>
			: typeof told === "string" ? <p role="alert">{told}</p>
			: told.predicted_ns === undefined ? <p>Nothing would change.</p>
			: <p role="status">{duration(told.recorded_ns)} would take <b>{duration(told.predicted_ns)}</b>
				{told.least_ns !== undefined && told.most_ns !== undefined && ` (${duration(told.least_ns)} to ${duration(told.most_ns)})`}: {
				shareOf(told.recorded_ns - told.predicted_ns, told.recorded_ns)} less.</p>}
	</>;
}
