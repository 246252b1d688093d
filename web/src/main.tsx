// SPDX-License-Identifier: GPL-2.0-or-later
// The report: which sections there are, by the parts that the file has.
import { render } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { About, Licences } from "./about";
import { Compared } from "./compare";
import { ConfigurationSection } from "./configurations";
import { Dependency } from "./dependency";
import { Flames } from "./flames";
import { duration, exactNs, visible } from "./format";
import { Goroutines } from "./goroutines";
import { Klock } from "./klock";
import { Listeners } from "./listeners";
import { EventLoops } from "./loops";
import { Section, useLoaded } from "./page";
import { type Layers, layersOf, Parallel } from "./parallel";
import { type PartName, Parts, type PartTypes } from "./parts";
import { Path } from "./path";
import { Balance, Findings, Levels, Verdict } from "./summary";
import { ThemeContext, useTheme } from "./theme";
import { Threads } from "./threads";
import { TimelineRows } from "./timelines";
import { Tip } from "./tip";
import type { Report } from "./report";
import { Io, Locks, Paths, Waits } from "./waits";

const parts = new Parts(document);

/** States are known by system calls alone, of which these are one. */
const FUTEX = "Barriers, semaphores and the like count as locks here where only their functions tell them apart.";

/** What the page is about. */
const mainPart = (["report", "comparison", "configurations", "klock", "graph"] as const).find(name => parts.has(name)) ?? "report";

function usePart<N extends PartName>(name: N) {
	return useLoaded<PartTypes[N]>(parts.load(name));
}

const reportLinks: [string, string][] = [
	["verdict", "Verdict"], ["balance", "Balance"], ["findings", "Findings"], ["parallelism", "Parallelism"], ["threads", "Threads"],
	["flames", "Flames"], ["locks", "Locks"], ["waits", "Waits"], ["io", "IO"], ["paths", "Paths"],
];

function linksOf(report?: Report): [string, string][] {
	const links: [string, string][] = parts.has("report") ? [...reportLinks] : [];

	if (report?.goroutines.length)
		links.splice(links.findIndex(([id]) => id === "io"), 0, ["goroutines", "Goroutines"]);
	if (report?.event_loops.length)
		links.splice(links.findIndex(([id]) => id === "io"), 0, ["loops", "Event loops"]);
	if (report?.listeners.length)
		links.splice(links.findIndex(([id]) => id === "paths"), 0, ["listeners", "Accept queues"]);
	if (parts.has("comparison"))
		links.push(["verdict", "Differences"], ["figures", "Figures"], ["functions", "Functions"], ["flames", "Flames"], ["graph", "Graph"]);
	if (parts.has("configurations"))
		links.push(["groups", "Groups of threads"]);
	if (parts.has("klock"))
		links.push(["klock", "Kernel locks"]);
	if (parts.has("timelines"))
		links.push(["timelines", "Time lines"]);
	if (parts.has("graph"))
		links.push(["graph", "Graph"]);
	if (parts.has("path"))
		links.push(["path", "Critical path"]);
	return parts.has("report") ? [...links, ["about", "About"]] : links;
}

/** Without time lines, there is the mean number of active threads. */
function meanLayers(report: Report): Layers {
	const count = report.timeline.length || 1, { wall_ns } = report.target;

	return layersOf(wall_ns / count, wall_ns, { running: report.timeline.map(n => n * 1000) });
}

function ParallelSection({ report }: { report: Report }) {
	const { value: timelines } = usePart("timelines");
	const layers = useMemo(() => timelines ? layersOf(timelines.part_ns, timelines.whole_ns, timelines.all)
		: meanLayers(report), [timelines, report]);

	return <Section id="parallelism" title="Parallelism" isHeavy
		about={timelines || parts.has("timelines") ? `What all threads did over time, stacked. ${FUTEX} Drag to zoom, double-click to see all.`
			: "How many threads were active over time, on average. Drag to zoom, double-click to see all."}>
		{(timelines || !parts.has("timelines")) && <Parallel layers={layers} />}
		<Levels report={report} />
	</Section>;
}

