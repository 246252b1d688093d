// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics that the script in use makes, of the events that the filters choose in the selected time: asked for again while the server computes them.
import { useEffect, useRef, useState } from "preact/hooks";
import { useRange } from "../range";
import { wantedOf } from "./event_filters";
import type { Wanted } from "./event_rows";
import { rowKinds } from "./row_kinds";
import { isAborted, query, Refusal } from "./server";
import type { Session } from "./session";
import { useStored } from "./store";

export type Unit = "ns" | "bytes" | "count" | null;
export type StatisticsCell = number | string | null;

export interface StatisticsTable {
	script: string;
	title: string;
	show: "table" | "bars" | "line" | "histogram";
	columns: { name: string; unit: Unit }[];
	rows: StatisticsCell[][];
	rows_left_out: number;
	texts_cut: number;
}

interface Answer {
	is_complete: boolean;
	until_ns: number;
	has_failed: boolean;
	notes: string[];
	tables: StatisticsTable[];
}

export interface Statistics {
	tables: StatisticsTable[] | null;	// null: there are none yet
	of: string;				// what they are of: filterKey
	until_ns: number;			// up to when the trace was read
	notes: string[];
	isRunning: boolean;
	done_ns: number;			// of those that are being made
	error: string;
}

const REST_MS = 300, AGAIN_MS = 30, CHEAP_MS = 1500, UNAVAILABLE = 503;
const NONE: Statistics = { tables: null, of: "", until_ns: 0, notes: [], isRunning: false, done_ns: 0, error: "" };

/** Which events the page is about. Words of the search and causes choose lines and waits: no events of scripts. */
function useChosen(session: Session): Wanted {
	const filters = useStored(session.store, state => state.filters), boxed = useStored(session.store, state => state.boxed), selection = useRange();
	const whole = selection && { from_ns: Math.max(0, Math.floor(selection.from_ns)), to_ns: Math.ceil(selection.to_ns) };

	return { ...wantedOf(rowKinds[0], session.trace, filters, whole, boxed.length ? session.boxedThreads : []), search: null };
}

/** Asks until all events were seen. */
async function compute(session: Session, path: string, signal: AbortSignal, onProgress: (until_ns: number) => void): Promise<Answer> {
	for (;;) {
		try {
			const got = await session.server.json<Answer>(path, signal);
			if (got.is_complete || got.has_failed)
				return got;
			onProgress(got.until_ns);
		} catch (error) {
			if (!(error instanceof Refusal && error.status === UNAVAILABLE))
				throw error;
		}
		await new Promise(resolve => setTimeout(resolve, AGAIN_MS));
	}
}

/** Computed at once as long as that is cheap; else when start is called. isStale: they are of something else than what is chosen. */
export function useStatistics(session: Session) {
	const run = useStored(session.store, state => state.scriptRun), chosen = useChosen(session), key = JSON.stringify(chosen);
	const [made, set] = useState<Statistics>(NONE), abort = useRef<AbortController | null>(null), cost_ms = useRef(0);
	const id = run?.is_complete && run.tables ? run.id : null, version = `${id} ${session.trace.is_live ? run?.until_ns : ""}`;
	const start = () => {
		const begin = performance.now(), signal = (abort.current?.abort(), abort.current = new AbortController()).signal;

		set(before => ({ ...before, isRunning: true, done_ns: 0, error: "" }));
		compute(session, query("statistics", { script: id, ...chosen }), signal, done_ns => set(before => ({ ...before, done_ns }))).then(({ tables, until_ns, notes }) => {
			cost_ms.current = performance.now() - begin;
			set({ ...NONE, tables, of: key, until_ns, notes });
		}, error => isAborted(error) || set({ ...NONE, error: error instanceof Error ? error.message : String(error) }));
	};

	useEffect(() => {
		cost_ms.current = 0;
		set(NONE);
	}, [id]);
	useEffect(() => {
		const timer = id && cost_ms.current <= CHEAP_MS ? setTimeout(start, REST_MS) : 0;

		return () => {
			clearTimeout(timer);
			abort.current?.abort();
			set(before => before.isRunning ? { ...before, isRunning: false } : before);
		};
	}, [version, key]);
	return { made, start, isWanted: id !== null, isStale: made.of !== key, isOfAll: Object.values(chosen).every(value => value === null || value === undefined || value === "" || Array.isArray(value) && !value.length) };
}
