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
import { stateTitle } from "../states";
import { chosenCauses, wordsOf } from "./chosen";
import { filterTitle } from "./filters_on";
import { rangeWords } from "./graph";
import { optionsOf } from "./part_query";
import { isAborted, query } from "./server";
import type { Session } from "./session";
import { type FilterName, type Filters, useStored } from "./store";

// What else a part is saved as: by pinch export.
const EXPORTS = [
	["Perfetto", "perfetto", "The same part for ui.perfetto.dev: states with their causes, wake-ups, samples"],
	["speedscope", "speedscope", "The same part for speedscope.app: call paths by CMetric, lost time and CPU"],
	["Folded", "folded", "The same part as folded stacks, for flame graph tools"],
] as const;
const NOT_FOLLOWED: readonly FilterName[] = ["subsystem", "event"];
const THREADS_MAX = 512, WORDS_MAX = 15;		// for the server

/** What a report is of. */
interface Part {
	range: Range | null;		// null: of all the time
	threads: number[] | null;	// null: of all
	causes: string[];		// of waits; none: any
	objects: string[];		// parts of the names of what waits are for; none: any
	cpus: string[];			// of parts; none: any
	spans: string[];		// the same
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
	const make = ({ range, threads, causes, objects, cpus, spans }: Part) => {
		const part = { range, threads, causes, objects, cpus, spans };

		abort.current?.abort();
		abort.current = new AbortController();
		setMade(part);
		session.server.text(query("report", { from: range?.from_ns, to: range?.to_ns, thread: threads?.map(String), cause: causes, object: objects, cpu: cpus, spans }), abort.current.signal)
			.then(text => setMade({ ...part, parts: new Parts(new DOMParser().parseFromString(text, "text/html")) }),
				error => isAborted(error) || setMade({ ...part, error: String(error.message ?? error) }));
	};

	useEffect(() => () => abort.current?.abort(), []);
	return { made, make };
}

const isSame = (a: Part, b: Part) => a.range?.from_ns === b.range?.from_ns && a.range?.to_ns === b.range?.to_ns && String(a.threads) === String(b.threads)
	&& String(a.causes) === String(b.causes) && String(a.objects) === String(b.objects) && String(a.cpus) === String(b.cpus) && String(a.spans) === String(b.spans);
const everything: Part = { range: null, threads: null, causes: [], objects: [], cpus: [], spans: [] };

/** In words; null: of everything. */
function wordsOfPart({ range, threads, causes, objects, cpus, spans }: Part): string | null {
	const waits = [causes.length ? `waits with the cause ${causes.map(stateTitle).join(" or ")}` : "", objects.length ? `waits for ${objects.join(" or ")}` : "",
		cpus.length || spans.length ? `chosen parts ${[cpus.length ? `of CPU ${cpus.join(", ")}` : "", spans.length ? `in spans ${spans.join(", ")}` : ""].filter(Boolean).join(" ")}` : ""].filter(Boolean).join(", ");

	return range || threads || waits ? `Of ${threads ? plural(threads.length, "thread") : "all threads"}, ${range ? `${rangeWords(range)}; times count from its begin` : "all the time"}${
		waits ? `; ${waits}` : ""}.` : null;
}

/** Why the report cannot follow the filters of waits; empty: it does, or there are none. */
function whyOfAllWaits(filters: Filters, causes: string[], objects: string[]): string {
	if (objects.length > WORDS_MAX || causes.length > WORDS_MAX)
		return `The report is of all waits: more than ${WORDS_MAX} causes or objects are chosen.`;
	return filters.cause && !causes.length ? "The report is of all waits: the filter of causes chooses no cause of a wait." : "";
}

export function ReportOfSelection({ session }: { session: Session }) {
	const { ref, isNear } = useNear<HTMLDivElement>(), { made, make } = useMade(session), selection = useRange();
	const boxed = useStored(session.store, state => state.boxed), filters = useStored(session.store, state => state.filters);
	const numbers = useMemo(() => session.reportedThreads, [session.trace, boxed, filters]), isTooMany = (numbers?.length ?? 0) > THREADS_MAX;
	const causes = chosenCauses(session.trace, filters), objects = wordsOf(filters.object), ofAllWaits = whyOfAllWaits(filters, causes, objects);
	const asked = optionsOf(filters), parts = [asked.cpus, asked.spans];
	const others = NOT_FOLLOWED.filter(name => filters[name]?.trim());
	const wanted: Part = { range: selection, threads: isTooMany ? null : numbers, causes: ofAllWaits ? [] : causes, objects: ofAllWaits ? [] : objects, ...parts.some(list => list.length > WORDS_MAX) ? { cpus: [], spans: [] } : asked }, nobody = numbers?.length === 0;
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
					data-tip={isTooMany ? `The selected time, of all threads: more than ${THREADS_MAX} are chosen` : "The selected time, of the threads and waits that are chosen"}>Report of the selection</button>
				<button type="button" disabled={made !== null && isSame(made, everything) && !session.trace.is_live} onClick={() => make(everything)}>Of the whole trace</button>
				<a class="button" href={query("save", { from: selection?.from_ns, to: selection?.to_ns, thread: wanted.threads?.map(String) })} download
					data-tip={isTooMany ? `The selected time as a trace of its own; of all threads, for more than ${THREADS_MAX} are chosen`
						: selection || numbers ? "The selected time, of the threads that are chosen, as a trace of its own" : "All of it; select a stretch of time for a part"}>Save as trace</a>
				{EXPORTS.map(([title, format, tip]) => <a class="button" key={format} download data-tip={tip}
					href={query("save", { format, from: selection?.from_ns, to: selection?.to_ns, thread: wanted.threads?.map(String), cause: wanted.causes, object: wanted.objects, cpu: wanted.cpus })}>{title}</a>)}
				{made?.error && <button type="button" onClick={() => make(made)}>Again</button>}
			</div>}>
			{ofAllWaits && <p class="muted">{ofAllWaits}</p>}
			{(wanted.causes.length > 0 || wanted.objects.length > 0) && <p class="muted">What is saved as a trace has all waits of the selected time and threads; files for other tools have the chosen ones alone.</p>}
			{wanted.spans.length > 0 && <p class="muted">What is saved does not follow the filter of spans.</p>}
			{parts.some(list => list.length > WORDS_MAX) && <p class="muted">The report has no chosen parts: more than {WORDS_MAX} CPUs or spans are chosen.</p>}
			{selection && asked.spans.length > 0 && <p class="muted">The report of the selected time has the executions of spans that lie in it; the graph has parts of others, too.</p>}
			{others.length > 0 && <p class="muted">The report, and what is saved as a trace, do not follow the filters of {others.map(filterTitle).join(", ")}.</p>}
			{made?.error && <p role="alert">{made.error}</p>}
			{made && !made.parts && !made.error && <p class="muted" role="status">{"The report is being made\u2026"}</p>}
		</Section>
		{made?.parts && <PartsContext.Provider value={made.parts}><RangeFrame.Provider value={frame}><Sections key={`${made.range?.from_ns} ${made.threads} ${made.causes} ${made.objects} ${made.cpus} ${made.spans}`} /></RangeFrame.Provider></PartsContext.Provider>}
	</div>;
}