function ReportSections({ report }: { report: Report }) {
	const { value: leftOut } = usePart("left_out");

	return <>
		<Verdict report={report} />
		<Balance report={report} />
		<Findings report={report} />
		<ParallelSection report={report} />
		<Threads report={report} />
		<Flames report={report} leftOut={leftOut} />
		<Locks report={report} leftOut={leftOut} />
		<Waits report={report} leftOut={leftOut} />
		<Goroutines report={report} />
		<EventLoops report={report} />
		<Io report={report} />
		<Listeners report={report} />
		<Paths report={report} />
	</>;
}

function Timelined() {
	const { value } = usePart("timelines"), { value: marks } = usePart("marks");

	return value ? <Section id="timelines" title="Time lines of threads" isHeavy about={`What each thread did over time. ${FUTEX} Drag to zoom, double-click to see all.`}>
		<TimelineRows timelines={value} marks={marks} /></Section> : null;
}

function GraphPart() {
	const { value } = usePart("graph");
	return value ? <Dependency graph={value} /> : null;
}

function PathPart() {
	const { value } = usePart("path"), { value: timelines } = usePart("timelines");
	const frame = timelines && { begin_ns: timelines.begin_ns, whole_ns: timelines.whole_ns };

	return value ? <Path path={value} frame={frame} /> : null;
}

function KlockPart() {
	const { value, error } = usePart("klock");
	return value ? <Klock klock={value} /> : <Broken error={error} />;
}

function ComparisonPart() {
	const { value, error } = usePart("comparison");
	const first = { report: usePart("first").value, leftOut: usePart("first_left_out").value };
	const second = { report: usePart("second").value, leftOut: usePart("second_left_out").value };

	return value ? <Compared comparison={value} first={first} second={second} /> : <Broken error={error} />;
}

function ConfigurationsPart() {
	const { value, error } = usePart("configurations");
	return value ? <ConfigurationSection configurations={value} /> : <Broken error={error} />;
}

function Broken({ error }: { error?: string }) {
	return error ? <p role="alert">The data of this report cannot be read: {error}</p> : <p class="muted">Reading the data\u2026</p>;
}

function Header({ report, theme, onTheme }: { report?: Report; theme: string; onTheme: () => void }) {
	const target = report?.target;
	const what = target ? visible(target.command || `process ${target.pids.join(", ")}`)
		: parts.has("comparison") || parts.has("configurations") ? "Comparison" : parts.has("klock") ? "Kernel locks" : "Dependency graph";

	useEffect(() => { document.title = `${what} \u2013 pinch`; }, [what]);
	return <header>
		<a class="skip" href="#main">Skip to the report</a>
		<h1><span class="brand">pinch</span> <span class="command">{what}</span></h1>
		{target && <p class="muted" data-tip={exactNs(target.wall_ns)}>{target.exit_status !== null ? "ran" : "traced for"} {duration(target.wall_ns)}
			{target.exit_status !== null && `, exit status ${target.exit_status}`}{target.is_running && ", still running"}</p>}
		<button type="button" class="theme no-print" aria-pressed={theme === "dark"} onClick={onTheme}>Dark</button>
	</header>;
}

function App() {
	const theme = useTheme();
	const { value: report, error } = usePart("report");
	const first = useLoaded<unknown>(parts.load(mainPart));
	const isReady = Boolean(first.value ?? first.error);

	useEffect(() => {
		if (isReady)
			performance.mark("pinch-ready");
	}, [isReady]);
	return <ThemeContext.Provider value={theme}>
		<Header report={report} theme={theme.theme} onTheme={theme.toggle} />
		<nav class="no-print" aria-label="Sections"><ul>{linksOf(report).map(([id, title]) => <li key={id}><a href={`#${id}`}>{title}</a></li>)}</ul></nav>
		<main id="main" tabIndex={-1}>
			{parts.has("report") && (report ? <ReportSections report={report} /> : <Broken error={error} />)}
			{isReady && <>
				{parts.has("comparison") && <ComparisonPart />}
				{parts.has("configurations") && <ConfigurationsPart />}
				{parts.has("klock") && <KlockPart />}
				{parts.has("timelines") && <Timelined />}
				{parts.has("graph") && <GraphPart />}
				{parts.has("path") && <PathPart />}
			</>}
			{report && <About report={report} />}
		</main>
		<footer><p class="muted">Made by pinch{report ? ` ${report.pinch.version}` : ""}. Times are of the wall clock unless they are called thread time.</p>
			<Licences /></footer>
		<Tip />
	</ThemeContext.Provider>;
}

render(<App />, document.getElementById("app")!);
