// SPDX-License-Identifier: GPL-2.0-or-later
// What pinch compare says of the selected time of two sides, or of the whole of both.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { plural } from "../format";
import { ComparisonPart } from "../compare_part";
import { Section, useNear } from "../page";
import { Parts } from "../parts";
import { PartsContext } from "../parts_context";
import { type Range, useRange } from "../range";
import { rangeWords } from "./graph";
import type { Pair } from "./pair";
import { isAborted, query, type Server } from "./server";
import type { Session } from "./session";
import { useStored } from "./store";

const THREADS_MAX = 64;		// of each side, for the server

interface SidePart {
	range: Range | null;		// null: of all the time
	threads: number[] | null;	// null: of all
}

interface Made {
	of: string;			// the query
	words: string;
	parts?: Parts;
	error?: string;
}

function partOf(session: Session, isSelection: boolean): SidePart {
	const threads = session.reportedThreads;

	return isSelection ? { range: session.store.selection, threads: threads && threads.length <= THREADS_MAX ? threads : null } : { range: null, threads: null };
}

function queryOf([a, b]: SidePart[]): string {
	const from = (part: SidePart) => part.range && Math.max(0, Math.round(part.range.from_ns)), to = (part: SidePart) => part.range && Math.max(0, Math.round(part.range.to_ns));

	return query("compare", { from: from(a), to: to(a), thread: a.threads?.map(String), from_b: from(b), to_b: to(b), thread_b: b.threads?.map(String) });
}

function wordsOf(parts: SidePart[]): string {
	return parts.map(({ range, threads }, i) => `${i ? "B" : "A"}: ${threads ? plural(threads.length, "thread") : "all threads"}, ${range ? rangeWords(range) : "all the time"}`).join("; ");
}

/** Of the server: a page of pinch compare, whose parts are shown. */
export function useMade(server: Server) {
	const [made, setMade] = useState<Made | null>(null), abort = useRef<AbortController | null>(null);
	const make = (of: string, words: string) => {
		abort.current?.abort();
		abort.current = new AbortController();
		setMade({ of, words });
		server.text(of, abort.current.signal).then(text => setMade({ of, words, parts: new Parts(new DOMParser().parseFromString(text, "text/html")) }),
			error => isAborted(error) || setMade({ of, words, error: String(error.message ?? error) }));
	};

	useEffect(() => () => abort.current?.abort(), []);
	return { made, make };
}

export function ComparisonOfSides({ pair }: { pair: Pair }) {
	const { ref, isNear } = useNear<HTMLDivElement>(), { made, make } = useMade(pair.first.server);
	useRange();
	useStored(pair.first.store, state => state.filters);
	useStored(pair.first.store, state => state.boxed);
	useStored(pair.second.store, state => state.boxed);
	const sides = [pair.first, pair.second], selected = sides.map(session => partOf(session, true)), whole = sides.map(session => partOf(session, false));
	const nobody = selected.some(part => part.threads?.length === 0), isTooMany = sides.some(session => (session.reportedThreads?.length ?? 0) > THREADS_MAX);
	const parts = useMemo(() => made?.parts, [made]);

	useEffect(() => {
		if (isNear && !made)
			make(queryOf(nobody ? whole : selected), wordsOf(nobody ? whole : selected));
	}, [isNear]);
	return <div ref={ref} class="report">
		<Section id="report" title="Comparison" about={made ? `${made.words}.` : "What pinch compare says of both."}
			tools={<div class="choices">
				<button type="button" disabled={nobody || queryOf(selected) === queryOf(whole) || queryOf(selected) === made?.of} onClick={() => make(queryOf(selected), wordsOf(selected))}
					data-tip={isTooMany ? `The selected time, of all threads of a side of which more than ${THREADS_MAX} are chosen` : "The selected time, of the threads that are chosen"}>Compare the selection</button>
				<button type="button" disabled={made?.of === queryOf(whole)} onClick={() => make(queryOf(whole), wordsOf(whole))}>Compare all</button>
				{made?.error && <button type="button" onClick={() => make(made.of, made.words)}>Again</button>}
			</div>}>
			{made?.error && <p role="alert">{made.error}</p>}
			{made && !made.parts && !made.error && <p class="muted" role="status">{"The comparison is being made\u2026"}</p>}
		</Section>
		{parts && <PartsContext.Provider value={parts}><ComparisonPart key={made!.of} /></PartsContext.Provider>}
	</div>;
}
