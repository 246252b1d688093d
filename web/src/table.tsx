// SPDX-License-Identifier: GPL-2.0-or-later
// A table that can be searched and sorted. Of many rows only those in view are in the page.
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Cell, CopyCsv } from "./csv";
import { count, plural } from "./format";
import { landOn } from "./landing";
import { useWanted } from "./opening";
import { useIsPrinting, useWidth } from "./page";

export interface Column<R> {
	title: string;
	unit?: string;				// of the figures in the CSV
	value: (row: R) => string | number | null;	// what it is sorted by, and in the CSV
	show?: (row: R) => string;		// else the value
	tip?: (row: R) => string;
	isWide?: boolean;			// takes what room there is
}

interface TableProps<R> {
	name: string;				// "locks"
	columns: Column<R>[];
	rows: R[];
	sort?: number;				// the column that it is sorted by at first, largest first
	detail?: (row: R) => ComponentChildren;
	search?: (row: R) => string;		// what else can be found
	onChoose?: (row: R | null) => void;
	copied?: Column<R>[];			// in the CSV only
}

const ROW_PX = 30, OVERSCAN_ROWS = 12, VIEW_ROWS = 16, ALL_ROWS_MAX = 60, PRINT_ROWS_MAX = 40;

interface Order {
	column: number;				// -1: as they come
	isDown: boolean;
}

function compare(a: string | number | null, b: string | number | null): number {
	if (typeof a === "number" && typeof b === "number")
		return a - b;
	if (a === null || b === null)
		return a === b ? 0 : a === null ? -1 : 1;
	const [x, y] = [String(a), String(b)];
	return x < y ? -1 : x > y ? 1 : 0;
}

function sorted<R>(rows: R[], column: Column<R> | undefined, isDown: boolean): R[] {
	if (!column)
		return rows;
	const keyed = rows.map((row, at) => ({ row, at, key: column.value(row) }));
	const sign = isDown ? -1 : 1;

	keyed.sort((a, b) => sign * compare(a.key, b.key) || a.at - b.at);
	return keyed.map(({ row }) => row);
}

/** What a row is found by; made once, when somebody searches. */
function useHaystack<R>({ rows, columns, search }: TableProps<R>) {
	const made = useRef<{ rows: R[]; words: Map<R, string> } | null>(null);

	return () => {
		if (made.current?.rows !== rows) {
			const words = new Map<R, string>();

			for (const row of rows) {
				const cells = columns.map(column => column.show ? column.show(row) : column.value(row));
				words.set(row, (cells.join("\n") + "\n" + (search?.(row) ?? "")).toLowerCase());
			}
			made.current = { rows, words };
		}
		return made.current.words;
	};
}

function isNumber<R>(column: Column<R>, rows: R[]): boolean {
	return rows.length > 0 && typeof column.value(rows[0]) === "number";
}

const SAMPLE_ROWS = 300, CHARS_MIN = 7, CHARS_MAX = 26, WIDE_CHARS_MAX = 52, PADDING_CHARS = 3, NARROW_SHARE = 55;	// the last one of a narrow window, in percent

/** In characters, by the rows of a sample: columns must not move while other rows come into view. */
function widthOf<R>(column: Column<R>, rows: R[]): number {
	const step = Math.max(1, Math.floor(rows.length / SAMPLE_ROWS));
	let chars = Math.max(CHARS_MIN, column.title.length + 1);

	for (let i = 0; i < rows.length; i += step)
		chars = Math.max(chars, (column.show ? column.show(rows[i]) : String(column.value(rows[i]) ?? "")).length);
	return PADDING_CHARS + Math.min(chars, column.isWide ? WIDE_CHARS_MAX : CHARS_MAX);
}

/** The details of a row lie below it. */
interface Opened {
	at: number;				// which of the rows; -1: none of them
	px: number;				// how high its details are
}

/** The row at the upper edge of a box that is scrolled so far. */
function rowAt(scrolled_px: number, { at, px }: Opened): number {
	const below_px = scrolled_px - (at + 1) * ROW_PX;

	return Math.floor((at < 0 || below_px <= 0 ? scrolled_px : scrolled_px - Math.min(px, below_px)) / ROW_PX);
}

