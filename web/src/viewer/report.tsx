// SPDX-License-Identifier: GPL-2.0-or-later
// The report of the selected time, or of the whole trace: the sections of the page of --html, with parts that are fetched.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { About } from "../about";
import { plural } from "../format";
import { Section, useNear } from "../page";
import { Parts } from "../parts";
import { PartsContext, usePart, useParts } from "../parts_context";
import { type Range, RangeFrame, useRange } from "../range";
import { Broken, GraphPart, PathPart, ReportSections, Timelined } from "../sections";
import { whoseNames } from "./chosen";
import { filterTitle } from "./filters_on";
import { rangeWords } from "./graph";
import { isAborted, query } from "./server";
import type { Session } from "./session";
import { type FilterName, filterNames, useStored } from "./store";

// What else a part is saved as: by pinch export.
const EXPORTS = [
	["Perfetto", "perfetto", "The same part for ui.perfetto.dev: states with their causes, wake-ups, samples"],
	["speedscope", "speedscope", "The same part for speedscope.app: call paths by CMetric, lost time and CPU"],
	["Folded", "folded", "The same part as folded stacks, for flame graph tools"],
] as const;
const THREADS_MAX = 64;		// for the server

/** What a report is of. */
interface Part {
	range: Range | null;		// null: of all the time
	threads: number[] | null;	// null: of all
}

interface Made extends Part {
	parts?: Parts;
	error?: string;
}

function Sections() {
	const parts = useParts(), { value: report, error } = usePart("report");

	if (!report)
		return <Broken error={parts.has("report") ? error : "the server's answer has no report"} />;
	return <>
		<ReportSections report={report} />
		{parts.has("timelines") && <Timelined />}
		{parts.has("graph") && <GraphPart />}
		{parts.has("path") && <PathPart />}
		<About report={report} />
	</>;
}

/** Made when it is asked for, or first comes into view; what is asked for again is what counts. */
function useMade(session: Session) {
	const [made, setMade] = useState<Made | null>(null), abort = useRef<AbortController | null>(null);
	const make = ({ range, threads }: Part) => {
		abort.current?.abort();
		abort.current = new AbortController();
		setMade({ range, threads });
		session.server.text(query("report", { from: range?.from_ns, to: range?.to_ns, thread: threads?.map(String) }), abort.current.signal)
			.then(text => setMade({ range, threads, parts: new Parts(new DOMParser().parseFromString(text, "text/html")) }),
				error => isAborted(error) || setMade({ range, threads, error: String(error.message ?? error) }));
	};

	useEffect(() => () => abort.current?.abort(), []);
	return { made, make };
}

const isSame = (a: Part, b: Part) => a.range?.from_ns === b.range?.from_ns && a.range?.to_ns === b.range?.to_ns && String(a.threads) === String(b.threads);
const everything: Part = { range: null, threads: null };

/** In words; null: of everything. */
function wordsOfPart({ range, threads }: Part): string | null {
	return range || threads ? `Of ${threads ? plural(threads.length, "thread") : "all threads"}, ${range ? `${rangeWords(range)}; times count from its begin` : "all the time"}.` : null;
}

export function ReportOfSelection({ session }: { session: Session }) {
	const { ref, isNear } = useNear<HTMLDivElement>(), { made, make } = useMade(session), selection = useRange();
	const boxed = useStored(session.store, state => state.boxed), filters = useStored(session.store, state => state.filters);
	const numbers = useMemo(() => session.reportedThreads, [session.trace, boxed, filters]), isTooMany = (numbers?.length ?? 0) > THREADS_MAX;
	const wanted: Part = { range: selection, threads: isTooMany ? null : numbers }, nobody = numbers?.length === 0;
	const frame = useMemo(() => ({ begin_ns: made?.range?.from_ns ?? 0, whole_ns: made?.range ? made.range.to_ns - made.range.from_ns : session.trace.whole_ns }), [made?.range]);

	useEffect(() => {
		if (isNear && !made)
			make(nobody ? everything : wanted);
	}, [isNear]);
	return <div ref={ref} class="report">
		<Section id="report" title={made && wordsOfPart(made) ? "Report of the selection" : "Report"}
			about={(made && wordsOfPart(made)) ?? (session.trace.is_live ? "Of what was recorded when it was asked for." : "Of the whole trace.")}
			tools={<div class="choices">
				<button type="button" disabled={nobody || isSame(wanted, everything) || isSame(wanted, made ?? everything)} onClick={() => make(wanted)}
					data-tip={isTooMany ? `The selected time, of all threads: more than ${THREADS_MAX} are chosen` : "The selected time, of the threads that are chosen"}>Report of the selection</button>
				<button type="button" disabled={made !== null && isSame(made, everything) && !session.trace.is_live} onClick={() => make(everything)}>Of the whole trace</button>
				<a class="button" href={query("save", { from: selection?.from_ns, to: selection?.to_ns, thread: wanted.threads?.map(String) })} download
					data-tip={isTooMany ? `The selected time as a trace of its own; of all threads, for more than ${THREADS_MAX} are chosen`
						: selection || numbers ? "The selected time, of the threads that are chosen, as a trace of its own" : "All of it; select a stretch of time for a part"}>Save as trace</a>
				{EXPORTS.map(([title, format, tip]) => <a class="button" key={format} download data-tip={tip}
					href={query("save", { format, from: selection?.from_ns, to: selection?.to_ns, thread: wanted.threads?.map(String) })}>{title}</a>)}
				{made?.error && <button type="button" onClick={() => make(made)}>Again</button>}
			</div>}>
			{["cause", "object", "cpu", "span", "subsystem", "event"].some(name => filters[name as FilterName]) && <p class="muted">The report, and what is saved as a trace, follow the selected time, hosts, processes and threads: not the filters of {
				filterNames.filter(name => !whoseNames.some(whose => whose === name) && name !== "search" && name !== "longer" && filters[name]).map(filterTitle).join(", ")}.</p>}
			{made?.error && <p role="alert">{made.error}</p>}
			{made && !made.parts && !made.error && <p class="muted" role="status">{"The report is being made\u2026"}</p>}
		</Section>
		{made?.parts && <PartsContext.Provider value={made.parts}><RangeFrame.Provider value={frame}><Sections key={`${made.range?.from_ns} ${made.threads}`} /></RangeFrame.Provider></PartsContext.Provider>}
	</div>;
}
