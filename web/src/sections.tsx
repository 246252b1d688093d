// SPDX-License-Identifier: GPL-2.0-or-later
// The sections of a report, by the parts that there are.
import { useMemo } from "preact/hooks";
import { Causes } from "./causes";
import { ChosenParts } from "./chosen_parts";
import { ChosenWaits } from "./chosen_waits";
import { Dependency } from "./dependency";
import { Flames } from "./flames";
import { learnFolds } from "./folds";
import { Goroutines } from "./goroutines";
import { Listeners } from "./listeners";
import { Locks } from "./locks";
import { EventLoops } from "./loops";
import { Section } from "./page";
import { type Layers, layersOf, Parallel } from "./parallel";
import { usePart, useParts } from "./parts_context";
import { Path } from "./path";
import type { Report } from "./report";
import { Balance, Findings, Levels, Verdict } from "./summary";
import { Threads } from "./threads";
import { TimelineRows } from "./timelines";
import { Io, Paths, Waits } from "./waits";

/** States are known by system calls alone, of which these are one. */
const FUTEX = "Barriers, semaphores and the like count as locks here where only their functions tell them apart.";

/** Without time lines, there is the mean number of active threads. */
function meanLayers(report: Report): Layers {
	const count = report.timeline.length || 1, { wall_ns } = report.target;

	return layersOf(wall_ns / count, wall_ns, { running: report.timeline.map(n => n * 1000) });
}

function ParallelSection({ report }: { report: Report }) {
	const parts = useParts(), { value: timelines } = usePart("timelines");
	const layers = useMemo(() => timelines ? layersOf(timelines.part_ns, timelines.whole_ns, timelines.all)
		: meanLayers(report), [timelines, report]);

	return <Section id="parallelism" title="Parallelism" isHeavy
		about={timelines || parts.has("timelines") ? `What all threads did over time, stacked. ${FUTEX} Drag to zoom, double-click to see all.`
			: "How many threads were active over time, on average. Drag to zoom, double-click to see all."}>
		{(timelines || !parts.has("timelines")) && <Parallel layers={layers} />}
		<Levels report={report} />
	</Section>;
}

export function ReportSections({ report }: { report: Report }) {
	const parts = useParts(), { value: leftOut } = usePart("left_out"), { value: folds, error: foldsError } = usePart("folds");

	useMemo(() => folds && learnFolds(folds), [folds]);	// before what is below is drawn
	if (parts.has("folds") && !folds && !foldsError)
		return null;
	return <>
		<Verdict report={report} />
		{report.choice && <ChosenWaits choice={report.choice} />}
		{report.parts && <ChosenParts parts={report.parts} />}
		<Causes report={report} />
		<Findings report={report} />
		<Balance report={report} />
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

export function Timelined() {
	const { value } = usePart("timelines"), { value: marks } = usePart("marks");
	const isCoarse = Boolean(value?.all.blocked);

	return value ? <Section id="timelines" title="Time lines of threads" isHeavy about={`What each thread did over time. ${FUTEX} Drag to zoom, double-click to see all.`}>
		<TimelineRows timelines={value} marks={marks} />
		{isCoarse && <p class="muted">Too much happened to keep why threads were blocked: pinch record keeps it, and pinch report --html shows it.</p>}</Section> : null;
}

export function GraphPart() {
	const { value } = usePart("graph");
	return value ? <Dependency graph={value} /> : null;
}

export function PathPart() {
	const { value } = usePart("path"), { value: timelines } = usePart("timelines");
	const frame = timelines && { begin_ns: timelines.begin_ns, whole_ns: timelines.whole_ns };

	return value ? <Path path={value} frame={frame} /> : null;
}

/** While there is no data: why not. */
export function Broken({ error }: { error?: string }) {
	return error ? <p role="alert">The data of this report cannot be read: {error}</p> : <p class="muted">{"Reading the data\u2026"}</p>;
}
