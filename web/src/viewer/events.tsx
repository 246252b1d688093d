// SPDX-License-Identifier: GPL-2.0-or-later
// Events of the trace, its activities, waits, spans and samples, a row each: of any number of them only those in view are in the page.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Cell, csvText } from "../csv";
import { count, plural, visible } from "../format";
import { Choices, Section } from "../page";
import { useRange } from "../range";
import { stateTitle } from "../states";
import { wantedOf } from "./event_filters";
import { EventRows } from "./event_rows";
import { titleOf } from "./lanes";
import { OnlySpan } from "./only_span";
import { type Column, filtersOf, length, type RowKind, rowKinds, time, WHOLE_WAITS } from "./row_kinds";
import { download, fileName } from "./save";
import { lastTop, type ScrollMap, scrollable, scrollOf, topOf } from "./scroll_map";
import type { Session } from "./session";
import { useStored } from "./store";
import type { EventRow } from "./trace";

const ROW_PX = 24, HEAD_PX = 62, CONTEXT_ROWS = 3, REST_MS = 150, GROWN_MS = 2500, SAVED_MAX = 20000;

/** The rows that match, anew when what is wanted is something else. */
function useRows(session: Session, kind: RowKind) {
	const filters = useStored(session.store, state => state.filters), isWithin = useStored(session.store, state => state.isOfSelection);
	const boxed = useStored(session.store, state => state.boxed), longestFirst = useStored(session.store, state => state.longestFirst);
	const script = useStored(session.store, state => state.scriptRun?.id ?? null), selection = useRange(), [version, again] = useState(0);
	const chosen = wantedOf(kind, session.trace, filters, isWithin ? selection : null, isWithin && boxed.length ? session.boxedThreads : []);
	const wanted = { ...chosen, script: kind.hasScripts ? script : null, "longest-first": kind.columns.includes(length) && longestFirst ? 1 : null };
	const key = kind.path + JSON.stringify(wanted);
	const rows = useMemo(() => new EventRows(session, kind.path, wanted, () => again(n => n + 1)), [session, key]);

	useEffect(() => () => rows.stop(), [rows]);
	useEffect(() => session.server.onConnection(() => session.server.connection === "there" && rows.again()), [rows]);
	useEffect(() => {
		const timer = setInterval(() => session.trace.is_live && rows.grown(), GROWN_MS);

		return () => clearInterval(timer);
	}, [session, rows]);
	return { rows, version };
}

/** How far the list is: the bar, the wheel, fingers and keys all lead to a row. */
function useScroll(session: Session, rows: EventRows) {
	const box = useRef<HTMLDivElement>(null), [height, setHeight] = useState(0), [part, setPart] = useState(0);
	const row = useStored(session.store, state => state.row);
	const map: ScrollMap = { rows: rows.rows, row_px: ROW_PX, seen: Math.max(1, (height - HEAD_PX) / ROW_PX) };
	const latest = useRef({ map, top: row });
	const goTo = (top: number) => {
		const next = Math.max(0, Math.min(latest.current.map.rows ? lastTop(latest.current.map) : top, top));
		latest.current.top = next;
		setPart(next % 1);
		if (Math.floor(next) !== session.store.state.row)
			session.store.set({ row: Math.floor(next) });
	};
	const goBy = (rows: number) => goTo(latest.current.top + rows);

	latest.current.map = map;
	if (Math.floor(latest.current.top) !== row)
		latest.current.top = row;
	useLayoutEffect(() => {
		const element = box.current!, observer = new ResizeObserver(() => setHeight(element.clientHeight));
		const onWheel = (event: WheelEvent) => {
			const down = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? ROW_PX : 1), { top, map } = latest.current;
			if (event.shiftKey || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY) || (down < 0 ? top <= 0 : top >= lastTop(map)))
				return;
			event.preventDefault();
			goBy(down / ROW_PX);
		};
		const onScroll = () => {
			if (Math.abs(element.scrollTop - scrollOf(latest.current.map, latest.current.top)) > 1.5)	// it was the user
				goTo(topOf(latest.current.map, element.scrollTop));
		};
		observer.observe(element);
		element.addEventListener("wheel", onWheel, { passive: false });
		element.addEventListener("scroll", onScroll, { passive: true });
		return () => {
			observer.disconnect();
			element.removeEventListener("wheel", onWheel);
			element.removeEventListener("scroll", onScroll);
		};
	}, []);
	useLayoutEffect(() => {
		if (rows.isKnown)
			box.current!.scrollTop = scrollOf(map, latest.current.top);
	}, [row, part, map.rows, height]);
	return { box, map, top: latest.current.top, goTo, goBy };
}

/** Fingers move rows as pixels, however many rows there are. */
function useFinger(box: { current: HTMLDivElement | null }, goBy: (rows: number) => void): void {
	useEffect(() => {
		const element = box.current!;
		let y: number | null = null;
		const start = (event: TouchEvent) => { y = event.touches.length === 1 ? event.touches[0].clientY : null; };
		const move = (event: TouchEvent) => {
			if (y === null)
				return;
			goBy((y - event.touches[0].clientY) / ROW_PX);
			y = event.touches[0].clientY;
		};
		element.addEventListener("touchstart", start, { passive: true });
		element.addEventListener("touchmove", move, { passive: true });
		return () => {
			element.removeEventListener("touchstart", start);
			element.removeEventListener("touchmove", move);
		};
	}, []);
}

