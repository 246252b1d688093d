// SPDX-License-Identifier: GPL-2.0-or-later
// What each thread did over time: a row a thread, on canvases of some rows each.
import { useContext, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { CopyCsv } from "./csv";
import { cut, duration, plural, share, visible } from "./format";
import { Swatch, useNear, useWidth } from "./page";
import { type Range, useRange, useSetRange } from "./range";
import { RangeButtons } from "./range_buttons";
import { colourOf, stateNames, stateTitle } from "./states";
import { colour, ThemeContext } from "./theme";
import { hideTip, showTip } from "./tip";
import type { Marks, Timelines } from "./types";

type Row = Timelines["threads"][number];

const ROW_PX = 18, GAP_PX = 3, BLOCK_ROWS = 32, UNIT = 1000, ROWS_FIRST = 64, MARK_PX = 3, MARKS_TOLD = 6, PAPER_LABELS_PX = 150;	// as in style.css

/** An event of a program's own. */
interface Mark {
	since_ns: number;
	name: string;
	argument: number;
}

/** Those of each row, in the order of time. */
function marksByRow(marks: Marks | undefined, rows: number): Mark[][] {
	const all: Mark[][] = Array.from({ length: rows }, () => []);

	for (const [row, since_ns, name, argument] of marks?.marks ?? [])
		all[row]?.push({ since_ns, name: marks!.names[name], argument });
	return all;
}

const IDLE_SHARE = 0.001, ACTIVE = ["running", "spinning", "runnable"];

/** Which rows, threads that did next to nothing last. */
function activeFirst({ threads, parts }: Timelines): number[] {
	const active = (row: Row) => ACTIVE.reduce((sum, state) => sum + (row.states[state]?.reduce((all, n) => all + n, 0) ?? 0), 0) / UNIT / row.threads;
	const isIdle = threads.map(row => active(row) < IDLE_SHARE * parts), rows = threads.map((_, i) => i);

	return [...rows.filter(i => !isIdle[i]), ...rows.filter(i => isIdle[i])];
}

/** Where several would lie on each other, one is drawn. */
function drawMarks(context: CanvasRenderingContext2D, marks: Mark[], y: number, range: Range, per_ns: number): void {
	let before = -1;

	for (const mark of marks) {
		const x = Math.round((mark.since_ns - range.from_ns) * per_ns);
		if (mark.since_ns < range.from_ns || mark.since_ns > range.to_ns || x === before)
			continue;
		before = x;
		context.beginPath();
		context.arc(x, y * ROW_PX + (ROW_PX - GAP_PX) / 2, MARK_PX, 0, 2 * Math.PI);
		context.fill();
		context.stroke();
	}
}

function draw(canvas: HTMLCanvasElement, rows: Row[], marks: Mark[][], part_ns: number, range: Range, width: number): void {
	const context = canvas.getContext("2d")!, ratio = devicePixelRatio || 1;

	canvas.width = width * ratio;
	canvas.height = rows.length * ROW_PX * ratio;
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	const per_ns = width / (range.to_ns - range.from_ns);
	for (const state of stateNames) {
		context.fillStyle = colour(colourOf(state));
		rows.forEach((row, y) => drawState(context, row, state, y, part_ns, range, per_ns));
	}
	context.fillStyle = colour("fg");
	context.strokeStyle = colour("bg");
	marks.forEach((of, y) => drawMarks(context, of, y, range, per_ns));
	canvas.setAttribute("data-drawn", "");
}

/** In a part in which a thread did several things, each has its part of the height, in the order of the legend. */
function drawState(context: CanvasRenderingContext2D, row: Row, state: string, y: number, part_ns: number, range: Range,
		   per_ns: number): void {
	const shares = row.states[state], height = ROW_PX - GAP_PX;
	const edge = (i: number) => Math.round((i * part_ns - range.from_ns) * per_ns);	// whole pixels: no seams

	if (!shares)
		return;
	const below = stateNames.slice(0, stateNames.indexOf(state)).map(name => row.states[name]).filter(Boolean);
	const first = Math.max(0, Math.floor(range.from_ns / part_ns));
	const last = Math.min(shares.length, Math.ceil(range.to_ns / part_ns));
	for (let i = first; i < last; i++) {
		if (!shares[i])
			continue;
		const part = shares[i] / UNIT / row.threads, under = below.reduce((sum, of) => sum + of[i], 0) / UNIT / row.threads;
		context.fillRect(edge(i), y * ROW_PX + height * (1 - under - part), Math.max(1, edge(i + 1) - edge(i)), height * part);
	}
}

function tellMarks(marks: Mark[], time_ns: number, near_ns: number): string[] {
	const near = marks.filter(mark => Math.abs(mark.since_ns - time_ns) <= near_ns);
	const lines = near.slice(0, MARKS_TOLD).map(mark => `${visible(mark.name)} ${mark.argument} at ${duration(mark.since_ns)}`);

	return near.length > MARKS_TOLD ? [...lines, `and ${plural(near.length - MARKS_TOLD, "more event")}`] : lines;
}

function tellAt(row: Row, at: number, part_ns: number): string {
	const lines = stateNames.filter(state => row.states[state]?.[at])
		.map(state => `${stateTitle(state)}: ${share(row.states[state][at] / UNIT / row.threads)}`);

	return [`${visible(row.name)} ${row.threads > 1 ? `(${plural(row.threads, "thread")})` : row.tid}`,
		`${duration(at * part_ns)} to ${duration((at + 1) * part_ns)}`, ...lines].join("\n");
}

function Block({ rows, marks, part_ns, range }: { rows: Row[]; marks: Mark[][]; part_ns: number; range: Range }) {
	const { ref: near, isNear } = useNear<HTMLDivElement>();
	const { ref, width } = useWidth<HTMLDivElement>(PAPER_LABELS_PX);
	const { theme } = useContext(ThemeContext), setRange = useSetRange();
	const canvas = useRef<HTMLCanvasElement>(null);
	const begin = useRef<number | null>(null);
	const timeAt = (event: PointerEvent) => range.from_ns +
		(event.clientX - canvas.current!.getBoundingClientRect().left) / width * (range.to_ns - range.from_ns);
	const onMove = (event: PointerEvent) => {
		const y = Math.floor((event.clientY - canvas.current!.getBoundingClientRect().top) / ROW_PX);
		const near_ns = (MARK_PX + 1) / width * (range.to_ns - range.from_ns), time_ns = timeAt(event);
		if (rows[y])
			showTip([tellAt(rows[y], Math.floor(time_ns / part_ns), part_ns), ...tellMarks(marks[y], time_ns, near_ns)].join("\n"),
				event.clientX, event.clientY);
	};
	const onUp = (event: PointerEvent) => {
		const times = [begin.current ?? 0, timeAt(event)].sort((a, b) => a - b);
		if (begin.current !== null && times[1] - times[0] > (range.to_ns - range.from_ns) / 100)
			setRange({ from_ns: Math.max(0, times[0]), to_ns: times[1] });
		begin.current = null;
	};

	useLayoutEffect(() => {
		if (isNear && width)
			draw(canvas.current!, rows, marks, part_ns, range, width);
	}, [isNear, width, theme, rows, marks, range.from_ns, range.to_ns]);
	return <div class="block" ref={near}>
		<ol class="labels">{rows.map((row, i) => <li key={i} data-tip={`${visible(row.name)}\nthread ${row.tid} of process ${row.pid}`}>
			{cut(visible(row.name), 17)} <span class="muted">{row.threads > 1 ? `\u00d7${row.threads}` : row.tid}</span></li>)}</ol>
		<div class="lanes" ref={ref}>
			<canvas ref={canvas} data-tips="" style={{ width: `${width}px`, height: `${rows.length * ROW_PX}px` }} aria-hidden="true"
				onPointerMove={onMove} onPointerLeave={hideTip} onPointerDown={event => { begin.current = timeAt(event); }}
				onPointerUp={onUp} onDblClick={() => setRange(null)} />
		</div>
	</div>;
}

export function TimelineRows({ timelines, marks }: { timelines: Timelines; marks?: Marks }) {
	const { part_ns, whole_ns, left_out } = timelines;
	const order = useMemo(() => activeFirst(timelines), [timelines]), threads = useMemo(() => order.map(i => timelines.threads[i]), [order]);
	const byRow = useMemo(() => {
		const all = marksByRow(marks, order.length);
		return order.map(i => all[i]);
	}, [marks, order]);
	const [shown, show] = useState(ROWS_FIRST);
	const range = useRange() ?? { from_ns: 0, to_ns: whole_ns };
	const used = stateNames.filter(state => threads.some(row => row.states[state]));
	const blocks = [];

	for (let i = 0; i < Math.min(shown, threads.length); i += BLOCK_ROWS)
		blocks.push({ rows: threads.slice(i, Math.min(i + BLOCK_ROWS, shown)), marks: byRow.slice(i, Math.min(i + BLOCK_ROWS, shown)) });
	return <>
		<div class="tools">
			<RangeButtons whole_ns={whole_ns} />
			<CopyCsv of="time lines" make={() => ({
				titles: ["thread", "tid", "state", "since (ns)", "threads"],
				rows: threads.flatMap(row => Object.entries(row.states).flatMap(([state, shares]) =>
					shares.map((n, i) => [row.name, row.tid, stateTitle(state), i * part_ns, n / UNIT]).filter(cells => cells[4]))),
			})} />
		</div>
		<div class="legend">{used.map(state => <span key={state}><Swatch colour={colourOf(state)} />{stateTitle(state)}</span>)}</div>
		<div class="timelines" role="img" aria-label={`What ${plural(threads.length, "thread")} did over ${duration(whole_ns)}`}>
			{blocks.map(({ rows, marks }, i) => <Block key={i} rows={rows} marks={marks} part_ns={part_ns} range={range} />)}
		</div>
		{threads.length > shown && <button type="button" class="no-print" onClick={() => show(threads.length)}>
			Show all {plural(threads.length, "row")}</button>}
		{marks && <p class="muted marks">{"\u25cf"} events of the programs' own: {marks.names.slice(0, 12).map(visible).join(", ")}
			{marks.names.length > 12 && ` and ${marks.names.length - 12} more`}
			{marks.left_out > 0 && `; ${plural(marks.left_out, "more event")} are not drawn`}.</p>}
		{left_out > 0 && <p class="muted">{plural(left_out, "more thread")} are not shown; the chart above has all of them.</p>}
	</>;
}