/** Which rows are in the page, by how far its box is scrolled. */
function useWindow(total: number, isPrinting: boolean) {
	const [first, setFirst] = useState(0);
	const isAll = total <= ALL_ROWS_MAX;

	if (isAll || isPrinting)
		return { from: 0, to: isAll ? total : Math.min(total, PRINT_ROWS_MAX), isAll: true, setFirst };
	const from = Math.max(0, Math.min(first, total - VIEW_ROWS) - OVERSCAN_ROWS);
	return { from, to: Math.min(total, from + VIEW_ROWS + 2 * OVERSCAN_ROWS), isAll: false, setFirst };
}

/** In place of rows that are not in the page, and of the details of one of them. */
function Spacer({ from, to, opened, span }: { from: number; to: number; opened: Opened; span: number }) {
	const px = (to - from) * ROW_PX + (opened.at >= from && opened.at < to ? opened.px : 0);

	return to > from ? <tr aria-hidden="true" class="spacer"><td colSpan={span} style={{ height: `${px}px` }} /></tr> : null;
}

/** Below its row, as wide as what is seen of the table. */
function DetailRow({ name, span, width, onHeight, onClose, children }:
	{ name: string; span: number; width: number; onHeight: (px: number) => void; onClose: () => void; children: ComponentChildren }) {
	const row = useRef<HTMLTableRowElement>(null);

	useEffect(() => {
		const observer = new ResizeObserver(() => row.current && onHeight(row.current.offsetHeight));

		observer.observe(row.current!);
		return () => observer.disconnect();
	}, []);
	return <tr class="detail-row" ref={row}><td colSpan={span}>
		<div class="detail" style={width ? { width: `${width}px` } : undefined} role="region" aria-label={`Details of ${name}`}>
			<button type="button" class="close no-print" aria-label="Close the details" onClick={onClose}>&times;</button>
			{children}
		</div>
	</td></tr>;
}

function ariaSort(order: Order, column: number): "ascending" | "descending" | undefined {
	return order.column !== column ? undefined : order.isDown ? "descending" : "ascending";
}

function Heads<R>({ columns, rows, order, onSort }:
	{ columns: Column<R>[]; rows: R[]; order: Order; onSort: (column: number) => void }) {
	const isPrinted = useIsPrinting();	// on further pages Chromium prints heads again, but no buttons in them

	return <thead><tr>
		{columns.map((column, i) => <th key={i} scope="col" aria-sort={ariaSort(order, i)}
			class={`${isNumber(column, rows) ? "number" : ""} ${column.isWide ? "wide" : ""}`}>
			{isPrinted ? column.title : <button type="button" onClick={() => onSort(i)}>{column.title}
				<span class="arrow" aria-hidden="true">{order.column !== i ? "" : order.isDown ? "\u25be" : "\u25b4"}</span>
			</button>}
		</th>)}
	</tr></thead>;
}

function CellOf<R>({ column, row, isNumeric, onOpen, isOpen }:
	{ column: Column<R>; row: R; isNumeric: boolean; onOpen?: () => void; isOpen: boolean }) {
	const value = column.value(row);
	const text = column.show ? column.show(row) : value === null ? "" : String(value);
	const tip = column.tip?.(row) ?? (isNumeric && column.unit ? `${count(value as number)} ${column.unit}` : text);

	return <td class={`${isNumeric ? "number" : ""} ${column.isWide ? "wide" : ""}`} data-tip={tip || undefined}>
		{onOpen ? <button type="button" class="open" aria-expanded={isOpen} onClick={onOpen}>{text || "\u2013"}</button> : text}
	</td>;
}

export function Table<R>(props: TableProps<R>) {
	return props.rows.length ? <FullTable {...props} /> : <p class="muted">No {props.name}.</p>;
}