/** The row that is chosen: where the graph's cursor is, or what was clicked. */
function useChosen(session: Session, rows: EventRows, goTo: (top: number) => void, isShown: (row: number) => boolean) {
	const [chosen, choose] = useState<number | null>(null), cursor_ns = useStored(session.store, state => state.cursor_ns);
	const own = useRef<number | null>(null);
	const take = (row: number) => {
		const event = rows.get(row);
		choose(row);
		if (!isShown(row))
			goTo(row - CONTEXT_ROWS);
		if (event) {
			own.current = event.time_ns;
			const lane = session.tree.laneOfThread.get(event.thread) ?? null;
			session.goTo(event.time_ns, lane);
			if ((event.share || session.store.state.list === "spans") && lane !== null)
				session.store.set({ slice: { lane, time_ns: event.time_ns } });
		}
	};

	useEffect(() => {
		let isOver = false;
		if (cursor_ns === null || cursor_ns === own.current) {
			if (cursor_ns === null)
				choose(null);
			return;
		}
		const timer = setTimeout(() => rows.at(cursor_ns).then(row => {
			if (isOver)
				return;
			choose(row);
			if (!isShown(row))
				goTo(row - CONTEXT_ROWS);
		}, () => {}), REST_MS);
		return () => {
			isOver = true;
			clearTimeout(timer);
		};
	}, [cursor_ns, rows]);
	return { chosen, take };
}

/** What a column is called; by length and by time, rows can be in order. */
function HeadCell({ session, column, canOrder }: { session: Session; column: Column; canOrder: boolean }) {
	const longestFirst = useStored(session.store, state => state.longestFirst), isLength = column === length;
	const isOrder = canOrder && (isLength || column === time), isChosen = isOrder && isLength === longestFirst;

	return <th scope="col" class={`is-${column.name}`} aria-sort={isChosen ? isLength ? "descending" : "ascending" : undefined}>
		{isOrder ? <button type="button" data-tip={isLength ? "The longest first" : "In the order of time"} onKeyDown={event => event.stopPropagation()}
			onClick={() => session.store.set({ longestFirst: isLength, row: 0 })}>{column.title}{isChosen && <span aria-hidden="true"> {isLength ? "\u25be" : "\u25b4"}</span>}</button>
			: column.title}</th>;
}

function FilterCell({ session, column }: { session: Session; column: Column }) {
	const filters = useStored(session.store, state => state.filters), { filter } = column;

	return <td>{filter && <input type="search" class="filter" value={filters[filter] ?? ""} placeholder={column.hint} aria-label={`Filter by ${column.title}`}
		onInput={event => session.store.set({ filters: { ...session.store.state.filters, [filter]: event.currentTarget.value }, row: 0 })}
		onKeyDown={event => event.stopPropagation()} />}</td>;
}

function RowOf({ session, event, row, shown, isChosen, onTake }:
	{ session: Session; event: EventRow | undefined; row: number; shown: Column[]; isChosen: boolean; onTake: () => void }) {
	const lane = event && session.tree.laneOfThread.get(event.thread);

	return <tr id={`event-${row}`} aria-rowindex={row + 2} aria-selected={isChosen} class={isChosen ? "is-open" : ""} onClick={onTake}>
		{event ? shown.map(column => <td key={column.title} class={`is-${column.name}`} data-tip={column.name === "arguments" || column.name === "event"
			? [event.event ?? event.name ?? stateTitle(event.share ?? ""), event.text].map(visible).join("\n") : column.name === "thread" && lane !== undefined ? `Show ${titleOf(session.trace.lanes[lane])} in the graph` : undefined}>
			{column.show(event, session)}</td>) : <td colSpan={shown.length} class="muted">{"\u2026"}</td>}
	</tr>;
}

/** The rows of the list, from the first one on, as a file. */
function SaveList({ session, kind, rows }: { session: Session; kind: RowKind; rows: EventRows }) {
	const [said, say] = useState("");
	const save = async () => {
		say("Asking\u2026");
		try {
			const all = await rows.first(SAVED_MAX), others = kind.columns.filter(column => column.name !== "time");
			download(fileName(session, `${kind.name}.csv`), new Blob([csvText({ titles: ["row", "time_ns", "end_ns", ...others.map(column => column.title)],
				rows: all.map((row): Cell[] => [row.row + 1, row.time_ns, row.end_ns, ...others.map(column => column.show(row, session))]) })], { type: "text/csv" }));
			say(all.length === SAVED_MAX ? `only the first ${count(SAVED_MAX)} rows are saved` : "");
		} catch (error) {
			say(`It cannot be saved: ${error instanceof Error ? error.message : error}`);
		}
	};

	return <><button type="button" data-tip={`The rows of the list as a file, at most ${count(SAVED_MAX)}`} onClick={save}>Save as CSV</button>
		{said && <span class="muted">{said}</span>}</>;
}

