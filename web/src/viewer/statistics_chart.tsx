// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics of a script as a chart: bars, a line, or a histogram. The table beside it has the same figures.
import { count, cut, duration, size, visible } from "../format";
import { useWidth } from "../page";
import type { StatisticsCell, StatisticsTable, Unit } from "./statistics";

const BARS_MAX = 30, BAR_PX = 22, LABEL_PX = 190, FIGURE_PX = 84, HEIGHT_PX = 200, LEFT_PX = 70, BOTTOM_PX = 24, RIGHT_PX = 12, TOP_PX = 12, CHAR_PX = 7.2, TICKS = 4, TICK_PX = 110;
const POINTS_MAX = 2000;

export function figure(value: StatisticsCell, unit: Unit): string {
	if (typeof value !== "number")
		return value === null ? "" : visible(value);
	switch (unit) {
	case "ns": return duration(value);
	case "bytes": return value < 0 ? `\u2212${size(-value)}` : size(value);
	case "count": return count(value);
	default: return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
	}
}

interface Point {
	x: number;
	y: number;
}

/** Rows whose first two cells are numbers. */
function pointsOf({ rows }: StatisticsTable, column = 1): Point[] {
	return rows.flatMap(row => {
		const x = row[0], y = row[column];
		return typeof x === "number" && typeof y === "number" ? { x, y } : [];
	});
}

function Bars({ table }: { table: StatisticsTable }) {
	const { ref, width } = useWidth<HTMLDivElement>(), label_px = Math.min(LABEL_PX, width / 3), rows = table.rows.slice(0, BARS_MAX);
	const lengths = rows.map(row => typeof row[1] === "number" ? Math.max(0, row[1]) : 0), most = Math.max(...lengths, Number.MIN_VALUE), wide = Math.max(1, width - label_px - FIGURE_PX);

	return <div ref={ref} class="drawn">
		<svg width={width} height={Math.max(1, rows.length) * BAR_PX} class="bars" role="img" aria-label={`${visible(table.title)}: ${visible(table.columns[1].name)} by ${visible(table.columns[0].name)}, as bars`}>
			{rows.map((row, i) => {
				const name = figure(row[0], table.columns[0].unit), value = figure(row[1], table.columns[1].unit);
				return <g key={i} data-tip={`${name}: ${value}`}>
					<text x={label_px - 6} y={i * BAR_PX + 15} text-anchor="end">{cut(name, Math.max(4, Math.floor(label_px / CHAR_PX)))}</text>
					<rect x={label_px} y={i * BAR_PX + 4} width={Math.max(1, wide * lengths[i] / most)} height={BAR_PX - 8} class="c-file" />
					<text x={label_px + Math.max(1, wide * lengths[i] / most) + 6} y={i * BAR_PX + 15} class="figure">{value}</text>
				</g>;
			})}
		</svg>
		{table.rows.length > rows.length && <p class="muted">The first {rows.length} of {count(table.rows.length)} rows are drawn.</p>}
	</div>;
}

/** Axes of a chart with an area for points. */
function Axes({ table, width, low, high, most, column }: { table: StatisticsTable; width: number; low: number; high: number; most: number; column: number }) {
	const floor = HEIGHT_PX - BOTTOM_PX, ticks = Math.max(1, Math.min(TICKS, Math.floor((width - LEFT_PX) / TICK_PX)));

	return <g class="axis" aria-hidden="true">
		{[0, 0.5, 1].map(part => <g key={part}>
			<line x1={LEFT_PX} x2={width - RIGHT_PX} y1={floor - part * (floor - TOP_PX)} y2={floor - part * (floor - TOP_PX)} />
			<text x={LEFT_PX - 6} y={floor - part * (floor - TOP_PX) + 4} text-anchor="end">{figure(most * part, table.columns[column].unit)}</text>
		</g>)}
		{Array.from({ length: ticks + 1 }, (_, i) => <text key={i} x={LEFT_PX + i / ticks * (width - LEFT_PX - RIGHT_PX)} y={floor + 16} text-anchor={i === 0 ? "start" : i === ticks ? "end" : "middle"}>
			{figure(low + i / ticks * (high - low), table.columns[0].unit)}</text>)}
	</g>;
}

const LINES = ["c-file", "c-lock", "c-running", "c-condition"];

