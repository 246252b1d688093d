// SPDX-License-Identifier: GPL-2.0-or-later
// The report of the selected time, or of the whole trace: the sections of the page of --html, with parts that are fetched.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { About } from "../about";
import { Section, useNear } from "../page";
import { Parts } from "../parts";
import { PartsContext, usePart, useParts } from "../parts_context";
import { type Range, RangeFrame, useRange } from "../range";
import { Broken, GraphPart, PathPart, ReportSections, Timelined } from "../sections";
import { rangeWords } from "./graph";
import { isAborted, query } from "./server";
import type { Session } from "./session";
import { useStored } from "./store";

const THREADS_MAX = 64;		// for the server

interface Made {
	range: Range | null;		// null: of the whole trace
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
	const make = (range: Range | null) => {
		abort.current?.abort();
		abort.current = new AbortController();
		setMade({ range });
		session.server.text(query("report", { from: range?.from_ns, to: range?.to_ns }), abort.current.signal)
			.then(text => setMade({ range, parts: new Parts(new DOMParser().parseFromString(text, "text/html")) }),
				error => isAborted(error) || setMade({ range, error: String(error.message ?? error) }));
	};

	useEffect(() => () => abort.current?.abort(), []);
	return { made, make };
}

const isSame = (a: Range | null, b: Range | null) => a?.from_ns === b?.from_ns && a?.to_ns === b?.to_ns;

export function ReportOfSelection({ session }: { session: Session }) {
	const { ref, isNear } = useNear<HTMLDivElement>(), { made, make } = useMade(session), selection = useRange();
	const boxed = useStored(session.store, state => state.boxed), numbers = boxed.length ? session.boxedThreads : [], threads = numbers.length <= THREADS_MAX ? numbers.map(String) : [];
	const frame = useMemo(() => ({ begin_ns: made?.range?.from_ns ?? 0, whole_ns: made?.range ? made.range.to_ns - made.range.from_ns : session.trace.whole_ns }), [made?.range]);

	useEffect(() => {
		if (isNear && !made)
			make(selection);
	}, [isNear]);
	return <div ref={ref} class="report">
		<Section id="report" title={made?.range ? "Report of the selection" : "Report"}
			about={made?.range ? `Of ${rangeWords(made.range)}; times count from its begin.` : session.trace.is_live ? "Of what was recorded when it was asked for." : "Of the whole trace."}
			tools={<div class="choices">
				<button type="button" disabled={!selection || isSame(selection, made?.range ?? null)} onClick={() => make(selection)}>Report of the selection</button>
				<button type="button" disabled={!made?.range && !session.trace.is_live} onClick={() => make(null)}>Of the whole trace</button>
				<a class="button" href={query("save", { from: selection?.from_ns, to: selection?.to_ns, thread: threads })} download
					data-tip={selection ? numbers.length > THREADS_MAX ? `The selected time as a trace of its own; of all threads, for lanes of more than ${THREADS_MAX} are selected`
						: "The selected time, of the selected lanes, as a trace of its own" : "All of it; select a stretch of time for a part"}>Save as trace</a>
				{made?.error && <button type="button" onClick={() => make(made.range)}>Again</button>}
			</div>}>
			{made?.error && <p role="alert">{made.error}</p>}
			{made && !made.parts && !made.error && <p class="muted" role="status">{"The report is being made\u2026"}</p>}
		</Section>
		{made?.parts && <PartsContext.Provider value={made.parts}><RangeFrame.Provider value={frame}><Sections key={String(made.range?.from_ns)} /></RangeFrame.Provider></PartsContext.Provider>}
	</div>;
}