/** The bar of tools: how many, of what time, and a row to go to. */
function Tools({ session, kind, rows, goTo }: { session: Session; kind: RowKind; rows: EventRows; goTo: (row: number) => void }) {
	const isWithin = useStored(session.store, state => state.isOfSelection), filters = useStored(session.store, state => state.filters);
	const selection = useRange(), hasFilters = filtersOf(kind).some(name => filters[name]);
	const boxed = useStored(session.store, state => state.boxed);

	return <div class="tools">
		<span class="muted" role="status">{rows.error ? `The list cannot be read: ${rows.error}` : !rows.isKnown ? "Asking\u2026"
			: `${rows.isCounted ? "" : "at least "}${plural(rows.rows, kind.one, kind.many)}${hasFilters ? " with this filter" : ""}${isWithin && selection ? ` in the selected time${boxed.length ? " and lanes" : ""}` : ""}${
				rows.leftOut ? `; ${plural(rows.leftOut, "more one", "more")} are not listed: choose fewer by a filter or a time` : ""}`}</span>
		<button type="button" aria-pressed={isWithin} disabled={!selection && !isWithin} onClick={() => session.store.set({ isOfSelection: !isWithin, row: 0 })}>
			In the selected time</button>
		<button type="button" disabled={!hasFilters} onClick={() => session.store.set({ filters: {}, row: 0 })}>No filter</button>
		<SaveList session={session} kind={kind} rows={rows} />
		<label class="go">row <input type="number" min={1} max={Math.max(1, rows.rows)} aria-label="Go to row"
			onChange={event => event.currentTarget.value && goTo(Number(event.currentTarget.value) - 1)} /></label>
	</div>;
}

function List({ session, kind }: { session: Session; kind: RowKind }) {
	const { rows } = useRows(session, kind), { box, map, top, goTo, goBy } = useScroll(session, rows);
	const first = Math.floor(top), last = Math.min(map.rows, Math.ceil(top + map.seen) + 1) - 1;
	const { chosen, take } = useChosen(session, rows, goTo, row => row >= top && row + 1 <= top + map.seen);
	const shown = kind.columns.filter(column => column.name !== "host" || session.trace.lanes.filter(lane => lane.kind === "host").length > 1), page = Math.max(1, Math.floor(map.seen) - 1);
	const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
	const onKey = (event: KeyboardEvent) => {
		const by = steps[event.key];
		if (by === undefined || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		const next = Math.max(0, Math.min(map.rows - 1, (chosen ?? first - 1) + by));
		if (rows.get(next))
			take(next);
		else
			goTo(next - CONTEXT_ROWS);
	};

	useFinger(box, goBy);
	useEffect(() => rows.want(first, Math.max(last, first)));
	return <>
		<Tools session={session} kind={kind} rows={rows} goTo={row => goTo(row)} />
		{kind.name === "spans" && <OnlySpan session={session} row={chosen === null ? undefined : rows.get(chosen)} />}
		<div class="event-box" ref={box}>
			<div class="event-stage">
				<table role="grid" tabIndex={0} aria-label={kind.title} aria-rowcount={rows.isCounted ? map.rows + 1 : -1} onKeyDown={onKey}
					aria-activedescendant={chosen !== null && chosen >= first && chosen <= last ? `event-${chosen}` : undefined}>
					<thead>
						<tr>{shown.map(column => <HeadCell key={column.title} session={session} column={column} canOrder={kind.columns.includes(length)} />)}</tr>
						<tr class="filters">{shown.map(column => <FilterCell key={column.title} session={session} column={column} />)}</tr>
					</thead>
					<tbody style={{ transform: `translateY(${-(top % 1) * ROW_PX}px)` }}>
						{Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => <RowOf key={first + i} session={session} event={rows.get(first + i)} row={first + i}
							shown={shown} isChosen={first + i === chosen} onTake={() => take(first + i)} />)}
					</tbody>
				</table>
			</div>
			<div style={{ height: `${scrollable(map)}px` }} />
		</div>
		{rows.isKnown && <p class="muted range">{map.rows ? `Rows ${count(first + 1)} to ${count(Math.min(map.rows, Math.floor(top + map.seen)))}` : `No ${kind.one}.`}</p>}
	</>;
}

export function EventList({ session }: { session: Session }) {
	const list = useStored(session.store, state => state.list), kind = rowKinds.find(one => one.name === list)!;
	const filters = useStored(session.store, state => state.filters);

	return <Section id="events" title={kind.title} isHeavy about={kind.name === "waits" && filters.span?.trim() ? `${kind.about} ${WHOLE_WAITS}` : kind.about}
		tools={<Choices label="List" of={rowKinds} chosen={list} onChoose={name => session.store.set({ list: name, row: 0 })} />}>
		<List key={list} session={session} kind={kind} />
	</Section>;
}
