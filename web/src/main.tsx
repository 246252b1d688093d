// SPDX-License-Identifier: GPL-2.0-or-later
// The page: a report in a file, with the sections of which it has the parts, or the viewer.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { About, Licences } from "./about";
import { ComparisonPart } from "./compare_part";
import { ConfigurationSection } from "./configurations";
import { duration, exactNs, visible } from "./format";
import { Klock } from "./klock";
import { useHashLanding } from "./landing";
import { useLoaded } from "./page";
import type { Parts } from "./parts";
import { usePart, useParts } from "./parts_context";
import type { Report } from "./report";
import { Broken, GraphPart, PathPart, ReportSections, Timelined } from "./sections";
import { ThemeContext, useTheme } from "./theme";
import { Tip } from "./tip";
import { ExecutionPage } from "./viewer/execution_page";
import { PairPage } from "./viewer/pair_page";
import { ViewerPage } from "./viewer/viewer";

const reportLinks: [string, string][] = [
	["verdict", "Verdict"], ["findings", "Findings"], ["balance", "Balance"], ["parallelism", "Parallelism"], ["threads", "Threads"],
	["flames", "Flames"], ["locks", "Locks"], ["waits", "Waits"], ["io", "IO"], ["paths", "Paths"],
];

function linksOf(parts: Parts, report?: Report): [string, string][] {
	const links: [string, string][] = parts.has("report") ? [...reportLinks] : [], locks: [string, string] = ["klock", "Kernel locks"];

	if (report?.blame.roots.length)
		links.splice(1, 0, ["causes", "Causes"]);
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
	if (parts.has("klock") && parts.first !== "klock")
		links.push(locks);
	if (parts.has("timelines"))
		links.push(["timelines", "Time lines"]);
	if (parts.has("graph"))
		links.push(["graph", "Graph"]);
	if (parts.has("path"))
		links.push(["path", "Critical path"]);
	if (parts.first === "klock")
		links.unshift(locks);
	return parts.has("report") ? [...links, ["about", "About"]] : links;
}

function KlockPart() {
	const { value, error } = usePart("klock");
	return value ? <Klock klock={value} /> : <Broken error={error} />;
}

/** Of one trace, of groups of its executions, or of two traces that are compared. */
function ViewerPart() {
	const { value, error } = usePart("viewer");

	if (!value && !error)
		return null;
	if (value?.other)
		return <PairPage names={[value.name, value.other]} />;
	return value && location.pathname === "/executions" ? <ExecutionPage name={value.name} /> : <ViewerPage />;
}

function ConfigurationsPart() {
	const { value, error } = usePart("configurations");
	return value ? <ConfigurationSection configurations={value} /> : <Broken error={error} />;
}

function Header({ report, theme, onTheme }: { report?: Report; theme: string; onTheme: () => void }) {
	const target = report?.target, parts = useParts();
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
	const theme = useTheme(), parts = useParts();
	const { value: report, error } = usePart("report");
	const mainPart = (["report", "comparison", "configurations", "klock", "graph"] as const).find(name => parts.has(name)) ?? "report";
	const first = useLoaded<unknown>(parts.load(mainPart));
	const isReady = Boolean(first.value ?? first.error);

	useHashLanding();

	useEffect(() => {
		if (isReady)
			performance.mark("pinch-ready");
	}, [isReady]);
	return <ThemeContext.Provider value={theme}>
		<Header report={report} theme={theme.theme} onTheme={theme.toggle} />
		<nav class="no-print" aria-label="Sections"><ul>{linksOf(parts, report).map(([id, title]) => <li key={id}><a href={`#${id}`}>{title}</a></li>)}</ul></nav>
		<main id="main" tabIndex={-1}>
			{parts.first === "klock" && <KlockPart />}
			{parts.has("report") && (report ? <ReportSections report={report} /> : <Broken error={error} />)}
			{isReady && <>
				{parts.has("comparison") && <ComparisonPart />}
				{parts.has("configurations") && <ConfigurationsPart />}
				{parts.has("klock") && parts.first !== "klock" && <KlockPart />}
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

function Page() {
	return useParts().has("viewer") ? <ViewerPart /> : <App />;
}

render(<Page />, document.getElementById("app")!);