/** Of many points, the highest one of each stretch is drawn. */
function thinned(points: Point[]): Point[] {
	const step = Math.ceil(points.length / POINTS_MAX);

	return step <= 1 ? points : Array.from({ length: Math.ceil(points.length / step) }, (_, i) => points.slice(i * step, (i + 1) * step).reduce((high, point) => point.y > high.y ? point : high));
}

function Line({ table }: { table: StatisticsTable }) {
	const { ref, width } = useWidth<HTMLDivElement>(), lines = table.columns.slice(1, 1 + LINES.length).map((_, i) => pointsOf(table, i + 1).sort((a, b) => a.x - b.x));
	const all = lines.flat(), low = all.reduce((least, { x }) => Math.min(least, x), Infinity), high = Math.max(low + 1, all.reduce((most, { x }) => Math.max(most, x), -Infinity)), most = all.reduce((top, { y }) => Math.max(top, y), 0) || 1;
	const x = (at: number) => LEFT_PX + (at - low) / (high - low) * Math.max(1, width - LEFT_PX - RIGHT_PX), y = (value: number) => HEIGHT_PX - BOTTOM_PX - Math.max(0, value) / most * (HEIGHT_PX - BOTTOM_PX - TOP_PX);

	return <div ref={ref} class="drawn">
		<svg width={width} height={HEIGHT_PX} class="statistics-line" role="img" aria-label={`${visible(table.title)}: ${table.columns.slice(1).map(column => visible(column.name)).join(", ")} by ${visible(table.columns[0].name)}, as a line`}>
			{all.length > 0 && <Axes table={table} width={width} low={low} high={high} most={most} column={1} />}
			{lines.map((points, i) => <path key={i} class={`line ${LINES[i]}`} data-tip={visible(table.columns[i + 1].name)} d={thinned(points).map((point, n) => `${n ? "L" : "M"}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join("")} />)}
		</svg>
		{lines.length > 1 && <p class="muted">{lines.map((_, i) => <span key={i} class="legend"><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" class={LINES[i]} /></svg>{" "}{visible(table.columns[i + 1].name)} </span>)}</p>}
	</div>;
}

/** A row is where a class begins, and how many there are; classes are as wide as each other here, whatever they span. */
function Histogram({ table }: { table: StatisticsTable }) {
	const { ref, width } = useWidth<HTMLDivElement>(), points = thinned(pointsOf(table)), most = points.reduce((top, { y }) => Math.max(top, y), 0) || 1, floor = HEIGHT_PX - BOTTOM_PX;
	const wide = Math.max(1, width - LEFT_PX - RIGHT_PX) / Math.max(1, points.length), labelled = Math.max(1, Math.ceil(64 / wide));

	return <div ref={ref} class="drawn">
		<svg width={width} height={HEIGHT_PX} class="histogram" role="img" aria-label={`${visible(table.title)}: ${visible(table.columns[1].name)} by ${visible(table.columns[0].name)}, as a histogram`}>
			<g class="axis" aria-hidden="true">
				<line x1={LEFT_PX} x2={width - RIGHT_PX} y1={floor} y2={floor} />
				<text x={LEFT_PX - 6} y={TOP_PX + 8} text-anchor="end">{figure(most, table.columns[1].unit)}</text>
				<text x={LEFT_PX - 6} y={floor} text-anchor="end">0</text>
				{points.map((point, i) => i % labelled ? null : <text key={i} x={LEFT_PX + i * wide} y={floor + 16}>{figure(point.x, table.columns[0].unit)}</text>)}
			</g>
			{points.map((point, i) => {
				const height = (floor - TOP_PX) * Math.max(0, point.y) / most;
				return <rect key={i} x={LEFT_PX + i * wide} y={floor - height} width={Math.max(1, wide - 1)} height={height} class="c-file" data-tip={`from ${figure(point.x, table.columns[0].unit)}: ${figure(point.y, table.columns[1].unit)}`} />;
			})}
		</svg>
	</div>;
}

/** null: it is shown as a table alone. */
export function StatisticsChart({ table }: { table: StatisticsTable }) {
	switch (table.rows.length ? table.show : "table") {
	case "bars": return <Bars table={table} />;
	case "line": return <Line table={table} />;
	case "histogram": return <Histogram table={table} />;
	default: return null;
	}
}