function FullTable<R>(props: TableProps<R>) {
	const { name, columns, rows, detail } = props;
	const [order, setOrder] = useState<Order>({ column: props.sort ?? -1, isDown: true });
	const [words, setWords] = useState("");
	const [open, setOpen] = useState<R | null>(null);
	const haystack = useHaystack(props);
	const { ref: box, width } = useWidth<HTMLDivElement>();
	const [px, setPx] = useState(0);
	const numeric = useMemo(() => columns.map(column => isNumber(column, rows)), [columns, rows]);
	const all = useMemo(() => sorted(rows, columns[order.column], order.isDown), [rows, columns, order]);
	const found = useMemo(() => {
		const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
		if (!wanted.length)
			return all;
		const texts = haystack();
		return all.filter(row => wanted.every(word => texts.get(row)!.includes(word)));
	}, [all, words]);
	const view = useWindow(found.length, useIsPrinting());
	const widths = useMemo(() => columns.map(column => widthOf(column, rows)), [columns, rows]);
	const wanted = useWanted(name);
	const opened = useMemo(() => ({ at: open && detail ? found.indexOf(open) : -1, px }), [open, found, px]);
	const onSort = (column: number) => {
		setOrder({ column, isDown: order.column === column ? !order.isDown : numeric[column] });
		box.current!.scrollTop = 0;
	};
	const choose = (row: R) => {
		const next = row === open ? null : row;
		setOpen(next);
		props.onChoose?.(next);
	};
	const csv = () => {
		const copied = [...columns, ...props.copied ?? []];
		return {
			titles: copied.map(column => column.unit && isNumber(column, rows) ? `${column.title} (${column.unit})` : column.title),
			rows: found.map(row => copied.map(column => column.value(row) as Cell)),
		};
	};
	useEffect(() => {
		if (wanted && rows[wanted.rank - 1])
			setOpen(rows[wanted.rank - 1]);
	}, [wanted]);
	useEffect(() => {
		if (!wanted || !open || open !== rows[wanted.rank - 1])
			return;
		if (!view.isAll)
			box.current!.scrollTop = Math.max(0, found.indexOf(open) - 1) * ROW_PX;
		landOn(() => box.current?.querySelector("tr.is-open"), "center");
	}, [wanted, open]);
	const canOpen = Boolean(detail || props.onChoose);

	return <div class="table">
		<div class="tools">
			<input type="search" class="no-print" placeholder={`Search ${name}`} aria-label={`Search ${name}`} value={words}
				onInput={event => { setWords(event.currentTarget.value); box.current!.scrollTop = 0; }} />
			<span class="muted" role="status">{found.length === rows.length ? plural(rows.length, "row")
				: `${count(found.length)} of ${plural(rows.length, "row")}`}</span>
			<CopyCsv of={name} make={csv} />
		</div>
		<div class={`rows ${view.isAll ? "" : "is-virtual"}`} ref={box} tabIndex={0} role="region" aria-label={`Table of ${name}`}
			onScroll={event => view.setFirst(rowAt(event.currentTarget.scrollTop, opened))}>
			<table aria-rowcount={found.length + 1}>
				{!view.isAll && <colgroup>{widths.map((chars, i) => <col key={i} style={{ width: `min(${chars}ch, ${NARROW_SHARE}vw)` }} />)}</colgroup>}
				<Heads columns={columns} rows={rows} order={order} onSort={onSort} />
				<tbody>
					<Spacer from={0} to={view.from} opened={opened} span={columns.length} />
					{found.slice(view.from, view.to).map((row, i) => <Fragment key={view.from + i}>
						<tr aria-rowindex={view.from + i + 2} class={row === open ? "is-open" : ""}>
							{columns.map((column, c) => <CellOf key={c} column={column} row={row} isNumeric={numeric[c]}
								isOpen={row === open} onOpen={canOpen && !c ? () => choose(row) : undefined} />)}
						</tr>
						{row === open && detail && <DetailRow name={name} span={columns.length} width={width} onHeight={setPx} onClose={() => choose(row)}>
							{detail(row)}</DetailRow>}
					</Fragment>)}
					{!view.isAll && <Spacer from={view.to} to={found.length} opened={opened} span={columns.length} />}
				</tbody>
			</table>
		</div>
		{view.isAll && view.to < found.length && <p class="muted">The first {count(view.to)} rows are printed.</p>}
	</div>;
}
